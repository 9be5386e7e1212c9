import {
	type FieldSource,
	keyFields,
	type Mapping,
	type Model,
	type ObjectType,
} from "../types.ts";

/**
 * The model as `schema print` shows it: the source of each field, what reads it,
 * its shard, and what a write of it also writes. Reviewers read the diff of
 * test/golden/model.txt.
 */
export function printModel(model: Model): string {
	const blocks = [
		...[...model.objects.values()]
			.toSorted((a, b) => a.number - b.number)
			.map((object) => printObject(model, object)),
		...ROOTS.filter((name) => model.sources.has(name)).map((name) =>
			printRoot(model, name),
		),
		printLookups(model),
		printParts(model),
	];
	return `${blocks.join("\n\n")}\n`;
}

/** What `schema print --json` prints: the cells of the tables. */
interface ModelDescription {
	readonly types: readonly {
		readonly name: string;
		/** Null for Query and Mutation. */
		readonly number: number | null;
		readonly table: string | null;
		readonly fields: readonly Readonly<Record<string, string>>[];
	}[];
	readonly lookups: readonly Readonly<Record<string, string>>[];
	readonly otherTypes: readonly {
		readonly name: string;
		readonly partOf: string;
		readonly fields: readonly string[];
	}[];
}

export function describeModel(model: Model): ModelDescription {
	const objects = [...model.objects.values()].toSorted(
		(a, b) => a.number - b.number,
	);
	const described = (name: string, object: ObjectType | null) => ({
		name,
		number: object?.number ?? null,
		table: object?.table ?? null,
		fields: fieldRows(model, name, object).map((row) => record(HEADER, row)),
	});
	return {
		types: [
			...objects.map((object) => described(object.name, object)),
			...ROOTS.filter((name) => model.sources.has(name)).map((name) =>
				described(name, null),
			),
		],
		lookups: lookupRows(model).map((row) =>
			record(["lookup", "findsBy", "key", "compared"], row),
		),
		otherTypes: partRows(model).map(
			([name = "", partOf = "", fields = ""]) => ({
				name,
				partOf,
				fields: fields.split(" "),
			}),
		),
	};
}

const ROOTS = ["Query", "Mutation"];

function record(keys: Row, row: Row): Readonly<Record<string, string>> {
	return Object.fromEntries(keys.map((key, index) => [key, row[index] ?? ""]));
}

type Row = readonly string[];

const HEADER: Row = ["field", "source", "table", "loader", "shard", "writes"];
const NOTHING = "-";

function printObject(model: Model, object: ObjectType): string {
	const rows = fieldRows(model, object.name, object);
	return [
		`type ${object.name}: number ${object.number}, rows in ${object.table}, each on the shard in its id`,
		...table([HEADER, ...rows]),
	].join("\n");
}

function printRoot(model: Model, name: string): string {
	return [
		`type ${name}: where operations start`,
		...table([HEADER, ...fieldRows(model, name, null)]),
	].join("\n");
}

function fieldRows(
	model: Model,
	type: string,
	object: ObjectType | null,
): readonly Row[] {
	return [...(model.sources.get(type) ?? [])].map(([field, source]) => [
		field,
		...columnsOf(model, object, field, source),
	]);
}

function columnsOf(
	model: Model,
	object: ObjectType | null,
	field: string,
	source: FieldSource,
): Row {
	const own = object?.table ?? NOTHING;
	const lookups = (object?.lookups ?? []).filter(({ parts }) =>
		parts.some((part) => part.field === field),
	);
	const lookupWrites = lookups.map(
		({ name }) => `lookup ${name} on its mod shard`,
	);
	switch (source.kind) {
		case "id":
			return ["its id", own, NOTHING, "its own", NOTHING];
		case "stored":
			return [
				`stored ${source.key}${source.default === null ? "" : ` = ${JSON.stringify(source.default)}`}`,
				own,
				"objects",
				"its own",
				["row", ...lookupWrites, ...orderedWrites(object, field)].join("; "),
			];
		case "reference":
			return [
				`reference ${source.key} to ${source.target}`,
				model.objects.get(source.target)?.table ?? NOTHING,
				"objects",
				`of the ${source.target}`,
				["row", ...derivedWrites(object, field), ...lookupWrites].join("; "),
			];
		case "mapping": {
			const mapping = model.mappings.get(source.mapping);
			return mapping === undefined
				? [NOTHING, NOTHING, NOTHING, NOTHING, NOTHING]
				: mappingColumns(model, mapping);
		}
		case "resolver": {
			const kept =
				object && keyFields(object).find((one) => one.field === field);
			return kept
				? [
						`resolver, stored ${kept.key}`,
						own,
						"resolver",
						"its own",
						["row", ...lookupWrites].join("; "),
					]
				: ["resolver", NOTHING, "resolver", NOTHING, NOTHING];
		}
		default:
			return [source.kind, NOTHING, NOTHING, NOTHING, NOTHING];
	}
}

/** The derived lists that a change of a reference also writes. */
function derivedWrites(
	object: ObjectType | null,
	field: string,
): readonly string[] {
	return (object?.derivedMappings ?? [])
		.filter(
			({ inverse }) => inverse?.kind === "reference" && inverse.field === field,
		)
		.map(
			({ name, from, table }) =>
				`${name}: edge and list row in ${table} on the shard of the ${from}`,
		);
}

/** The lists in which an object moves with a field. */
function orderedWrites(
	object: ObjectType | null,
	field: string,
): readonly string[] {
	return (object?.derivedMappings ?? [])
		.filter(({ orderedBy }) => orderedBy?.field === field)
		.map(
			({ name, from, table }) =>
				`${name}: edge in ${table} on the shard of the ${from}`,
		);
}

function mappingColumns(model: Model, mapping: Mapping): Row {
	const {
		name,
		table,
		from,
		prefixKeys,
		to,
		order,
		inverse,
		groupedBy,
		orderedBy,
		place,
	} = mapping;
	const ordered = orderedBy
		? `by ${orderedBy.field}, ${ORDERS[order]}`
		: ORDERS[order];
	return [
		`mapping ${name} to ${to}, ${groupedBy ? `grouped by ${groupedBy.field}` : ordered}`,
		table,
		groupedBy ? "groups" : "pages",
		prefixKeys !== null
			? "the mod shard of the prefix"
			: from === null
				? "0"
				: place === "FEEDS"
					? "its own, feed database"
					: "its own",
		inverse === null
			? prefixKeys === null
				? "edge and list row"
				: `derived from ${prefixKeys.map((key) => `${to}.${key}`).join(" and ")}`
			: inverse.kind === "reference"
				? `derived from ${to}.${inverse.field}`
				: inverse.kind === "source"
					? `inverse of ${inverse.mapping}`
					: `edge and list row; ${inverse.mapping}: edge and list row in ${model.mappings.get(inverse.mapping)?.table} on the shard of the ${to}`,
	];
}

const ORDERS: Readonly<Record<Mapping["order"], string>> = {
	NEWEST_FIRST: "newest first",
	OLDEST_FIRST: "oldest first",
	POSITION: "by position",
	LOWEST_FIRST: "lowest first",
	HIGHEST_FIRST: "highest first",
};

function printLookups(model: Model): string {
	return [
		"lookups: each key on the mod shard md5(key) mod their number",
		...table([["lookup", "finds by", "key", "compared"], ...lookupRows(model)]),
	].join("\n");
}

function lookupRows(model: Model): readonly Row[] {
	return [...model.lookups.values()].map(({ name, type, parts, fold }) => [
		name,
		`${type}.${parts.map(({ field }) => field).join(" + ")}`,
		parts.map(({ key }) => key).join(" "),
		fold === "CASE" ? "without regard to case" : "as it is",
	]);
}

/** Types that are not objects: their values are parts of their parents'. */
function printParts(model: Model): string {
	return [
		"other types",
		...table([["type", "part of a", "fields"], ...partRows(model)]),
	].join("\n");
}

function partRows(model: Model): readonly Row[] {
	return [...model.sources]
		.filter(([name]) => !model.objects.has(name) && !ROOTS.includes(name))
		.map(([name, sources]): Row => {
			const kind = sources.values().next().value?.kind;
			const from = kind === "page" || kind === "edge" ? kind : "parent's value";
			return [name, from, [...sources.keys()].join(" ")];
		});
}

/** Rows in columns, each as wide as its widest cell. */
function table(rows: readonly Row[]): readonly string[] {
	const widths: number[] = [];
	for (const row of rows) {
		for (const [index, cell] of row.entries()) {
			widths[index] = Math.max(widths[index] ?? 0, cell.length);
		}
	}
	return rows.map((row) =>
		`  ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  ")}`.trimEnd(),
	);
}
