import { createHash } from "node:crypto";
import { CorkboardError } from "../errors.ts";
import type { Model } from "../model/types.ts";
import { OUTBOX, type Table } from "../storage/statements/tables.ts";
import type { Database } from "./databases.ts";
import type { DumpFiles } from "./files/dumpFiles.ts";
import type { FileCipher } from "./files/fileCipher.ts";
import { checkFile, readLines } from "./lineFiles.ts";
import {
	type DatabaseManifest,
	type Dump,
	type DumpedTable,
	damaged,
	requireKnownModel,
	requireWhole,
	sum,
} from "./manifest.ts";
import type { StoredRow } from "./source/dumpSource.ts";
import { rowIn, rowsOf, storedLine } from "./storedLines.ts";
import type { RestoreTarget } from "./target/restoreTarget.ts";

export interface RestoreOptions {
	readonly model: Model;
	readonly files: DumpFiles;
	readonly cipher: FileCipher | null;
	readonly dump: Dump;
	/** All databases of the fleet that is restored into. */
	readonly databases: readonly Database[];
	readonly modShards: number;
	/** Null: all that the dump has. */
	readonly shards: readonly number[] | null;
	readonly target: RestoreTarget;
	/** Whether rows of a restore before may be there. */
	readonly resume: boolean;
	/** How many local ids each table skips. */
	readonly raiseBy: number;
	readonly parallel: number;
	/** Whether nothing is changed. */
	readonly isDryRun: boolean;
	readonly signal: AbortSignal;
	readonly onProgress?: (progress: RestoreProgress) => void;
}

export interface RestoreProgress {
	readonly rows: { readonly done: number; readonly total: number };
	readonly secondsLeft: number | null;
}

export interface RestoreReport {
	readonly databases: number;
	readonly rows: number;
	/** Rows by table. */
	readonly tables: Readonly<Record<string, number>>;
	readonly seconds: number;
}

/** A database of the dump, and the one of the fleet that it is restored into. */
interface Restored {
	readonly manifest: DatabaseManifest;
	readonly database: Database;
}

/** Throws BAD_DATA, BAD_MODEL or CONFLICT where a dump cannot be restored into this fleet at all, before anything is changed. */
export function requireRestorable(
	files: DumpFiles,
	{ head }: Pick<Dump, "head">,
	model: Model,
	cipher: FileCipher | null,
): void {
	if (head.for !== "restore") {
		throw new CorkboardError(
			"BAD_DATA",
			`${files.name} holds a dump for analysis: it lacks what is not public. Restore one that was made with --for restore.`,
		);
	}
	if (head.isEncrypted !== (cipher !== null)) {
		throw new CorkboardError(
			"BAD_CONFIG",
			head.isEncrypted
				? `The dump in ${files.name} is encrypted: give the file with its key as --key FILE.`
				: `The dump in ${files.name} is not encrypted: leave out --key.`,
		);
	}
	requireKnownModel(files, { ...head }, model);
}

/**
 * Loads a dump into empty databases, compares every table with what was dumped, and
 * raises the local ids. What one shard promised another is then in the outboxes, or
 * found by `verify`: each shard was dumped at a moment of its own.
 */
export async function runRestore(
	options: RestoreOptions,
): Promise<RestoreReport> {
	const { files, dump, model, cipher, target, signal, isDryRun } = options;
	const began = performance.now();
	requireRestorable(files, dump, model, cipher);
	requireWhole(files, dump);
	const restored = pairs(options);
	const databases = restored.map(({ database }) => database);
	const faults = await target.faults(databases);
	if (faults.length > 0)
		throw new CorkboardError("CONFLICT", faults.join("\n"));
	await requireEmpty(options, databases);
	await checkFiles(options, restored);
	const run = new RestoreRun(options, restored);
	if (!isDryRun) {
		await run.loadAll();
		signal.throwIfAborted();
		await target.raiseIds(databases, options.raiseBy);
	}
	const tables: Record<string, number> = {};
	for (const table of restored.flatMap(({ manifest }) => manifest.tables)) {
		if (table.rows === 0) continue;
		tables[table.name] = (tables[table.name] ?? 0) + table.rows;
	}
	return {
		databases: restored.length,
		rows: sum(Object.values(tables)),
		tables,
		seconds: (performance.now() - began) / 1_000,
	};
}

/** Throws CONFLICT where the fleet lacks a database of the dump. */
function pairs(options: RestoreOptions): readonly Restored[] {
	const { dump, databases, modShards, shards } = options;
	const { head } = dump;
	if (head.modShards !== modShards) {
		throw new CorkboardError(
			"CONFLICT",
			`The dump is of a fleet with ${head.modShards} mod shards, and this one has ${modShards}: lookups would be on others. Make a topology with ${head.modShards}.`,
		);
	}
	const own = new Map(databases.map((each) => [each.name, each]));
	const wanted = [...dump.databases.values()].filter(
		({ database }) =>
			shards === null ||
			(!database.startsWith("mod") &&
				shards.includes(Number(database.slice(-5)))),
	);
	const absent = shards?.find(
		(shard) =>
			!wanted.some(({ database }) => Number(database.slice(-5)) === shard),
	);
	if (absent !== undefined) {
		throw new CorkboardError("BAD_DATA", `The dump has no shard ${absent}.`);
	}
	return wanted.map((manifest) => {
		const database = own.get(manifest.database);
		if (database === undefined) {
			throw new CorkboardError(
				"CONFLICT",
				`The topology has no ${manifest.database}, which the dump has. Make a topology with the same shards, feeds and mod shards; hosts may be others.`,
			);
		}
		const unknown = manifest.tables.find(
			({ name, rows }) =>
				rows > 0 && !database.tables.some((table) => table.name === name),
		);
		if (unknown !== undefined) {
			throw new CorkboardError(
				"CONFLICT",
				`${manifest.database} of the dump has rows of ${unknown.name}, and that of this fleet has no such table. Make a topology with the same feeds.`,
			);
		}
		return { manifest, database };
	});
}

async function requireEmpty(
	{ target, resume }: RestoreOptions,
	databases: readonly Database[],
): Promise<void> {
	if (resume) return;
	for (const database of databases) {
		const [filled] = await target.filled(database);
		if (filled === undefined) continue;
		throw new CorkboardError(
			"CONFLICT",
			`${database.name}.${filled} is not empty, and a restore overwrites nothing. Restore into empty databases; after a restore that was interrupted, go on with --resume. To bring back single objects, use --only TYPE:ID.`,
		);
	}
}

/** All of them, before the first row is written: a restore that stops half-way has to be begun anew. */
async function checkFiles(
	{ files, signal }: RestoreOptions,
	restored: readonly Restored[],
): Promise<void> {
	const named = restored.flatMap(({ manifest }) =>
		manifest.tables.flatMap((table) => table.files),
	);
	const there = new Set(await files.list(""));
	const missing = named.find(({ name }) => !there.has(name));
	if (missing !== undefined)
		throw damaged(files, missing.name, "it is missing");
	for (const file of named) {
		signal.throwIfAborted();
		await checkFile(files, file);
	}
}

class RestoreRun {
	readonly #options: RestoreOptions;
	readonly #restored: readonly Restored[];
	readonly #total: number;
	readonly #began = performance.now();
	#rows = 0;

	constructor(options: RestoreOptions, restored: readonly Restored[]) {
		this.#options = options;
		this.#restored = restored;
		this.#total = sum(
			restored.flatMap(({ manifest }) =>
				manifest.tables.map(({ rows }) => rows),
			),
		);
	}

	async loadAll(): Promise<void> {
		const { parallel, signal } = this.#options;
		const failed = new AbortController();
		const either = AbortSignal.any([signal, failed.signal]);
		const waiting = this.#restored.values();
		const worker = async () => {
			for (const each of waiting) {
				if (either.aborted) return;
				await this.#load(each, either);
			}
		};
		await Promise.allSettled(
			Array.from({ length: parallel }, () =>
				worker().catch((thrown: unknown) => failed.abort(thrown)),
			),
		);
		signal.throwIfAborted();
		if (failed.signal.aborted) throw failed.signal.reason;
	}

	async #load(
		{ manifest, database }: Restored,
		signal: AbortSignal,
	): Promise<void> {
		for (const dumped of manifest.tables) {
			const table = database.tables.find(({ name }) => name === dumped.name);
			if (table === undefined || dumped.rows === 0) continue;
			await this.#loadTable(database, table, dumped, signal);
			// Entries get new numbers, and may be delivered by now.
			if (table.name === OUTBOX.name) continue;
			await this.#compare(database, table, dumped);
		}
	}

	async #loadTable(
		database: Database,
		table: Table,
		dumped: DumpedTable,
		signal: AbortSignal,
	): Promise<void> {
		const { files, cipher, target, onProgress } = this.#options;
		for (const file of dumped.files) {
			for await (const lines of readLines({ files, cipher }, file)) {
				signal.throwIfAborted();
				const rows = lines.map((line): StoredRow => {
					const row = rowIn(table, line);
					if (row !== null) return row;
					throw damaged(files, file.name, `a line is no row of ${table.name}`);
				});
				await target.insert(database, table, rows);
				this.#rows += rows.length;
				const seconds = (performance.now() - this.#began) / 1_000;
				onProgress?.({
					rows: { done: this.#rows, total: this.#total },
					secondsLeft: (seconds / this.#rows) * (this.#total - this.#rows),
				});
			}
		}
	}

	/** Throws CONFLICT where the table is not what was dumped. */
	async #compare(
		database: Database,
		table: Table,
		dumped: DumpedTable,
	): Promise<void> {
		const columns = Object.keys(table.columns);
		const hash = createHash("sha256");
		const snapshot = { rows: this.#options.target.rows(database) };
		let count = 0;
		for await (const rows of rowsOf(snapshot, table, async () => {})) {
			count += rows.length;
			for (const row of rows) hash.update(`${storedLine(columns, row)}\n`);
		}
		if (count === dumped.rows && hash.digest("hex") === dumped.sha256) return;
		throw new CorkboardError(
			"CONFLICT",
			`${database.name}.${table.name} has ${count} rows now and ${dumped.rows} in the dump, or others: something else has written there. Empty the databases, let no server run, and restore again.`,
		);
	}
}
