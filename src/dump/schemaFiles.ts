import {
	type GraphQLOutputType,
	type GraphQLSchema,
	getNullableType,
	isEnumType,
	isListType,
	isObjectType,
} from "graphql";
import { isByTime } from "../storage/order.ts";
import type { DatabaseManifest } from "./manifest.ts";
import type { PublicTable } from "./publicLines.ts";

/** A column as both databases have it: `text`, or a struct of columns. */
type Column =
	| { readonly kind: "text" | "time" | "boolean" | "int" | "float" }
	| { readonly kind: "list"; readonly of: Column }
	| { readonly kind: "struct"; readonly of: readonly NamedColumn[] };
type NamedColumn = readonly [name: string, column: Column];

/** Files beside a dump for analysis: its tables as DuckDB and Spark read them, by file name. */
export function schemaFiles(
	place: string,
	schema: GraphQLSchema,
	tables: readonly PublicTable[],
	databases: readonly DatabaseManifest[],
): ReadonlyMap<string, string> {
	const rows = new Map<string, number>();
	for (const { name, rows: some } of databases.flatMap(
		({ tables }) => tables,
	)) {
		rows.set(name, (rows.get(name) ?? 0) + some);
	}
	const described = tables.map((table) => ({
		table,
		name: tableName(table),
		columns: columnsOf(schema, table),
		isEmpty: (rows.get(table.name) ?? 0) === 0,
	}));
	return new Map([
		["schema.duckdb.sql", duckdb(described)],
		["schema.spark.sql", spark(described)],
	]);

	function duckdb(all: typeof described): string {
		const views = all.map(({ table, name, columns, isEmpty }) => {
			const typed = columns.map(
				([column, type]) => `'${column}': '${duckdbType(type)}'`,
			);
			// A glob that matches no file is an error.
			if (isEmpty) {
				const nulls = columns.map(
					([column, type]) => `NULL::${duckdbType(type)} AS "${column}"`,
				);
				return `CREATE OR REPLACE VIEW "${name}" AS SELECT ${[...nulls, "NULL::INTEGER AS shard"].join(", ")} WHERE FALSE;`;
			}
			return `CREATE OR REPLACE VIEW "${name}" AS SELECT * FROM read_json(\n\tgetvariable('dump') || '/${table.kind}=${table.name}/*/*.ndjson.zst',\n\tformat = 'newline_delimited', compression = 'zstd', hive_partitioning = true, hive_types = {'shard': INTEGER},\n\tcolumns = {${typed.join(", ")}});`;
		});
		return `${[
			"-- Tables of this dump for DuckDB. Where the dump is:",
			`SET VARIABLE dump = coalesce(getvariable('dump'), '${place.replace(/^file:/, "").replaceAll("'", "''")}');`,
			...views,
		].join("\n")}\n`;
	}

	function spark(all: typeof described): string {
		const statements = all
			.filter(({ isEmpty }) => !isEmpty)
			.map(({ table, name, columns }) => {
				const typed = [
					...columns.map(
						([column, type]) => `\`${column}\` ${sparkType(type)}`,
					),
					"shard INT",
				];
				return `CREATE TABLE IF NOT EXISTS ${name} (${typed.join(", ")})\nUSING json PARTITIONED BY (shard)\nLOCATION '${place.replaceAll("'", "\\'")}/${table.kind}=${table.name}';\nMSCK REPAIR TABLE ${name};`;
			});
		return `${["-- Tables of this dump for Spark SQL. Hadoop needs its native libraries to read zstd.", ...statements].join("\n")}\n`;
	}
}

/** `User` is `user`, the edges `likePin` are `like_pin`. */
export function tableName({ name }: Pick<PublicTable, "name">): string {
	return name
		.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`)
		.replaceAll(/[^A-Za-z0-9_]/g, "_")
		.toLowerCase();
}

function columnsOf(
	schema: GraphQLSchema,
	table: PublicTable,
): readonly NamedColumn[] {
	if (table.kind === "edge") {
		const { mapping } = table;
		const byTime = isByTime(mapping);
		return [
			["from", TEXT],
			["to", TEXT],
			byTime ? ["at", { kind: "time" }] : ["position", TEXT],
		];
	}
	const type = schema.getType(table.name);
	const fields = isObjectType(type) ? type.getFields() : {};
	return table.fields.map((field) => {
		const sdl = fields[field.name]?.type;
		return [
			field.name,
			field.type === "ID" || sdl === undefined ? TEXT : columnOf(sdl),
		];
	});
}

const TEXT: Column = { kind: "text" };
const KINDS: Readonly<Record<string, Column>> = {
	Int: { kind: "int" },
	Float: { kind: "float" },
	Boolean: { kind: "boolean" },
	DateTime: { kind: "time" },
};

function columnOf(given: GraphQLOutputType): Column {
	const type = getNullableType(given);
	if (isListType(type)) return { kind: "list", of: columnOf(type.ofType) };
	if (isEnumType(type)) return TEXT;
	if (isObjectType(type)) {
		return {
			kind: "struct",
			of: Object.values(type.getFields()).map((field) => [
				field.name,
				columnOf(field.type),
			]),
		};
	}
	return KINDS[String(type)] ?? TEXT;
}

function duckdbType(column: Column): string {
	if (column.kind === "list") return `${duckdbType(column.of)}[]`;
	if (column.kind === "struct") {
		return `STRUCT(${column.of.map(([name, type]) => `"${name}" ${duckdbType(type)}`).join(", ")})`;
	}
	return {
		text: "VARCHAR",
		time: "TIMESTAMP",
		boolean: "BOOLEAN",
		int: "INTEGER",
		float: "DOUBLE",
	}[column.kind];
}

function sparkType(column: Column): string {
	if (column.kind === "list") return `ARRAY<${sparkType(column.of)}>`;
	if (column.kind === "struct") {
		return `STRUCT<${column.of.map(([name, type]) => `\`${name}\`: ${sparkType(type)}`).join(", ")}>`;
	}
	return {
		text: "STRING",
		time: "TIMESTAMP",
		boolean: "BOOLEAN",
		int: "INT",
		float: "DOUBLE",
	}[column.kind];
}
