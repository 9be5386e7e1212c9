import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
	type ImportOptions,
	type ImportReport,
	importLines,
} from "../../src/ops/import/importLines.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Embedded } from "./embedded.ts";
import { openEmbedded } from "./embedded.ts";
import { theFieldReaders, theModel } from "./model.ts";

/** The beginning of an import in tests that compare sequences: milliseconds. */
export const START = Date.UTC(2026, 10, 20, 12);

export interface Imported {
	readonly report: ImportReport;
	/** `line 3: reason`. */
	readonly bad: readonly string[];
}

/** Import lines given as data; text goes in as it is. */
export async function importAll(
	{ store }: Pick<Embedded, "store">,
	lines: Iterable<unknown>,
	options: Partial<ImportOptions> = {},
): Promise<Imported> {
	const bad: string[] = [];
	const report = await importLines(store, texts(lines), {
		fields: theFieldReaders(),
		onBadLine: (line, reason) => bad.push(`line ${line}: ${reason}`),
		...options,
	});
	return { report, bad };
}

async function* texts(lines: Iterable<unknown>): AsyncGenerator<string> {
	for (const line of lines) {
		yield typeof line === "string" ? line : JSON.stringify(line);
	}
}

export interface Row {
	readonly [column: string]: string | number | bigint | null;
}

/** All rows of all tables of a data folder, in their own order, by file and table. What only counts the rows ever made is left out. */
export function dump(folder: string): ReadonlyMap<string, readonly Row[]> {
	const tables = new Map<string, readonly Row[]>();
	for (const file of readdirSync(folder).toSorted()) {
		if (!/^(db|mod)\d+\.sqlite$/.test(file)) continue;
		using database = new DatabaseSync(join(folder, file), { readOnly: true });
		const names = database
			.prepare(
				"SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
			)
			.all();
		for (const { name } of names) {
			if (name === "sqlite_sequence") continue;
			const select = database.prepare(`SELECT * FROM "${name}"`);
			select.setReadBigInts(true);
			tables.set(`${file} ${name}`, select.all() as unknown as Row[]);
		}
	}
	return tables;
}

/** The rows of a table in all shards; 0 while there are no tables, or they are just being made. */
export function countRows(folder: string, table: string): number {
	try {
		const files = readdirSync(folder).filter((name) =>
			/^db\d+\.sqlite$/.test(name),
		);
		let rows = 0;
		for (const file of files) {
			using database = new DatabaseSync(join(folder, file), { readOnly: true });
			const { count } = database
				.prepare(`SELECT COUNT(*) AS count FROM "${table}"`)
				.get() as { readonly count: number };
			rows += count;
		}
		return rows;
	} catch {
		return 0;
	}
}

/** Run one statement on each shard's file, or on one. Answers how many rows it changed. */
export function sqlOn(
	folder: string,
	files: RegExp,
	sql: string,
	...parameters: (string | number | bigint)[]
): number {
	let changes = 0;
	for (const file of readdirSync(folder).filter((name) => files.test(name))) {
		if (!file.endsWith(".sqlite")) continue;
		using database = new DatabaseSync(join(folder, file), { timeout: 1_000 });
		changes += Number(database.prepare(sql).run(...parameters).changes);
	}
	return changes;
}

/**
 * The whole graph with import keys in place of ids, one text a fact, sorted:
 * the same for two folders whose objects lie on other shards and rows.
 */
export function graphInKeys(folder: string): readonly string[] {
	const tables = dump(folder);
	const keys = new Map<string, string>();
	for (const [table, rows] of tables) {
		if (!table.endsWith(" lookups")) continue;
		for (const { name, key, id } of rows) {
			if (name === "import") keys.set(String(id), String(key));
		}
	}
	const numbers = new Map(
		[...theModel().model.objects.values()].map(({ table, number }) => [
			table,
			BigInt(number),
		]),
	);
	const named = (value: unknown): unknown =>
		keys.get(String(value)) ?? String(value);
	/** By table and by name of a grouped list: the type's number of what a group has in common, whose id is the sequence. */
	const groups = new Map(
		[...theModel().model.mappings.values()].flatMap((mapping) => {
			const type = theModel().model.objects.get(mapping.to);
			const reference = type?.references.find(
				({ key }) => key === mapping.groupedBy?.key,
			);
			const target = theModel().model.objects.get(reference?.target ?? "");
			return target === undefined
				? []
				: [mapping.table, mapping.name].map(
						(name) => [name, BigInt(target.number)] as const,
					);
		}),
	);
	const inGroup = (sequence: bigint, number: bigint) =>
		named(
			((sequence >> 36n) << 46n) |
				(number << 36n) |
				(sequence & ((1n << 36n) - 1n)),
		);
	const facts: string[] = [];
	for (const [place, rows] of tables) {
		const [file = "", table = ""] = place.split(" ");
		const shard = BigInt(/\d+/.exec(file)?.[0] ?? 0);
		for (const row of rows) {
			const { local_id, ts: _, data, ...rest } = row;
			const number = numbers.get(table);
			if (number !== undefined) {
				const id = (shard << 46n) | (number << 36n) | (local_id as bigint);
				const { tokens: __, ...content } = JSON.parse(String(data));
				const values = Object.entries(content).map(([key, value]) => [
					key,
					key.endsWith("_id") ? named(value) : value,
				]);
				facts.push(`${table} ${named(id)} ${JSON.stringify(values)}`);
			} else {
				const { token: __, ...columns }: Record<string, unknown> = rest;
				const group = groups.get(table);
				if (group !== undefined) {
					const { sequence } = columns;
					columns.sequence = String(inGroup(sequence as bigint, group));
				} else if (groups.has(String(columns.mapping))) {
					// The highest id of a group, which is another one on other shards.
					delete columns.last_sequence;
				}
				const values = Object.entries(columns).map(([column, value]) =>
					column.endsWith("id") ? named(value) : String(value),
				);
				facts.push(`${table} ${values.join(" ")}`);
			}
		}
	}
	return facts.toSorted();
}

const WRITES: ReadonlySet<keyof Storage> = new Set([
	"transact",
	"compareAndSetLookups",
	"deleteOutboxEntries",
] as const);

/** Storage that kills this process (SIGKILL) at its n-th write. */
function dyingAt(nth: number, storage: Storage): Storage {
	let writes = 0;
	return new Proxy(storage, {
		get(target, name) {
			const value: unknown = Reflect.get(target, name, target);
			if (typeof value !== "function") return value;
			return (...given: unknown[]) => {
				if (WRITES.has(name as keyof Storage)) {
					if (++writes === nth) process.kill(process.pid, "SIGKILL");
				}
				return value.apply(target, given);
			};
		},
	});
}

/** As a process of its own: `importing.ts FOLDER FILE SHARDS [N]`. It kills itself at its N-th write. */
async function main(): Promise<void> {
	const [folder = "", file = "", shards = "4", nth = "0"] =
		process.argv.slice(2);
	await using embedded = await openEmbedded({
		folder,
		shards: Number(shards),
		wrap: (storage) => dyingAt(Number(nth), storage),
	});
	const report = await importLines(embedded.store, createReadStream(file), {
		fields: theFieldReaders(),
		now: () => START,
	});
	process.stdout.write(`${JSON.stringify(report)}\n`);
}

// Without `await`, so that a test that imports this file can share its process with others.
if (import.meta.main) void main();
