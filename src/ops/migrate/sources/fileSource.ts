import { isUtf8 } from "node:buffer";
import { createReadStream, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { CorkboardError } from "../../../errors.ts";
import type { Row } from "../mapping.ts";
import { CsvSplitter } from "./csv.ts";
import { type Column, PAGE, type Source, type SourceRow } from "./source.ts";

/** A folder with a file for each table: `photos.ndjson` with an object per line, or `photos.csv` with the columns in its first line. */
export async function openFileSource(folder: string): Promise<Source> {
	if (!existsSync(folder)) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`There is no folder ${folder}: file: of the source names a folder with a file for each table.`,
		);
	}
	const files = new Map(
		readdirSync(folder).flatMap((name) => {
			const table = /^(.+)\.(?:ndjson|csv)$/.exec(name)?.[1];
			return table === undefined ? [] : [[table, join(folder, name)] as const];
		}),
	);
	const tables = new Map<string, readonly Column[]>();
	for (const [table, file] of files) {
		for await (const { row } of rowsIn(file)) {
			const columns = Object.keys(row).map((name) => ({
				name,
				type: "text",
				isNullable: true,
				isKey: name === "id",
				leadsTo: null,
			}));
			tables.set(table, columns);
			break;
		}
		if (!tables.has(table)) tables.set(table, []);
	}
	const read = (table: string) => rowsIn(files.get(table) as string);
	return {
		shownUrl: `file:${folder}`,
		tables,
		estimate: async () => null,
		async *scan({ table, where }, { after, since, limit }) {
			if (where !== undefined) {
				throw new CorkboardError(
					"BAD_CONFIG",
					`where is SQL, and ${table} is a file: use only: (row) => … instead.`,
				);
			}
			let page: SourceRow[] = [];
			let left = limit ?? Number.POSITIVE_INFINITY;
			const skipped = Number(after?.[0] ?? 0);
			for await (const one of read(table)) {
				if ((one.cursor[0] as number) <= skipped) continue;
				if (since && String(one.row[since.column]) < since.value) continue;
				page.push(one);
				if (--left === 0) break;
				if (page.length < PAGE) continue;
				yield page;
				page = [];
			}
			if (page.length > 0) yield page;
		},
		async rowsOf({ table, key }, keys) {
			const wanted = new Set(keys.map((parts) => JSON.stringify(parts)));
			const found: Row[] = [];
			for await (const { row } of read(table)) {
				const parts = key.map((column) => String(row[column]));
				if (wanted.has(JSON.stringify(parts))) found.push(row);
			}
			return found;
		},
		async select() {
			throw new CorkboardError(
				"BAD_CONFIG",
				`file:${folder} takes no SQL: return the rows from there.`,
			);
		},
		async openLog() {
			throw new CorkboardError(
				"BAD_CONFIG",
				`file:${folder} has no log to follow: repeat migrate run with newer files.`,
			);
		},
		lag: async () => null,
		takesWrites: async () => null,
		openSessions: async () => null,
		async writeMark(names) {
			const marks = names.map((table) => {
				const { mtimeMs, size } = statSync(files.get(table) as string);
				return `${table} ${mtimeMs} ${size}`;
			});
			return marks.join();
		},
		async greatest({ table }, column) {
			let greatest: string | null = null;
			for await (const { row } of read(table)) {
				const value = row[column] ?? null;
				if (value === null) continue;
				if (greatest === null || String(value) > greatest) {
					greatest = String(value);
				}
			}
			return greatest;
		},
		async [Symbol.asyncDispose]() {},
	};
}

async function* rowsIn(file: string): AsyncGenerator<SourceRow> {
	let number = 0;
	for await (const row of file.endsWith(".csv")
		? csvRows(file)
		: jsonRows(file)) {
		yield { row, cursor: [++number] };
	}
}

async function* jsonRows(file: string): AsyncGenerator<Row> {
	// Read as bytes: invalid UTF-8 must not become U+FFFD.
	const lines = createInterface({
		input: createReadStream(file, "latin1"),
		crlfDelay: Number.POSITIVE_INFINITY,
	});
	let number = 0;
	for await (const line of lines) {
		number++;
		if (line.trim() === "") continue;
		const text = utf8(file, number, Buffer.from(line, "latin1"));
		let row: unknown;
		try {
			row = JSON.parse(text);
		} catch {}
		if (typeof row !== "object" || row === null || Array.isArray(row)) {
			throw unreadable(file, number, "is no JSON object");
		}
		yield row as Row;
	}
}

async function* csvRows(file: string): AsyncGenerator<Row> {
	const splitter = new CsvSplitter();
	let names: readonly (string | null)[] | null = null;
	let number = 0;
	const toRows = function* (records: readonly (string | null)[][]) {
		for (const record of records) {
			number++;
			const values = record.map((value) =>
				value === null
					? null
					: utf8(file, number, Buffer.from(value, "latin1")),
			);
			if (names === null) {
				names = values;
				continue;
			}
			if (values.length !== names.length) {
				throw unreadable(
					file,
					number,
					`has ${values.length} values, and the first line names ${names.length} columns`,
				);
			}
			yield Object.fromEntries(
				names.map((name, at) => [name ?? "", values[at] ?? null]),
			);
		}
	};
	for await (const chunk of createReadStream(file, "latin1")) {
		yield* toRows(splitter.split(chunk as string));
	}
	yield* toRows(splitter.rest());
}

function utf8(file: string, number: number, bytes: Buffer): string {
	if (!isUtf8(bytes)) {
		throw unreadable(file, number, "is not UTF-8: convert the file with iconv");
	}
	return bytes.toString("utf8");
}

function unreadable(file: string, number: number, what: string) {
	return new CorkboardError("BAD_DATA", `${file}: record ${number} ${what}.`);
}
