import {
	type GraphQLOutputType,
	getNamedType,
	getNullableType,
	isAbstractType,
	isLeafType,
	isNonNullType,
	isObjectType,
} from "graphql";
import type { JsonValue } from "../util/json.ts";
import { didYouMean } from "../util/nearest.ts";
import type { PageTypes } from "./connections.ts";
import type {
	DeclaredField,
	DeclaredLookup,
	DeclaredType,
	Directive,
} from "./directives.ts";
import type { Names } from "./names.ts";
import type { Problems } from "./problems.ts";
import { isTextScalar, typeProblem } from "./typeChecks.ts";
import type {
	KeyPart,
	Lookup,
	ObjectType,
	Reference,
	StoredField,
} from "./types.ts";

interface ObjectReading {
	readonly types: ReadonlyMap<string, DeclaredType>;
	/** Types that are used but not defined. */
	readonly unknown: ReadonlySet<string>;
	readonly pageTypes: PageTypes;
	readonly names: Names;
	readonly problems: Problems;
}

/** Reads a type that has rows: its number, its table and its stored fields. */
export function readObject(
	{ name, object, lookups: composed, fields }: DeclaredType,
	reading: ObjectReading,
): Omit<
	ObjectType,
	"mappings" | "derivedMappings" | "globalMappings" | "prefixMappings"
> {
	const { names } = reading;
	if (object?.values) {
		names.typeNumber(object.values.type, name, object.node);
		names.table(object.values.table, name, object.node);
	}
	const stored: StoredField[] = [];
	const references: Reference[] = [];
	const ownKeys: Lookup[] = [];
	for (const field of fields.values()) {
		const key = storedKey(field);
		const node = (field.stored ?? field.reference ?? field.lookup)?.node;
		if (key !== null && node) names.key(key, name, field.path, node);
		if (field.stored?.values && key !== null) {
			checkStored(field, reading);
			const fallback = field.stored.values.default ?? null;
			const typesByPath = new Map<string, string>();
			collectTypes(key, field.field.type, typesByPath, []);
			stored.push({
				field: field.name,
				key,
				default: fallback,
				nullable: !isNonNullType(field.field.type),
				required: fallback === "",
				typesByPath,
			});
		}
		if (field.reference?.values && key !== null) {
			checkReference(field, reading);
			const target = String(field.field.type);
			references.push({ field: field.name, key, target });
		}
		if (field.lookup?.values) {
			checkLookup(field, reading);
			names.lookup(field.lookup.values.name, field.path, field.lookup.node);
			const { name: lookup, fold } = field.lookup.values;
			const part = { field: field.name, key: key ?? field.name };
			ownKeys.push({
				name: lookup,
				type: name,
				parts: [{ ...part, default: null, isReference: false }],
				fold,
			});
		}
	}
	const lookups = [
		...ownKeys,
		...composed.flatMap((one) =>
			readComposed(name, one, { fields, stored, references }, reading),
		),
	];
	return {
		name,
		number: object?.values?.type ?? 0,
		table: object?.values?.table ?? "",
		stored,
		references,
		lookups,
	};
}

/** `enclosing` are the types on the way to this path: a type that contains itself is not descended into again. A scalar that is stored as text is a `String`: giving text a scalar of its own changes nothing that is stored. */
function collectTypes(
	path: string,
	type: GraphQLOutputType,
	typesByPath: Map<string, string>,
	enclosing: readonly string[],
): void {
	const named = getNamedType(type);
	const spelled = String(type).replaceAll("!", "");
	typesByPath.set(
		path,
		isTextScalar(named) ? spelled.replace(named.name, "String") : spelled,
	);
	if (!isObjectType(named) || enclosing.includes(named.name)) return;
	for (const field of Object.values(named.getFields())) {
		collectTypes(`${path}.${field.name}`, field.type, typesByPath, [
			...enclosing,
			named.name,
		]);
	}
}

/** The key of the stored JSON that holds a field; null for a field without one. */
export function storedKey({ name, stored, reference, lookup }: DeclaredField) {
	if (stored) return stored.values ? (stored.values.key ?? name) : null;
	if (reference) return reference.values?.key ?? null;
	return lookup ? name : null;
}

function checkStored(
	{ path, field, stored }: DeclaredField,
	{ types, unknown, pageTypes, problems }: ObjectReading,
): void {
	const named = getNamedType(field.type);
	if (unknown.has(named.name)) return;
	if (
		isAbstractType(named) ||
		pageTypes.has(named.name) ||
		(types.get(named.name)?.role ?? "plain") !== "plain"
	) {
		problems.add(
			stored?.node,
			`${path} has @stored, so it must be plain data, got ${field.type}`,
		);
		return;
	}
	const given: JsonValue | undefined = stored?.values?.default;
	if (given === undefined) {
		if (!isNonNullType(field.type)) return;
		problems.add(
			stored?.node,
			`${path} is non-null, so it must have a default for rows written before the field existed`,
		);
		return;
	}
	const problem = typeProblem(field.type, given);
	if (problem !== null) {
		problems.add(stored?.node, `the default of ${path} ${problem}`);
	}
}

function checkReference(
	{ path, field, reference }: DeclaredField,
	{ types, unknown, problems }: ObjectReading,
): void {
	const named = getNamedType(field.type).name;
	// checkNullable reports a non-null reference.
	const isSingle = named === String(field.type).replace(/!$/, "");
	if (unknown.has(named) || (isSingle && types.get(named)?.role === "object")) {
		return;
	}
	problems.add(
		reference?.node,
		`${path} has @reference, so its type must be a single type with @object, got ${field.type}`,
	);
}

function checkLookup(
	{ path, field, reference, mapping, lookup }: DeclaredField,
	{ unknown, problems }: ObjectReading,
): void {
	if (unknown.has(getNamedType(field.type).name)) return;
	if (reference !== null || mapping !== null) {
		problems.add(
			lookup?.node,
			`${path} has @lookup, so it must be @stored or have a resolver, got ${reference ? "@reference" : "@mapping"}`,
		);
	} else if (lookup?.values?.of) {
		problems.add(
			lookup.node,
			`${path} has @lookup with of: write a key of several fields on the type`,
		);
	} else if (!/^String!?$/.test(String(field.type))) {
		problems.add(
			lookup?.node,
			`${path} has @lookup, so it must be String or String!, got ${field.type}`,
		);
	}
}

/** A natural key of several fields: `@lookup` on a type. */
function readComposed(
	type: string,
	{ node, values }: Directive<DeclaredLookup>,
	{
		fields,
		stored,
		references,
	}: Pick<DeclaredType, "fields"> & Pick<ObjectType, "stored" | "references">,
	{ names, unknown, problems }: ObjectReading,
): readonly Lookup[] {
	if (values === null) return [];
	const { name, of, fold } = values;
	const path = `the lookup ${name} of ${type}`;
	names.lookup(name, type, node);
	const named = of ?? [];
	if (named.length < 2 || new Set(named).size < named.length) {
		problems.add(
			node,
			`${path} must name at least two different fields with of, got ${named.join(", ") || "none"}: a key of one field is @lookup on that field`,
		);
		return [];
	}
	const parts = named.flatMap((field): readonly KeyPart[] => {
		const declared = fields.get(field);
		if (declared === undefined) {
			problems.add(
				node,
				`${path} names ${field}, which ${type} does not have.${didYouMean(field, fields.keys())}`,
			);
			return [];
		}
		const reference = references.find((one) => one.field === field);
		if (reference !== undefined) {
			const { key } = reference;
			return [{ field, key, default: null, isReference: true }];
		}
		const own = stored.find((one) => one.field === field);
		const problem = partProblem(declared, own, unknown);
		if (problem !== null) {
			problems.add(node, `${path}: ${declared.path} ${problem}`);
		}
		if (own === undefined) return [];
		const { key, required } = own;
		// A row from before such a field has no value of its own.
		const fallback = required ? null : own.default;
		return [{ field, key, default: fallback, isReference: false }];
	});
	return parts.length < named.length ? [] : [{ name, type, parts, fold }];
}

/** Why a field that is no reference cannot be a part of a natural key; null if it can. */
function partProblem(
	{ field }: DeclaredField,
	stored: StoredField | undefined,
	unknown: ReadonlySet<string>,
): string | null {
	if (stored === undefined) {
		return "must be @stored or @reference to be a part of a key";
	}
	const type = getNullableType(field.type);
	if (unknown.has(getNamedType(type).name)) return null;
	if (!isLeafType(type) || type.name === "Float") {
		return `must be one text, whole number, Boolean or value of an enum to be a part of a key, got ${field.type}`;
	}
	return stored.nullable
		? `must be non-null to be a part of a key, got ${field.type}: two objects without a value would not be kept apart`
		: null;
}
