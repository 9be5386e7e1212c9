import { createHash, randomUUID } from "node:crypto";
import type { GraphQLSchema } from "graphql";
import { CorkboardError } from "../errors.ts";
import type { Domain } from "../graph/domain.ts";
import type { Model } from "../model/types.ts";
import { Pace } from "../util/pace.ts";
import type { Database } from "./databases.ts";
import { dumpedGraphId, requireSameGraph } from "./dumpedGraphId.ts";
import type { DumpFiles } from "./files/dumpFiles.ts";
import type { FileCipher } from "./files/fileCipher.ts";
import { writeLines } from "./lineFiles.ts";
import {
	bytesOf,
	type DatabaseManifest,
	type DumpedTable,
	type DumpHead,
	type DumpManifest,
	databaseFile,
	HEAD,
	MANIFEST,
	manifestOf,
	newHead,
	putJson,
	readDatabase,
	readHead,
	requireKnownModel,
	sum,
} from "./manifest.ts";
import {
	type PublicTable,
	publicLines,
	publicPrefix,
	publicTables,
	tableOf,
} from "./publicLines.ts";
import { PublicObjects } from "./publicObjects.ts";
import { schemaFiles } from "./schemaFiles.ts";
import type { DumpSource, Snapshot } from "./source/dumpSource.ts";
import { rowsOf, storedLines } from "./storedLines.ts";

export interface DumpOptions {
	readonly model: Model;
	readonly schema: GraphQLSchema;
	readonly domain: Domain;
	readonly source: DumpSource;
	readonly files: DumpFiles;
	readonly cipher: FileCipher | null;
	readonly for: DumpHead["for"];
	readonly databases: readonly Database[];
	readonly modShards: number;
	/** Ids whose objects, and their edges, are left out. */
	readonly erased: readonly string[];
	/** Databases that are read at the same time. */
	readonly parallel: number;
	/** Rows a second, of all together; null: as fast as it goes. */
	readonly rate: number | null;
	/** A replica that is further behind makes the dump wait. Seconds. */
	readonly maxLagSeconds: number;
	readonly signal: AbortSignal;
	readonly fileBytes?: number;
	readonly onProgress?: (progress: DumpProgress) => void;
	/** Called when the dump begins to wait for a replica, with its name. */
	readonly onLate?: (server: string, seconds: number) => void;
	readonly now?: () => number;
}

export interface DumpProgress {
	readonly databases: { readonly done: number; readonly total: number };
	readonly rows: number;
	readonly bytes: number;
	/** Null before the first database is done. */
	readonly secondsLeft: number | null;
	/** What it waits for: `lag of db001b:3306`; null: nothing. */
	readonly waitsFor: string | null;
}

export interface DumpReport {
	readonly status: "done" | "aborted";
	readonly id: string;
	readonly for: DumpHead["for"];
	readonly databases: {
		readonly total: number;
		/** Done by this run, and by runs before it. */
		readonly done: number;
		readonly before: number;
	};
	readonly rows: number;
	readonly bytes: number;
	/** The most seconds that a replica was behind while it was read. Null if none said how far. */
	readonly maxLagSeconds: number | null;
	/** Rows by the name of a type, a mapping or a table. */
	readonly tables: Readonly<Record<string, number>>;
	readonly seconds: number;
}

/** Between two looks at how far replicas are behind. Milliseconds. */
const LAG_EVERY_MS = 1_000;

/**
 * Dumps databases into files, each from one snapshot. What a run before has done
 * stays. Throws BAD_DATA, CONFLICT if the files are another dump's, UNAVAILABLE.
 */
export async function runDump(options: DumpOptions): Promise<DumpReport> {
	const { files, databases, signal, now = Date.now } = options;
	const began = now();
	const head = await begin(options, began);
	await files.removeHalves();
	const done = new Map<string, DatabaseManifest>();
	for (const { name } of databases) {
		const found = await readDatabase(files, name);
		if (found !== null) done.set(name, found);
	}
	const before = done.size;
	const waiting = databases.filter(({ name }) => !done.has(name));
	using run = new DumpRun(options, done);
	const aborted = await run.dumpAll(waiting);
	if (!aborted && !signal.aborted) {
		await finish(options, head, done, new Date(now()).toISOString());
	}
	const tables: Record<string, number> = {};
	for (const table of [...done.values()].flatMap(({ tables }) => tables)) {
		tables[table.name] = (tables[table.name] ?? 0) + table.rows;
	}
	return {
		status: done.size === databases.length ? "done" : "aborted",
		id: head.id,
		for: head.for,
		databases: { total: databases.length, done: done.size - before, before },
		rows: sum(Object.values(tables)),
		bytes: sum([...done.values()].map(bytesOf)),
		maxLagSeconds: run.maxLagSeconds,
		tables,
		seconds: (now() - began) / 1_000,
	};
}

/** The head of the dump that is there, or a new one. Throws CONFLICT if it is of another kind. */
async function begin(options: DumpOptions, now: number): Promise<DumpHead> {
	const { files, databases, model, cipher, modShards } = options;
	const wanted = newHead(model, {
		id: randomUUID(),
		for: options.for,
		files: "ndjson",
		isEncrypted: cipher !== null,
		begun: new Date(now).toISOString(),
		modShards,
		databases: databases.map(({ name }) => name),
		graph: await dumpedGraphId(options.source, databases),
		erased:
			options.erased.length === 0
				? null
				: createHash("sha256")
						.update(options.erased.toSorted().join("\n"))
						.digest("hex"),
	});
	const found = await readHead(files);
	if (found === null) {
		const [other] = await files.list("");
		if (other !== undefined) {
			throw new CorkboardError(
				"CONFLICT",
				`${files.name} is not empty, and holds no dump: it has ${other}. Name an empty folder or prefix.`,
			);
		}
		await putJson(files, HEAD, wanted);
		return wanted;
	}
	requireKnownModel(files, found, model);
	const differences = (
		["for", "files", "isEncrypted", "modShards", "databases", "erased"] as const
	).filter(
		(each) => JSON.stringify(found[each]) !== JSON.stringify(wanted[each]),
	);
	requireSameGraph(files, found, wanted.graph);
	if (differences.length > 0) {
		throw new CorkboardError(
			"CONFLICT",
			`${files.name} holds a dump of ${found.begun} that was begun otherwise (${differences.join(", ")}). Continue with the same options, or name another place.`,
		);
	}
	return found;
}

async function finish(
	{ files, model, schema, domain, databases, ...options }: DumpOptions,
	head: DumpHead,
	done: ReadonlyMap<string, DatabaseManifest>,
	ended: string,
): Promise<void> {
	const inOrder = databases.map(({ name }) =>
		done.get(name),
	) as DatabaseManifest[];
	if (options.for === "analytics") {
		const tables = publicTables(model, schema, domain);
		for (const [name, text] of schemaFiles(
			files.name,
			schema,
			tables,
			inOrder,
		)) {
			await files.put(name, [Buffer.from(text)]);
		}
	}
	const manifest: DumpManifest = manifestOf(head, inOrder, ended);
	await putJson(files, MANIFEST, manifest);
}

class DumpRun implements Disposable {
	maxLagSeconds: number | null = null;
	readonly #options: DumpOptions;
	readonly #done: Map<string, DatabaseManifest>;
	readonly #pace: Pace;
	readonly #publicTables: readonly PublicTable[];
	readonly #objects: PublicObjects;
	readonly #before: number;
	readonly #began = performance.now();
	readonly #watching: NodeJS.Timeout;
	#isLooking = false;
	#rows = 0;
	#bytes = 0;

	constructor(options: DumpOptions, done: Map<string, DatabaseManifest>) {
		const { model, schema, domain, source, erased } = options;
		this.#options = options;
		this.#done = done;
		this.#before = done.size;
		this.#pace = new Pace({
			rowsPerSecond: options.rate,
			bytesPerSecond: null,
			maxLagSeconds: options.maxLagSeconds,
		});
		this.#publicTables =
			options.for === "analytics" ? publicTables(model, schema, domain) : [];
		this.#objects = new PublicObjects(
			model,
			domain,
			(ids) => source.objects(ids),
			new Set(erased),
		);
		this.#watching = setInterval(() => void this.#look(), LAG_EVERY_MS);
		this.#watching.unref();
	}

	[Symbol.dispose](): void {
		clearInterval(this.#watching);
	}

	/** Whether it was interrupted. The first failure ends it, when the databases under way have stopped. */
	async dumpAll(databases: readonly Database[]): Promise<boolean> {
		const { signal, parallel } = this.#options;
		await this.#look();
		const failed = new AbortController();
		const either = AbortSignal.any([signal, failed.signal]);
		const waiting = databases.values();
		const worker = async () => {
			for (const database of waiting) {
				if (either.aborted) return;
				await this.#dump(database, either);
			}
		};
		const workers = Array.from({ length: parallel }, () =>
			worker().catch((thrown: unknown) => {
				failed.abort(thrown);
				throw thrown;
			}),
		);
		const results = await Promise.allSettled(workers);
		if (failed.signal.aborted && !signal.aborted) throw failed.signal.reason;
		return results.some(({ status }) => status === "rejected");
	}

	async #dump(database: Database, signal: AbortSignal): Promise<void> {
		const { source, files, now = Date.now } = this.#options;
		await this.#pace.take(0, 0, signal);
		// They are left from a run that was killed before this database was done.
		for (const prefix of this.#prefixesOf(database)) {
			const old = await files.list(`${prefix}/`);
			if (old.length > 0) await files.remove(old);
		}
		const begun = new Date(now()).toISOString();
		const manifest = await source.snapshot(database, async (snapshot) => ({
			database: database.name,
			position: snapshot.position,
			begun,
			tables:
				this.#options.for === "restore"
					? await this.#dumpStored(database, snapshot, signal)
					: await this.#dumpPublic(database, snapshot, signal),
			ended: new Date(now()).toISOString(),
		}));
		signal.throwIfAborted();
		await putJson(files, databaseFile(database.name), manifest);
		this.#done.set(database.name, manifest);
		this.#say();
	}

	#prefixesOf(database: Database): readonly string[] {
		return this.#options.for === "restore"
			? database.tables.map(({ name }) => storedPrefix(name, database))
			: this.#publicTables
					.filter((table) => tableOf(database, table) !== undefined)
					.map((table) => publicPrefix(table, database));
	}

	async #dumpStored(
		database: Database,
		snapshot: Snapshot,
		signal: AbortSignal,
	): Promise<DumpedTable[]> {
		const written: DumpedTable[] = [];
		for (const table of database.tables) {
			const rows = rowsOf(snapshot, table, (rows, characters) =>
				this.#read(rows, characters, signal),
			);
			written.push(
				await writeLines(
					this.#lineFiles(),
					{ name: table.name, prefix: storedPrefix(table.name, database) },
					storedLines(table, rows),
				),
			);
		}
		return written;
	}

	async #dumpPublic(
		database: Database,
		snapshot: Snapshot,
		signal: AbortSignal,
	): Promise<DumpedTable[]> {
		const written: DumpedTable[] = [];
		for (const each of this.#publicTables) {
			const table = tableOf(database, each);
			if (table === undefined) continue;
			const rows = rowsOf(snapshot, table, (rows, characters) =>
				this.#read(rows, characters, signal),
			);
			written.push(
				await writeLines(
					this.#lineFiles(),
					{ name: each.name, prefix: publicPrefix(each, database) },
					publicLines(each, database, this.#objects, rows),
				),
			);
		}
		return written;
	}

	#lineFiles() {
		const { files, cipher, fileBytes } = this.#options;
		return {
			files,
			cipher,
			...(fileBytes !== undefined && { fileBytes }),
			onBytes: (bytes: number) => {
				this.#bytes += bytes;
			},
		};
	}

	async #read(rows: number, bytes: number, signal: AbortSignal): Promise<void> {
		signal.throwIfAborted();
		this.#rows += rows;
		this.#say();
		await this.#pace.take(rows, bytes, signal);
	}

	#say(): void {
		const { databases, onProgress } = this.#options;
		if (onProgress === undefined) return;
		const own = this.#done.size - this.#before;
		const seconds = (performance.now() - this.#began) / 1_000;
		const left = databases.length - this.#done.size;
		onProgress({
			databases: { done: this.#done.size, total: databases.length },
			rows: this.#rows,
			bytes: this.#bytes,
			secondsLeft: own === 0 ? null : (seconds / own) * left,
			waitsFor: this.#pace.reason,
		});
	}

	/** How far the replicas are behind now. */
	async #look(): Promise<void> {
		if (this.#isLooking) return;
		this.#isLooking = true;
		try {
			const { source, maxLagSeconds, onLate } = this.#options;
			let late: string | null = null;
			for (const [server, seconds] of await source.lags()) {
				if (seconds === null) continue;
				this.maxLagSeconds = Math.max(this.maxLagSeconds ?? 0, seconds);
				if (seconds <= maxLagSeconds) continue;
				late ??= server;
				if (this.#pace.reason !== `lag of ${server}`) onLate?.(server, seconds);
			}
			this.#pace.setLate(this, late);
			if (late !== null) this.#say();
		} catch {
			// What keeps it from answering ends the reads too.
		} finally {
			this.#isLooking = false;
		}
	}
}

/** Where the rows of a table are, in a dump to restore. */
function storedPrefix(table: string, { name }: Pick<Database, "name">): string {
	return `table=${table}/database=${name}`;
}
