import { createHash } from "node:crypto";
import { CorkboardError } from "../errors.ts";
import type { Model } from "../model/types.ts";
import { OUTBOX, type Table } from "../storage/statements/tables.ts";
import type { Database } from "./databases.ts";
import { takeGraphId } from "./dumpedGraphId.ts";
import type { DumpFiles } from "./files/dumpFiles.ts";
import type { FileCipher } from "./files/fileCipher.ts";
import { checkFile, readLines } from "./lineFiles.ts";
import {
	type DatabaseManifest,
	type Dump,
	type DumpedTable,
	damaged,
	requireKey,
	requireKnownModel,
	requireWhole,
	sum,
} from "./manifest.ts";
import {
	HeldRecord,
	newRecord,
	type RestoreRecord,
	readRecord,
	resumed,
} from "./restoreRecord.ts";
import type { StoredRow } from "./source/dumpSource.ts";
import { rowIn, rowsOf, storedLine } from "./storedLines.ts";
import type { RestoreTarget } from "./target/restoreTarget.ts";

interface RestoreOptions {
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
	/** Whether it continues with the restore that has begun in this fleet. */
	readonly resume: boolean;
	/** How many local ids each table skips. */
	readonly raiseBy: number;
	readonly parallel: number;
	/** Whether nothing is changed. */
	readonly isDryRun: boolean;
	readonly signal: AbortSignal;
	/** Called before the first row is written. */
	readonly onBegun?: () => void;
	readonly onProgress?: (progress: RestoreProgress) => void;
	readonly now?: () => Date;
}

interface RestoreProgress {
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

interface Restoring {
	readonly report: RestoreReport;
	/** What is left to do with it: `settleRestore`. Of a dry run, what it would begin with. */
	readonly record: RestoreRecord;
}

/** A database of the dump, and the one of the fleet that it is restored into. */
interface Restored {
	readonly manifest: DatabaseManifest;
	readonly database: Database;
}

/** Throws BAD_DATA, BAD_MODEL or CONFLICT if a dump cannot be restored into this fleet at all, before anything is changed. */
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
	requireKey(files, head, cipher !== null);
	requireKnownModel(files, { ...head }, model);
}

/**
 * Loads a dump into empty databases, compares every table with what was dumped, and
 * raises the local ids. What one shard promised another is then in the outboxes, or
 * found by `verify`: each shard was dumped at a moment of its own. `settleRestore`
 * does the rest.
 */
export async function runRestore(options: RestoreOptions): Promise<Restoring> {
	const { files, dump, model, cipher, target, signal, isDryRun } = options;
	const { now = () => new Date() } = options;
	const began = performance.now();
	requireRestorable(files, dump, model, cipher);
	requireWhole(files, dump);
	const restored = pairs(options);
	const databases = restored.map(({ database }) => database);
	const faults = await target.faults(databases);
	if (faults.length > 0)
		throw new CorkboardError("CONFLICT", faults.join("\n"));
	const before = await readRecord(target, options.databases);
	const anew = newRecord(dump, databases, now());
	const wanted = options.resume
		? resumed(requireSame(options, before, anew))
		: anew;
	if (!options.resume) await requireEmpty(options, databases, before);
	// All of the files, before the first row is written: a damaged one ends the restore.
	if (wanted.step === "begun") await checkFiles(options, restored);
	let record = wanted;
	if (!isDryRun) {
		const held = await HeldRecord.take(
			target,
			options.databases,
			before,
			wanted,
		);
		options.onBegun?.();
		if (held.record.step === "begun") {
			await new RestoreRun(options, restored, held).loadAll();
			if (options.shards === null) {
				await takeGraphId(target, options.databases, dump.head);
			}
			await held.advance("loaded");
		}
		if (held.record.step === "loaded") {
			signal.throwIfAborted();
			await target.raiseIds(databases, options.raiseBy);
			await held.advance("raised");
		}
		record = held.record;
	}
	const tables: Record<string, number> = {};
	for (const table of restored.flatMap(({ manifest }) => manifest.tables)) {
		if (table.rows === 0) continue;
		tables[table.name] = (tables[table.name] ?? 0) + table.rows;
	}
	const report = {
		databases: restored.length,
		rows: sum(Object.values(tables)),
		tables,
		seconds: (performance.now() - began) / 1_000,
	};
	return { report, record };
}

/** Throws CONFLICT if the fleet lacks a database of the dump. */
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

/** The record of the restore that is resumed. Throws CONFLICT if none has begun, or another one. */
function requireSame(
	{ files, dump: { head } }: RestoreOptions,
	found: RestoreRecord | null,
	wanted: RestoreRecord,
): RestoreRecord {
	if (found === null) {
		throw new CorkboardError(
			"CONFLICT",
			"No restore is under way in this fleet: none has begun, or it is done. Leave out --resume to begin one in empty databases.",
		);
	}
	if (found.dump !== wanted.dump) {
		throw new CorkboardError(
			"CONFLICT",
			`The restore that began in this fleet at ${found.began} is of the dump ${found.dump}, and ${files.name} holds ${head.id}. Continue with that dump.`,
		);
	}
	if (found.databases !== wanted.databases) {
		throw new CorkboardError(
			"CONFLICT",
			`The restore that began in this fleet at ${found.began} is of other databases. Continue with the same --shards.`,
		);
	}
	return found;
}

/** Throws CONFLICT if something is stored: in what is restored or, without --shards, in any database of the fleet. */
async function requireEmpty(
	{ target, shards, databases: all }: RestoreOptions,
	restored: readonly Database[],
	found: RestoreRecord | null,
): Promise<void> {
	for (const database of shards === null ? all : restored) {
		const [filled] = await target.filled(database);
		if (filled === undefined) continue;
		throw new CorkboardError(
			"CONFLICT",
			`${database.name}.${filled} is not empty, and a restore overwrites nothing. ${
				found === null
					? "Restore into empty databases."
					: `A restore of the dump ${found.dump} began here at ${found.began}: continue it with --resume.`
			} To bring back single objects, use --only TYPE:ID.`,
		);
	}
}

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
	readonly #held: HeldRecord;
	readonly #total: number;
	readonly #began = performance.now();
	#rows = 0;

	constructor(
		options: RestoreOptions,
		restored: readonly Restored[],
		held: HeldRecord,
	) {
		this.#options = options;
		this.#restored = restored;
		this.#held = held;
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
			await this.#held.requireHeld();
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

	/** Throws CONFLICT if the table is not what was dumped. */
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
