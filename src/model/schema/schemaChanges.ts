import {
	BreakingChangeType,
	DangerousChangeType,
	findBreakingChanges,
	findDangerousChanges,
	type GraphQLField,
	type GraphQLNamedType,
	type GraphQLSchema,
	getNamedType,
	isEnumType,
	isInputObjectType,
	isInterfaceType,
	isIntrospectionType,
	isObjectType,
} from "graphql";

export interface SchemaChange {
	/**
	 * - `breaking`: requests that use one of `affects` may fail, or be refused.
	 * - `dangerous`: they may get what they do not expect.
	 * - `safe`: nobody notices.
	 */
	readonly kind: "breaking" | "dangerous" | "safe";
	/** As graphql-js names it; of safe changes `TYPE_ADDED`, `FIELD_ADDED` or `FIELD_DEPRECATED`. */
	readonly type: string;
	/** A sentence. */
	readonly description: string;
	/** Schema coordinates of the old schema. A client that uses none of them is not affected. */
	readonly affects: readonly string[];
}

/** Everything between two schemas that a client could notice, by graphql-js, and what was added or deprecated. */
export function schemaChanges(
	old: GraphQLSchema,
	next: GraphQLSchema,
): readonly SchemaChange[] {
	const found = (
		kind: "breaking" | "dangerous",
		changes: readonly { type: string; description: string }[],
	) =>
		changes.map(({ type, description }) => ({
			kind,
			type,
			description,
			affects: affectedBy(old, type, description),
		}));
	return [
		...found("breaking", findBreakingChanges(old, next)),
		...found("dangerous", findDangerousChanges(old, next)),
		...safeChanges(old, next),
	];
}

/**
 * graphql-js gives a sentence and no coordinate, so the names are read from the
 * sentence. test/model/schemaChanges.test.ts makes each of its changes.
 */
const PATTERNS: Readonly<
	Record<string, readonly [RegExp, (...names: string[]) => readonly Affected[]]>
> = {
	[BreakingChangeType.TYPE_REMOVED]: [
		/^(?:Standard scalar )?(\w+) was removed/,
		(type = "") => [{ type }],
	],
	[BreakingChangeType.TYPE_CHANGED_KIND]: [
		/^(\w+) changed from /,
		(type = "") => [{ type }],
	],
	[BreakingChangeType.TYPE_REMOVED_FROM_UNION]: [
		/^(\w+) was removed from union type (\w+)\./,
		(type = "") => [{ type }],
	],
	[BreakingChangeType.VALUE_REMOVED_FROM_ENUM]: [
		/^(\w+) was removed from enum type (\w+)\./,
		(value, type) => [`${type}`, `${type}.${value}`],
	],
	[BreakingChangeType.REQUIRED_INPUT_FIELD_ADDED]: [
		/^A required field \w+ on input type (\w+) was added\./,
		(type) => [`${type}`],
	],
	[BreakingChangeType.IMPLEMENTED_INTERFACE_REMOVED]: [
		/^(\w+) no longer implements interface (\w+)\./,
		(type, of) => [`${type}`, `${of}`],
	],
	[BreakingChangeType.FIELD_REMOVED]: [/^(\w+)\.(\w+) was removed\./, ofField],
	[BreakingChangeType.FIELD_CHANGED_KIND]: [
		/^(\w+)\.(\w+) changed type from /,
		ofField,
	],
	[BreakingChangeType.REQUIRED_ARG_ADDED]: [
		/^A required arg \w+ on (\w+)\.(\w+) was added\./,
		ofField,
	],
	[BreakingChangeType.ARG_REMOVED]: [
		/^(\w+)\.(\w+) arg (\w+) was removed\./,
		ofArgument,
	],
	[BreakingChangeType.ARG_CHANGED_KIND]: [
		/^(\w+)\.(\w+) arg (\w+) has changed type from /,
		ofArgument,
	],
	[BreakingChangeType.DIRECTIVE_REMOVED]: [
		/^(\w+) was removed\./,
		(name) => [`@${name}`],
	],
	[BreakingChangeType.DIRECTIVE_ARG_REMOVED]: [
		/^\w+ was removed from (\w+)\./,
		(name) => [`@${name}`],
	],
	[BreakingChangeType.REQUIRED_DIRECTIVE_ARG_ADDED]: [
		/^A required arg \w+ on directive (\w+) was added\./,
		(name) => [`@${name}`],
	],
	[BreakingChangeType.DIRECTIVE_REPEATABLE_REMOVED]: [
		/^Repeatable flag was removed from (\w+)\./,
		(name) => [`@${name}`],
	],
	[BreakingChangeType.DIRECTIVE_LOCATION_REMOVED]: [
		/^\w+ was removed from (\w+)\./,
		(name) => [`@${name}`],
	],
	[DangerousChangeType.VALUE_ADDED_TO_ENUM]: [
		/^\w+ was added to enum type (\w+)\./,
		(type = "") => [{ returned: type }],
	],
	[DangerousChangeType.TYPE_ADDED_TO_UNION]: [
		/^\w+ was added to union type (\w+)\./,
		(type = "") => [{ returned: type }],
	],
	[DangerousChangeType.IMPLEMENTED_INTERFACE_ADDED]: [
		/^(\w+) added to interfaces implemented by \w+\./,
		(type = "") => [{ returned: type }],
	],
	[DangerousChangeType.OPTIONAL_INPUT_FIELD_ADDED]: [
		/^An optional field \w+ on input type (\w+) was added\./,
		(type) => [`${type}`],
	],
	[DangerousChangeType.OPTIONAL_ARG_ADDED]: [
		/^An optional arg \w+ on (\w+)\.(\w+) was added\./,
		ofField,
	],
	[DangerousChangeType.ARG_DEFAULT_VALUE_CHANGE]: [
		/^(\w+)\.(\w+) arg (\w+) (?:defaultValue was removed|has changed defaultValue)/,
		ofField,
	],
};

/** A coordinate; or a type with everything on it; or all fields that return a type. */
type Affected =
	| string
	| { readonly type: string }
	| { readonly returned: string };

function ofField(type = "", field = ""): readonly Affected[] {
	return [`${type}.${field}`];
}

function ofArgument(type = "", field = "", argument = ""): readonly Affected[] {
	return [`${type}.${field}(${argument}:)`];
}

function affectedBy(
	schema: GraphQLSchema,
	type: string,
	description: string,
): readonly string[] {
	const [pattern, affected] = PATTERNS[type] ?? [];
	const names = pattern?.exec(description)?.slice(1);
	if (affected === undefined || names === undefined) {
		throw new TypeError(`expected a known change, got ${type}: ${description}`);
	}
	const coordinates = affected(...names).flatMap((one) => {
		if (typeof one === "string") return [one];
		if ("returned" in one) return fieldsReturning(schema, one.returned);
		return coordinatesOf(schema, one.type);
	});
	const [owner = ""] = names;
	// It may be in a variable, which counts as the use of its type.
	const isInputField =
		affected === ofField && isInputObjectType(schema.getType(owner));
	return isInputField ? [owner, ...coordinates] : coordinates;
}

function fieldsReturning(
	schema: GraphQLSchema,
	name: string,
): readonly string[] {
	return Object.values(schema.getTypeMap()).flatMap((type) =>
		outputFieldsOf(type)
			.filter((field) => getNamedType(field.type).name === name)
			.map((field) => `${type.name}.${field.name}`),
	);
}

/** A type's name, and those of all that is on it. */
function coordinatesOf(schema: GraphQLSchema, name: string): readonly string[] {
	const type = schema.getType(name);
	const names = isInputObjectType(type)
		? Object.keys(type.getFields())
		: isEnumType(type)
			? type.getValues().map((value) => value.name)
			: type
				? outputFieldsOf(type).map((field) => field.name)
				: [];
	return [name, ...names.map((field) => `${name}.${field}`)];
}

function outputFieldsOf(
	type: GraphQLNamedType,
): readonly GraphQLField<unknown, unknown>[] {
	return isObjectType(type) || isInterfaceType(type)
		? Object.values(type.getFields())
		: [];
}

function safeChanges(
	old: GraphQLSchema,
	next: GraphQLSchema,
): readonly SchemaChange[] {
	const safe = (type: string, description: string): SchemaChange => ({
		kind: "safe",
		type,
		description,
		affects: [],
	});
	return Object.values(next.getTypeMap()).flatMap((type) => {
		if (isIntrospectionType(type)) return [];
		const former = old.getType(type.name);
		if (former === undefined) {
			return [safe("TYPE_ADDED", `${type.name} was added.`)];
		}
		const before = new Map(
			outputFieldsOf(former).map((field) => [field.name, field]),
		);
		return outputFieldsOf(type).flatMap(({ name, deprecationReason }) => {
			const known = before.get(name);
			const coordinate = `${type.name}.${name}`;
			if (known === undefined) {
				return [safe("FIELD_ADDED", `${coordinate} was added.`)];
			}
			return deprecationReason != null && known.deprecationReason == null
				? [safe("FIELD_DEPRECATED", `${coordinate} was deprecated.`)]
				: [];
		});
	});
}
