import type { FieldReaders } from "../../model/fieldReaders.ts";
import {
	keyFields,
	type Mapping,
	type Model,
	type ObjectType,
} from "../../model/types.ts";
import { didYouMean } from "../../util/nearest.ts";
import {
	type Conversion,
	columnsOf,
	type EdgeMapping,
	keysOf,
	type Migration,
	type TypeMapping,
} from "./mapping.ts";
import type { Source } from "./sources/source.ts";

/** Where a mapping names a column: `fields.name`, and which one. */
type Use = readonly [use: string, column: string];

/** All that is wrong with a mapping: names that the schema or the old database does not have, and values of the wrong kind. Each is a sentence that begins with its place. */
export function mappingProblems(
	given: Migration,
	{ model, fields }: { readonly model: Model; readonly fields: FieldReaders },
	source: Pick<Source, "tables" | "shownUrl">,
): readonly string[] {
	const problems: string[] = [];
	const types = Object.entries(given.types ?? {});
	const edges = Object.entries(given.edges ?? {});
	for (const [name, mapping] of types) {
		if (mapping === undefined) continue;
		const type = model.objects.get(name);
		if (type === undefined) {
			problems.push(
				`types.${name}: the schema has no such type.${didYouMean(name, [...model.objects.keys()])}`,
			);
			continue;
		}
		problems.push(
			...fieldProblems(type, mapping, given, fields),
			...tableProblems(
				`types.${name}`,
				mapping.table,
				typeColumns(mapping),
				source,
			),
			...logProblems(`types.${name}`, mapping, keysOf(mapping.key), source),
		);
	}
	for (const [name, mapping] of edges) {
		if (mapping === undefined) continue;
		const edge = model.mappings.get(name);
		if (edge === undefined) {
			problems.push(
				`edges.${name}: the schema has no such mapping.${didYouMean(name, [...model.mappings.keys()])}`,
			);
			continue;
		}
		problems.push(
			...endProblems(edge, mapping),
			...tableProblems(
				`edges.${name}`,
				mapping.table,
				edgeColumns(mapping),
				source,
			),
			...logProblems(
				`edges.${name}`,
				mapping,
				[...columnsOf(mapping.from), ...columnsOf(mapping.to)],
				source,
			),
		);
	}
	if (types.length + edges.length === 0) {
		problems.push("it has no types and no edges");
	}
	return problems;
}

/** Fields that the type does not have, values that they cannot have, and fields that it needs. */
function fieldProblems(
	type: ObjectType,
	{ fields: given = {} }: TypeMapping,
	migration: Migration,
	readers: FieldReaders,
): readonly string[] {
	const { name, stored, references } = type;
	const known = [...stored, ...keyFields(type), ...references].map(
		({ field }) => field,
	);
	const wrong = Object.entries(given).flatMap(([field, value]) => {
		const at = `types.${name}.fields.${field}`;
		if (!known.includes(field)) {
			return [
				`${at}: ${name} has no such field to migrate.${didYouMean(field, known)}`,
			];
		}
		const problem = valueProblem(type, field, value, readers, migration);
		return problem === null ? [] : [`${at} ${problem}`];
	});
	const missing = stored.filter(
		({ field, required }) =>
			required &&
			given[field] === undefined &&
			readers.defaultFieldOf(name, field) === undefined,
	);
	return [
		...wrong,
		...missing.map(
			({ field }) =>
				`types.${name}.fields: ${name} needs ${field}: name its column, or give a function`,
		),
	];
}

/** What is wrong with the value of a field; null if it may be right. */
function valueProblem(
	type: ObjectType,
	field: string,
	value: unknown,
	readers: FieldReaders,
	{ types }: Migration,
): string | null {
	const reference = type.references.find((one) => one.field === field);
	const target = (value as Conversion | null)?.target;
	if (reference !== undefined) {
		if (target !== reference.target) {
			return `must be ref("${reference.target}", …)`;
		}
		return types[target] === undefined
			? `leads to ${target}, which the mapping has no table for`
			: null;
	}
	if (target !== undefined) return "is no reference: name its column";
	if (typeof value === "string") {
		return readers.typeNameOf(type.name, field) === "DateTime"
			? `is a DateTime: write utc("${value}"), or local("${value}", "Europe/Berlin") for a column without a zone`
			: null;
	}
	const isValue =
		typeof value === "function" ||
		typeof (value as Conversion | null)?.read === "function";
	return isValue
		? null
		: "must be the name of a column, a function, or utc(), ref() and the like";
}

/** Ends that are no references to the types of the edge. */
function endProblems(
	{ name, from, to }: Mapping,
	mapping: EdgeMapping,
): readonly string[] {
	return (
		[
			["from", from],
			["to", to],
		] as const
	).flatMap(([end, type]) => {
		const target = mapping[end]?.target;
		if (mapping[end]?.isOptional) {
			return [
				`edges.${name}.${end} cannot be null: leave out missing, and rows without it are refused`,
			];
		}
		return target === type
			? []
			: [
					`edges.${name}.${end} must be ref("${type}", …), got ${target === undefined ? "something else" : `a ${target}`}`,
				];
	});
}

/** A table, or columns of it, that the old database does not have. */
function tableProblems(
	at: string,
	table: string,
	columns: readonly Use[],
	{ tables, shownUrl }: Pick<Source, "tables" | "shownUrl">,
): readonly string[] {
	const known = tables.get(table);
	if (known === undefined) {
		return [
			`${at}: ${shownUrl} has no table ${table}, or this account may not read it.${didYouMean(table, [...tables.keys()])}`,
		];
	}
	// A file without rows names no columns.
	if (known.length === 0) return [];
	const names = known.map(({ name }) => name);
	return columns
		.filter(([, column]) => !names.includes(column))
		.map(
			([use, column]) =>
				`${at}.${use}: the table ${table} has no column ${column}.${didYouMean(column, names)}`,
		);
}

/** Tables and columns of a `log` that are not there, or do not name a row. */
function logProblems(
	at: string,
	{ log = {} }: TypeMapping | EdgeMapping,
	named: readonly string[],
	source: Pick<Source, "tables" | "shownUrl">,
): readonly string[] {
	return Object.entries(log).flatMap(([table, given]) => {
		const columns = keysOf(given);
		const uses = columns.map((column): Use => [`log.${table}`, column]);
		const wrong = tableProblems(at, table, uses, source);
		return wrong.length > 0 || columns.length === named.length
			? wrong
			: [
					`${at}.log.${table} must name the columns that hold ${named.join(", ")}`,
				];
	});
}

function typeColumns(mapping: TypeMapping): readonly Use[] {
	return [
		...commonColumns(mapping),
		...Object.entries(mapping.fields ?? {}).flatMap(([field, value]) =>
			columnsOf(value).map((column): Use => [`fields.${field}`, column]),
		),
	];
}

function edgeColumns(mapping: EdgeMapping): readonly Use[] {
	return [
		...commonColumns(mapping),
		...columnsOf(mapping.from).map((column): Use => ["from", column]),
		...columnsOf(mapping.to).map((column): Use => ["to", column]),
	];
}

function commonColumns({
	key,
	changed,
	deleted,
	at,
}: TypeMapping | EdgeMapping): readonly Use[] {
	return [
		...keysOf(key).map((column): Use => ["key", column]),
		...(changed === undefined ? [] : [["changed", changed] as const]),
		...(typeof deleted === "string" ? [["deleted", deleted] as const] : []),
		...columnsOf(at).map((column): Use => ["at", column]),
	];
}
