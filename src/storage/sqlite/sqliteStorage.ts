import { setImmediate as nextTurn } from "node:timers/promises";
import type { CallOptions, WriteTrace } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
import type { Topology } from "../../topology/types.ts";
import {
	type HostReport,
	OUTBOX_COUNTED,
	type OutboxReport,
} from "../hostReport.ts";
import { modShard } from "../modShard.ts";
import { lastPositions, oldestFirst } from "../outboxOrder.ts";
import { checkScan, emptyCount, startCall, unknownShard } from "../portCall.ts";
import type {
	Edge,
	EdgeKey,
	FailedDelivery,
	KeyResult,
	ListCount,
	ListKey,
	ListLength,
	ListRow,
	LookupChange,
	LookupKey,
	LookupRow,
	OutboxKey,
	OutboxPosition,
	OutboxSize,
	PendingEntriesQuery,
	PendingEntry,
	Renumbering,
	RenumberingKey,
	Scan,
	ScanResult,
	Storage,
	StoredEntry,
	StoredObject,
	Transaction,
	TransactionResult,
	UntakenQuery,
} from "../storage.ts";
import { countLists } from "./countLists.ts";
import { createTables, missingTables, namesIn } from "./createTables.ts";
import { modShardTables, shardTables } from "./ddl.ts";
import type { ShardFile } from "./driver/shardFile.ts";
import { longestLists, walkLists } from "./lists.ts";
import { changeLookups, readLookups, walkLookups } from "./lookups.ts";
import { mappingStatements, readEdges, walkEdges } from "./mappings.ts";
import { objectStatements, readObjects, walkObjects } from "./objects.ts";
import {
	deleteOutboxEntries,
	outboxSize,
	pendingEntries,
	readEntry,
	recordFailedDeliveries,
	takeEntries,
	untakenEntries,
	walkOutbox,
} from "./outbox.ts";
import { readRenumberings } from "./renumberings.ts";
import { type ScanStatements, scanLists, scanStatements } from "./scan.ts";
import { mapShardFiles, onFile, readByFile, shardsIn } from "./shards.ts";
import { type Statements, transact } from "./transaction.ts";

/** Rows of one batch when iterating over a table. */
const WALK_ROWS = 1_000;

/**
 * Storage on SQLite: each shard is a file `db00000.sqlite` in the folder of its
 * range, each mod shard a file `mod00000.sqlite`. Each file counts as a host and
 * is opened when first needed. With `readOnly`, files are only read, beside
 * another process that owns the folder.
 */
export async function openSqliteStorage(
	options: SqliteOptions,
): Promise<Storage> {
	return new SqliteStorage(options);
}

interface SqliteOptions {
	readonly model: Model;
	readonly topology: Topology;
	readonly readOnly?: boolean;
}

class SqliteStorage implements Storage {
	readonly shards: readonly number[];
	readonly openShards: readonly number[];
	readonly modShards: number;
	readonly hasSingleWriter = true;
	readonly #model: Model;
	readonly #files: ReadonlyMap<number, ShardFile>;
	readonly #modFiles: ReadonlyMap<number, ShardFile>;
	readonly #statements: Statements;
	readonly #scans: ReadonlyMap<string, ScanStatements>;

	constructor({ model, topology, readOnly = false }: SqliteOptions) {
		this.#model = model;
		this.#files = mapShardFiles(topology.shards, "db", readOnly);
		this.#modFiles = mapShardFiles(topology.lookups, "mod", readOnly);
		this.shards = [...this.#files.keys()];
		this.openShards = topology.shards
			.filter(({ open }) => open)
			.flatMap(shardsIn)
			.sort((a, b) => a - b);
		this.modShards = this.#modFiles.size;
		this.#statements = {
			model,
			objects: objectStatements(model),
			mappings: mappingStatements(model),
		};
		this.#scans = new Map(
			[...model.mappings.values()].map((mapping) => [
				mapping.name,
				scanStatements(mapping),
			]),
		);
	}

	/** There are no feed databases: no other host could answer for a file. */
	get outboxShards(): readonly number[] {
		return this.shards;
	}

	shardOfLists(_: Mapping, shard: number): number {
		return shard;
	}

	isOnStandby(): boolean {
		return false;
	}

	/** A shard is a file: a transaction is of one. */
	canTransactOnBoth(): boolean {
		return false;
	}

	hostOf(shard: number): string | null {
		return this.#files.get(shard)?.location.host ?? null;
	}

	hostOfModShard(shard: number): string | null {
		return this.#modFiles.get(shard)?.location.host ?? null;
	}

	async readObjects(
		ids: readonly Id[],
		call?: CallOptions,
	): Promise<readonly KeyResult<string | null>[]> {
		startCall("readObjects", ids.length, call);
		return readByFile(
			ids,
			(id) => this.#files.get(unpackId(id).shard),
			() => null,
			(file, some) =>
				readObjects(file.reader, this.#statements.objects, some, call?.trace),
		);
	}

	async scanLists(
		scans: readonly Scan[],
		call?: CallOptions,
	): Promise<readonly KeyResult<ScanResult>[]> {
		startCall("scanLists", scans.length, call);
		scans.forEach(checkScan);
		return readByFile(
			scans,
			({ from }) => this.#files.get(unpackId(from).shard),
			({ from }) => ({
				edges: [],
				list: { from, count: 0, lastSequence: 0, epoch: 0 },
			}),
			(file, some) =>
				scanLists(
					file.reader,
					(mapping) => this.#scansOf(mapping),
					some,
					call?.trace,
				),
		);
	}

	async readEdges(
		keys: readonly EdgeKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<Edge | null>[]> {
		startCall("readEdges", keys.length, call);
		return readByFile(
			keys,
			({ from }) => this.#files.get(unpackId(from).shard),
			() => null,
			(file, some) =>
				readEdges(file.reader, this.#statements.mappings, some, call?.trace),
		);
	}

	async readRenumberings(
		keys: readonly RenumberingKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<readonly Renumbering[]>[]> {
		startCall("readRenumberings", keys.length, call);
		return readByFile(
			keys,
			({ from }) => this.#files.get(unpackId(from).shard),
			() => [],
			(file, some) => readRenumberings(file.reader, some, call?.trace),
		);
	}

	async countLists(
		lists: readonly ListKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<ListCount>[]> {
		startCall("countLists", lists.length, call);
		return readByFile<ListKey, ListCount>(
			lists,
			({ from }) => this.#files.get(unpackId(from).shard),
			emptyCount,
			(file, some) =>
				countLists(file.reader, this.#statements.mappings, some, call?.trace),
		);
	}

	async longestLists(
		mapping: Mapping,
		shards: readonly number[],
		limit: number,
	): Promise<readonly KeyResult<readonly ListLength[]>[]> {
		startCall("longestLists", shards.length);
		const owner = this.#model.objects.get(mapping.from ?? "")?.number ?? 0;
		return readByFile<number, readonly ListLength[]>(
			shards,
			(shard) => this.#files.get(shard),
			() => [],
			(file, some) =>
				some.map((shard) =>
					longestLists(file.reader, mapping, { shard, owner }, limit),
				),
		);
	}

	async readLookups(
		keys: readonly LookupKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<LookupRow | null>[]> {
		startCall("readLookups", keys.length, call);
		return readByFile(
			keys,
			({ key }) => this.#modFileOf(key),
			() => null,
			(file, some) => readLookups(file.reader, some, call?.trace),
		);
	}

	async transact<T>(
		transaction: Transaction<T>,
		trace?: WriteTrace,
	): Promise<TransactionResult<T>> {
		const { lists, objects, edges, neighbors, creates } = transaction;
		const keys = [lists, objects, edges, neighbors, creates];
		startCall(
			"transact",
			keys.reduce((sum, some) => sum + (some?.length ?? 0), 0),
		);
		if (transaction.beside !== undefined) {
			throw new TypeError("A transaction of SQLite is of one shard.");
		}
		const file = this.#fileOf(transaction.shard);
		return onFile(file, ({ writer }) =>
			transact(writer, this.#statements, transaction, trace),
		);
	}

	async compareAndSetLookups(
		changes: readonly LookupChange[],
		trace?: WriteTrace,
	): Promise<readonly KeyResult<LookupRow | null>[]> {
		startCall("compareAndSetLookups", changes.length);
		return readByFile(
			changes,
			({ key }) => this.#modFileOf(key),
			() => null,
			(file, some) => changeLookups(file.writer, some, trace),
		);
	}

	async pendingEntries(
		query: PendingEntriesQuery,
	): Promise<readonly PendingEntry[]> {
		const { olderThanMs, limit, shards = this.shards, after = [] } = query;
		startCall("pendingEntries", shards.length);
		const now = Date.now() * 1_000;
		const dueBy = query.includeDelayed ? Number.MAX_SAFE_INTEGER : now;
		const writtenBy = now - olderThanMs * 1_000;
		const positions = lastPositions(after);
		const results: readonly KeyResult<readonly PendingEntry[]>[] = readByFile(
			shards,
			(shard) => this.#files.get(shard),
			() => [],
			(file, [shard = 0]) => [
				pendingEntries(file.reader, shard, {
					now: dueBy,
					writtenBy,
					limit,
					after: positions.get(shard),
				}),
			],
		);
		return oldestFirst(
			results.flatMap((rows) => (rows instanceof CorkboardError ? [] : rows)),
		);
	}

	async untakenEntries(
		shards: readonly UntakenQuery[],
		limit: number,
	): Promise<readonly KeyResult<readonly number[]>[]> {
		startCall("untakenEntries", shards.length);
		return readByFile<UntakenQuery, readonly number[]>(
			shards,
			({ shard }) => this.#files.get(shard),
			() => [],
			(file, some) =>
				some.map(({ after }) => untakenEntries(file.reader, after, limit)),
		);
	}

	async outboxSizes(
		shards: readonly number[],
		limit: number,
	): Promise<readonly KeyResult<OutboxSize>[]> {
		startCall("outboxSizes", shards.length);
		return readByFile<number, OutboxSize>(
			shards,
			(shard) => this.#files.get(shard),
			() => ({ entries: 0, oldestAt: null }),
			(file, some) => some.map(() => outboxSize(file.reader, limit)),
		);
	}

	async readEntries(
		keys: readonly OutboxKey[],
	): Promise<readonly KeyResult<StoredEntry | null>[]> {
		startCall("readEntries", keys.length);
		return readByFile<OutboxKey, StoredEntry | null>(
			keys,
			({ shard }) => this.#files.get(shard),
			() => null,
			(file, some) => some.map((key) => readEntry(file.reader, key)),
		);
	}

	async deleteOutboxEntries(
		keys: readonly OutboxKey[],
		trace?: WriteTrace,
	): Promise<void> {
		startCall("deleteOutboxEntries", keys.length);
		this.#writeByShard(keys, (file, some) =>
			deleteOutboxEntries(
				file.writer,
				some.map(({ local }) => local),
				trace,
			),
		);
	}

	async takeEntries(
		entries: readonly OutboxPosition[],
		until: number,
		trace?: WriteTrace,
	): Promise<readonly OutboxKey[]> {
		startCall("takeEntries", entries.length);
		const results = readByFile<OutboxPosition, OutboxKey | null>(
			entries,
			({ shard }) => this.#fileOf(shard),
			() => null,
			(file, some) => takeEntries(file.writer, some, until, trace),
		);
		return results.flatMap((key) =>
			key === null || key instanceof CorkboardError ? [] : [key],
		);
	}

	async recordFailedDeliveries(
		failures: readonly FailedDelivery[],
		trace?: WriteTrace,
	): Promise<void> {
		startCall("recordFailedDeliveries", failures.length);
		this.#writeByShard(failures, (file, some) =>
			recordFailedDeliveries(file.writer, some, trace),
		);
	}

	/** One folder is one host here: its files are looked at together. */
	async inspectHosts(): Promise<readonly HostReport[]> {
		const start = performance.now();
		const report = {
			host: "embedded",
			role: "primary",
			shards: this.shards,
			modShards: [...this.#modFiles.keys()],
			version: null,
			isReadOnly: false,
			server: null,
			isSilent: false,
			clock: null,
			replication: null,
		} as const;
		try {
			const missing = await this.missingTables();
			const ms = performance.now() - start;
			const outbox = missing.length > 0 ? null : await this.#outboxReport();
			return [{ ...report, error: null, ms, outbox, missingTables: missing }];
		} catch (thrown) {
			if (!(thrown instanceof CorkboardError)) throw thrown;
			const error = String(thrown.details.reason ?? thrown.message);
			return [
				{ ...report, error, ms: null, outbox: null, missingTables: null },
			];
		}
	}

	async #outboxReport(): Promise<OutboxReport> {
		const entries = await this.pendingEntries({
			olderThanMs: 0,
			limit: OUTBOX_COUNTED,
			includeDelayed: true,
		});
		const oldest = Math.min(...entries.map(({ writtenAt }) => writtenAt));
		return {
			pending: entries.length,
			oldestSeconds:
				entries.length === 0
					? 0
					: Math.max(0, Math.round(Date.now() / 1_000 - oldest / 1e6)),
		};
	}

	async missingTables(shards?: readonly number[]): Promise<readonly string[]> {
		const tables = shardTables(this.#model);
		const modTables = modShardTables();
		const files = [...this.#files].flatMap(([shard, file]) =>
			shards === undefined || shards.includes(shard) ? [file] : [],
		);
		const modFiles = shards === undefined ? [...this.#modFiles.values()] : [];
		startCall("missingTables", files.length + modFiles.length);
		return [
			...files.flatMap((file) =>
				onFile(file, () => missingTables(file, tables)),
			),
			...modFiles.flatMap((file) =>
				onFile(file, () => missingTables(file, modTables)),
			),
		];
	}

	tables(): readonly string[] {
		const tables = shardTables(this.#model);
		const modTables = modShardTables();
		return [
			...[...this.#files.values()].flatMap((file) => namesIn(file, tables)),
			...[...this.#modFiles.values()].flatMap((file) =>
				namesIn(file, modTables),
			),
		];
	}

	async createTables(
		progress?: (done: number, total: number) => void,
		firstIds?: ReadonlyMap<string, number>,
	): Promise<void> {
		const tables = shardTables(this.#model);
		const modTables = modShardTables();
		const files = [
			...[...this.#files.values()].map((file) => ({ file, tables })),
			...[...this.#modFiles.values()].map((file) => ({
				file,
				tables: modTables,
			})),
		];
		startCall("createTables", files.length);
		let done = 0;
		for (const { file, tables } of files) {
			onFile(file, () => createTables(file, tables, firstIds));
			done += 1;
			progress?.(done, files.length);
			await nextTurn();
		}
	}

	walkObjects(
		shard: number,
		type: string,
	): AsyncIterable<readonly StoredObject[]> {
		const number = this.#model.objects.get(type)?.number ?? -1;
		const statements = this.#statements.objects.get(number);
		if (statements === undefined) {
			throw new TypeError(`The model has no type ${type}.`);
		}
		const file = this.#fileOf(shard);
		return walk<StoredObject>("walkObjects", file, (last) =>
			walkObjects(
				file.reader,
				statements,
				shard,
				last === null ? 0 : unpackId(last.id).local,
				WALK_ROWS,
			),
		);
	}

	walkEdges(
		shard: number,
		mapping: Mapping,
		after: Pick<Edge, "from" | "to"> | null = null,
	): AsyncIterable<readonly Edge[]> {
		const file = this.#fileOf(shard);
		const { mappings } = this.#statements;
		return walk<Edge>("walkEdges", file, (last) =>
			walkEdges(file.reader, mappings, mapping, last ?? after, WALK_ROWS),
		);
	}

	walkLists(
		shard: number,
		mapping: Mapping,
		after: Id | null = null,
	): AsyncIterable<readonly ListRow[]> {
		const file = this.#fileOf(shard);
		return walk<ListRow>("walkLists", file, (last) =>
			walkLists(file.reader, mapping, last?.from ?? after, WALK_ROWS),
		);
	}

	walkOutbox(shard: number): AsyncIterable<readonly PendingEntry[]> {
		const file = this.#fileOf(shard);
		return walk<PendingEntry>("walkOutbox", file, (last) =>
			walkOutbox(file.reader, shard, last?.local ?? 0, WALK_ROWS),
		);
	}

	walkLookups(shard: number): AsyncIterable<readonly LookupRow[]> {
		const file = this.#modFiles.get(shard);
		if (file === undefined) throw unknownShard("mod shard", shard);
		return walk<LookupRow>("walkLookups", file, (last) =>
			walkLookups(file.reader, last, WALK_ROWS),
		);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const file of [...this.#files.values(), ...this.#modFiles.values()]) {
			file[Symbol.dispose]();
		}
	}

	/** Write to the file of each key's shard; throws after all were tried. */
	#writeByShard<Key extends OutboxKey>(
		keys: readonly Key[],
		write: (file: ShardFile, some: readonly Key[]) => void,
	): void {
		const results = readByFile(
			keys,
			({ shard }) => this.#fileOf(shard),
			() => null,
			(file, some) => {
				write(file, some);
				return some.map(() => null);
			},
		);
		const failed = results.find((result) => result instanceof CorkboardError);
		if (failed) throw failed;
	}

	#fileOf(shard: number): ShardFile {
		const file = this.#files.get(shard);
		if (file === undefined) throw unknownShard("shard", shard);
		return file;
	}

	#modFileOf(key: string): ShardFile | undefined {
		return this.#modFiles.get(modShard(key, this.modShards));
	}

	#scansOf(mapping: Mapping): ScanStatements {
		const found = this.#scans.get(mapping.name);
		if (found === undefined) {
			throw new TypeError(`The model has no mapping ${mapping.name}.`);
		}
		return found;
	}
}

/** Reads batch after batch until one is not full, and lets the event loop serve others after each. */
async function* walk<Row>(
	verb: string,
	file: ShardFile,
	next: (last: Row | null) => readonly Row[],
): AsyncGenerator<readonly Row[]> {
	let last: Row | null = null;
	startCall(verb, 1);
	for (;;) {
		const from: Row | null = last;
		const rows: readonly Row[] = onFile(file, () => next(from));
		if (rows.length > 0) yield rows;
		if (rows.length < WALK_ROWS) return;
		last = rows.at(-1) ?? null;
		await nextTurn();
	}
}
