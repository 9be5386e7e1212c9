import { CorkboardError } from "../../errors.ts";
import type { FieldReaders } from "../../model/fieldReaders.ts";
import {
	keyFields,
	type Mapping,
	type Model,
	type ObjectType,
} from "../../model/types.ts";
import { didYouMean, nearest } from "../../util/nearest.ts";
import { mappingProblem } from "../import/lineReader.ts";
import type { Column, Source } from "./sources/source.ts";

/**
 * A first mapping: guesses by names and foreign keys, with open questions as comments.
 * `named` has the tables of types that have other names there. Throws BAD_USER_INPUT for
 * a type or a table that does not exist.
 */
export function scaffold(
	{ model, fields }: { readonly model: Model; readonly fields: FieldReaders },
	{ tables, shownUrl }: Pick<Source, "tables" | "shownUrl">,
	named: ReadonlyMap<string, string> = new Map(),
): string {
	const types = [...model.objects.values()];
	const tableOf = new Map(named);
	for (const [name, table] of named) {
		requireOneOf("type", name, [...model.objects.keys()]);
		requireOneOf("table", table, [...tables.keys()]);
	}
	for (const type of types) {
		if (named.has(type.name)) continue;
		const table = tableFor(type, [...tables.keys()]);
		if (table !== undefined) tableOf.set(type.name, table);
	}
	const used = new Set(tableOf.values());
	const guessedTypes = types.map((type) => {
		const table = tableOf.get(type.name);
		return table === undefined
			? [
					`// ${type.name}: no table looks like it. If there is one: --tables ${type.name}=TABLE.`,
				]
			: typeLines(type, table, tables.get(table) ?? [], tableOf, fields);
	});
	const edges = [...model.mappings.values()].filter(
		(mapping) => mappingProblem(mapping) === null,
	);
	const guessedEdges = edges.flatMap((mapping) => {
		const found = [...tables].flatMap(([table, columns]) => {
			if (used.has(table)) return [];
			const lines = edgeLines(mapping, table, columns, tableOf);
			return lines === null ? [] : [{ table, lines }];
		});
		// `follows` before `follow_requests`.
		const [best] = found
			.filter(({ table }) => shareWord(table, mapping))
			.toSorted((a, b) => a.table.length - b.table.length);
		return best === undefined ? [] : [best];
	});
	const taken = new Set([...used, ...guessedEdges.map(({ table }) => table)]);
	const left = [...tables.keys()].filter((table) => !taken.has(table));
	const noEdge = edges.filter(
		({ name }) =>
			!guessedEdges.some(({ lines }) => lines[0]?.startsWith(`${name}:`)),
	);
	return [
		'import { migration, ref, utc } from "corkboard";',
		"",
		`// A first mapping of ${shownUrl}, guessed from names and foreign keys.`,
		"// Read each line, then run: corkboard migrate check FILE",
		"// Also to be imported: blankToNull(column), local(column, zone), utf8InLatin1(column).",
		"",
		"/** What the schema has: a wrong field does not compile. */",
		"type Schema = {",
		"	types: {",
		...types.map(
			(type) =>
				`		${type.name}: ${writable(type)
					.map((field) => JSON.stringify(field))
					.join(" | ")};`,
		),
		"	};",
		`	edges: ${edges.map(({ name }) => JSON.stringify(name)).join(" | ")};`,
		"};",
		"",
		"export default migration<Schema>({",
		'	source: process.env.OLD_DATABASE ?? "",',
		"	types: {",
		...guessedTypes.flat().map((line) => `		${line}`),
		"	},",
		"	edges: {",
		...guessedEdges.flatMap(({ lines }) => lines.map((line) => `		${line}`)),
		...noEdge.map(({ name }) => `		// ${name}: no table looks like it.`),
		"	},",
		"});",
		...(left.length > 0
			? ["", `// Tables that are not used: ${left.join(", ")}.`]
			: []),
		"",
	].join("\n");
}

function writable(type: ObjectType) {
	const all = [...keyFields(type), ...type.stored, ...type.references];
	return [...new Set(all.map(({ field }) => field))];
}

function requireOneOf(
	what: string,
	name: string,
	known: readonly string[],
): void {
	if (known.includes(name)) return;
	throw new CorkboardError(
		"BAD_USER_INPUT",
		`--tables: there is no ${what} ${name}.${didYouMean(name, known)}`,
	);
}

function tableFor(
	type: ObjectType,
	tables: readonly string[],
): string | undefined {
	const wanted = plain(type.name);
	const names = [wanted, `${wanted}s`, `${wanted}es`, plain(type.table)];
	const prefix = commonPrefix(tables);
	return tables.find((table) =>
		[table, table.slice(prefix.length)].some((name) =>
			names.includes(plain(name)),
		),
	);
}

/** What all names of tables begin with: `phpbb_`. */
function commonPrefix(tables: readonly string[]): string {
	const prefix = /^[a-z0-9]+_/i.exec(tables[0] ?? "")?.[0] ?? "";
	return tables.length > 1 && tables.every((one) => one.startsWith(prefix))
		? prefix
		: "";
}

function plain(name: string): string {
	return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

function snake(name: string): string {
	return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function typeLines(
	type: ObjectType,
	table: string,
	columns: readonly Column[],
	tableOf: ReadonlyMap<string, string>,
	fields: FieldReaders,
): readonly string[] {
	const used = new Set<string>(keysOf(columns));
	const lines: string[] = [];
	const unknown: string[] = [];
	for (const { field, target } of type.references) {
		const column =
			columns.find(({ name }) => plain(name) === plain(`${field}id`)) ??
			columns.find(({ name }) => plain(name) === plain(`${target}id`)) ??
			columns.find(
				({ leadsTo, name }) =>
					!used.has(name) &&
					leadsTo !== null &&
					leadsTo === tableOf.get(target) &&
					target !== type.name,
			);
		if (column === undefined || used.has(column.name)) unknown.push(field);
		else {
			used.add(column.name);
			lines.push(`${field}: ref("${target}", "${column.name}"),`);
		}
	}
	const referred = new Set(type.references.map(({ field }) => field));
	for (const field of writable(type)) {
		if (referred.has(field)) continue;
		const names = columns
			.map(({ name }) => name)
			.filter((name) => !used.has(name));
		const name =
			names.find((one) => plain(one) === plain(field)) ??
			names.find((one) => snake(field).split("_").includes(one)) ??
			(plain(field) === "createdat"
				? names.find((one) => CREATED.test(one))
				: nearest(snake(field), names));
		const column = columns.find((one) => one.name === name);
		if (column === undefined) {
			unknown.push(field);
			continue;
		}
		used.add(column.name);
		const sure = plain(column.name) === plain(field) ? "" : " // a guess";
		lines.push(
			`${field}: ${conversionOf(column, fields.typeNameOf(type.name, field))},${sure}`,
		);
	}
	const left = columns
		.map(({ name }) => name)
		.filter((name) => !used.has(name))
		.filter((name) => !commonLines(columns).join().includes(`"${name}"`));
	return [
		`${type.name}: {`,
		`	table: "${table}",`,
		...commonLines(columns),
		"	fields: {",
		...lines.map((line) => `		${line}`),
		...(unknown.length > 0
			? [`		// No column looks like: ${unknown.join(", ")}.`]
			: []),
		...(left.length > 0
			? [`		// Columns that are not used: ${left.join(", ")}.`]
			: []),
		"	},",
		"},",
	];
}

/** A time of creation; `updated_at` is as near to `createdAt`, and is none. */
const CREATED = /^(?:created|published|registered|registration|posted|joined)/i;

function conversionOf({ name, type }: Column, typeName: string): string {
	if (typeName === "DateTime") {
		return /with time zone|^timestamp(\(|$)/.test(type) &&
			!type.includes("without")
			? `utc("${name}")`
			: `utc("${name}") /* or local("${name}", "Europe/Berlin"): in which zone is it? */`;
	}
	return `"${name}"`;
}

function keysOf(columns: readonly Column[]): readonly string[] {
	const keys = columns.filter(({ isKey }) => isKey).map(({ name }) => name);
	return keys.length > 0 ? keys : [];
}

function commonLines(columns: readonly Column[]): readonly string[] {
	const keys = keysOf(columns);
	const find = (...names: readonly string[]) =>
		columns.find(({ name }) => names.includes(plain(name)))?.name;
	const changed = find("updatedat", "modifiedat", "lastmodified", "updated");
	const deleted = find("deletedat", "deleted", "isdeleted", "removedat");
	return [
		keys.length === 0
			? '	key: "", // The table has no primary key: which columns identify a row?'
			: `	key: ${keys.length === 1 ? `"${keys[0]}"` : `[${keys.map((key) => `"${key}"`).join(", ")}]`},`,
		...(changed === undefined ? [] : [`	changed: "${changed}",`]),
		...(deleted === undefined ? [] : [`	deleted: "${deleted}",`]),
	];
}

/** Null if the table has no two columns that lead to the ends. */
function edgeLines(
	{ name, from, to }: Mapping,
	table: string,
	columns: readonly Column[],
	tableOf: ReadonlyMap<string, string>,
): readonly string[] | null {
	const isOf = (type: string) => (column: Column) =>
		(column.leadsTo !== null && column.leadsTo === tableOf.get(type)) ||
		plain(column.name) === plain(`${type}id`);
	const first = columns.find(isOf(from as string));
	const others = columns.filter((column) => column !== first);
	const poly = others.find(
		({ name: one }) =>
			/_id$/.test(one) &&
			columns.some((column) => column.name === one.replace(/_id$/, "_type")),
	);
	const pairs = columns.filter(
		({ name: one, leadsTo }) =>
			/_id$/.test(one) &&
			(leadsTo === null || leadsTo === tableOf.get(from as string)),
	);
	const isSelf = from === to && pairs.length === 2;
	const start = isSelf ? (first ?? pairs[0]) : first;
	const end = isSelf
		? pairs.find((column) => column !== start)
		: (others.find(isOf(to)) ?? poly);
	if (start === undefined || end === undefined) return null;
	const at = columns.find(({ name: one }) =>
		["createdat", "created", "time", "publishedat"].includes(plain(one)),
	);
	const isPoly = end === poly && !isOf(to)(end);
	const typeColumn = end.name.replace(/_id$/, "_type");
	return [
		`${name}: {`,
		`	table: "${table}", // a guess`,
		...commonLines(columns),
		...(isPoly
			? [`	only: (row) => row.${typeColumn} === "${to}", // which text is it?`]
			: []),
		`	from: ref("${from}", "${start.name}"),`,
		`	to: ref("${to}", "${end.name}"),`,
		...(at === undefined ? [] : [`	at: ${conversionOf(at, "DateTime")},`]),
		"},",
	];
}

/** Whether names share the beginning of a word: `likes` and `likePin`, `follows` and `followUser`. The types at its ends say nothing: `local_user` has no follows. */
function shareWord(table: string, { name, from, to }: Mapping): boolean {
	const words = (text: string) => snake(text).split("_");
	const ends = [plain(String(from)), plain(to)];
	return words(table).some((one) =>
		words(name).some(
			(other) =>
				other.length > 3 &&
				!ends.includes(other) &&
				(one.startsWith(other) || other.startsWith(one.replace(/s$/, ""))),
		),
	);
}
