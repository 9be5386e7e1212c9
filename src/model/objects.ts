import {
	type GraphQLOutputType,
	getNamedType,
	isAbstractType,
	isNonNullType,
	isObjectType,
} from "graphql";
import type { JsonValue } from "../util/json.ts";
import type { PageTypes } from "./connections.ts";
import type { DeclaredField, DeclaredType } from "./directives.ts";
import type { Names } from "./names.ts";
import type { Problems } from "./problems.ts";
import { isTextScalar, typeProblem } from "./typeChecks.ts";
import type { Lookup, ObjectType, Reference, StoredField } from "./types.ts";

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
	{ name, object, fields }: DeclaredType,
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
	const lookups: Lookup[] = [];
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
			lookups.push({
				...field.lookup.values,
				type: name,
				field: field.name,
				key: key ?? field.name,
			});
		}
	}
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
	} else if (!/^String!?$/.test(String(field.type))) {
		problems.add(
			lookup?.node,
			`${path} has @lookup, so it must be String or String!, got ${field.type}`,
		);
	}
}
