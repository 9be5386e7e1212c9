import { setImmediate as nextTurn } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Mapping, Model } from "../../model/types.ts";
import type { Topology } from "../../topology/types.ts";
import type { WriteTrace } from "../../trace.ts";
import type { Driver, HostRead, KeyAt, PendingQuery } from "../driver.ts";
import {
	type HostReport,
	OUTBOX_COUNTED,
	type OutboxReport,
} from "../hostReport.ts";
import { startCall } from "../portCall.ts";
import { Router } from "../router.ts";
import { runNow } from "../statements/batch.ts";
import { changeLookups } from "../statements/lookups.ts";
import { type CommonKind, pendingEntries } from "../statements/reads.ts";
import {
	MOD_SHARD_TABLES,
	shardTables,
	type Table,
} from "../statements/tables.ts";
import { WALKS } from "../statements/walks.ts";
import type {
	FailedDelivery,
	LookupChange,
	LookupRow,
	OpenedStorage,
	OutboxKey,
	OutboxPosition,
	PendingEntry,
	ReadKey,
	ReadKind,
	ReadResult,
	StorageAdmin,
	Transaction,
	TransactionResult,
	WalkKind,
	WalkOf,
	WalkRow,
} from "../storage.ts";
import { createTables, missingTables, namesIn } from "./createTables.ts";
import { execute, readCommon, SQLITE, selectFrom } from "./dialect.ts";
import type { ShardFile } from "./driver/shardFile.ts";
import type { SqliteConnection } from "./driver/sqliteConnection.ts";
import {
	deleteOutboxEntries,
	recordFailedDeliveries,
	takeEntries,
} from "./outbox.ts";
import { type ScanStatements, scanLists, scanStatements } from "./scan.ts";
import { mapShardFiles, onFile } from "./shards.ts";
import { transact } from "./transaction.ts";

/**
 * Storage on SQLite: each shard is a file `db00000.sqlite` in the folder of its
 * range, each mod shard a file `mod00000.sqlite`. Each file counts as a host and
 * is opened when first needed. With `readOnly`, files are only read, beside
 * another process that owns the folder.
 */
export async function openSqliteStorage({
	model,
	topology,
	readOnly = false,
}: SqliteOptions): Promise<OpenedStorage> {
	return new Router(
		model,
		topology,
		new SqliteDriver(model, topology, readOnly),
	);
}

interface SqliteOptions {
	readonly model: Model;
	readonly topology: Topology;
	readonly readOnly?: boolean;
}

/** A shard is a file, and a host of its own. */
interface FilePlace {
	readonly number: number;
	readonly host: ShardFile;
}

/** Whatever is asked is done within one tick. */
class SqliteDriver implements Driver<FilePlace> {
	readonly hasSingleWriter = true;
	readonly readOnly: boolean;
	readonly places: Driver<FilePlace>["places"];
	readonly reads: Driver<FilePlace>["reads"];
	readonly admin: StorageAdmin;
	readonly #model: Model;

	constructor(model: Model, topology: Topology, readOnly: boolean) {
		this.readOnly = readOnly;
		this.places = {
			shards: placesOf(mapShardFiles(topology.shards, "db", readOnly)),
			modShards: placesOf(mapShardFiles(topology.lookups, "mod", readOnly)),
		};
		this.#model = model;
		this.reads = this.#readsOf(model);
		this.admin = this.#adminOf(model);
	}

	/** There are no feed databases: no other host could answer for a file. */
	isOnStandby(): boolean {
		return false;
	}

	/** A transaction is of one file. */
	canTransactOnBoth(): boolean {
		return false;
	}

	transact<T>(
		place: FilePlace,
		_: FilePlace | undefined,
		transaction: Transaction<T>,
		trace: WriteTrace | undefined,
	): TransactionResult<T> {
		return transact(place.host.writer, this.#model, place, transaction, trace);
	}

	compareAndSetLookups(
		{ writer }: ShardFile,
		some: readonly KeyAt<LookupChange, FilePlace>[],
		trace: WriteTrace | undefined,
	): readonly (LookupRow | null)[] {
		const [first] = some;
		if (first === undefined) return [];
		const changes = changeLookups(
			SQLITE,
			this.#model,
			first.shard,
			keysOf(some),
		);
		// They share one transaction, and so one fsync.
		return writer.transaction(
			() => runNow(changes, (batch) => execute(writer, batch)),
			trace,
		);
	}

	pendingEntries(
		{ reader }: ShardFile,
		shards: readonly FilePlace[],
		query: PendingQuery,
	): readonly PendingEntry[] {
		return shards.flatMap((shard) =>
			selectFrom(reader, pendingEntries(SQLITE, shard, query)),
		);
	}

	walk<K extends WalkKind>(
		kind: K,
		place: FilePlace,
		of: WalkOf<K>,
		last: WalkRow<K> | null,
		limit: number,
	): readonly WalkRow<K>[] {
		const select = WALKS[kind](SQLITE, this.#model, place, of, last, limit);
		return selectFrom(place.host.reader, select);
	}

	takeEntries(
		{ host }: FilePlace,
		entries: readonly OutboxPosition[],
		until: number,
		trace: WriteTrace | undefined,
	): readonly OutboxKey[] {
		const taken = takeEntries(host.writer, entries, until, trace);
		return taken.filter((key) => key !== null);
	}

	recordFailedDeliveries(
		{ host }: FilePlace,
		failures: readonly FailedDelivery[],
		trace: WriteTrace | undefined,
	): void {
		recordFailedDeliveries(host.writer, failures, trace);
	}

	deleteOutboxEntries(
		{ writer }: ShardFile,
		entries: ReadonlyMap<FilePlace, readonly number[]>,
		trace: WriteTrace | undefined,
	): void {
		for (const locals of entries.values()) {
			deleteOutboxEntries(writer, locals, trace);
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const { host } of this.#files()) host[Symbol.dispose]();
	}

	#readsOf(model: Model): Driver<FilePlace>["reads"] {
		const scans = new Map(
			[...model.mappings.values()].map((mapping) => [
				mapping.name,
				scanStatements(mapping),
			]),
		);
		const scansOf = ({ name }: Mapping) => scans.get(name) as ScanStatements;
		const common = <K extends CommonKind>(name: K): HostRead<K, FilePlace> => ({
			maxKeys: Number.POSITIVE_INFINITY,
			read: ({ reader }, some, call) =>
				readCommon(name, model, reader, some, call?.trace),
		});
		return {
			objects: common("objects"),
			lists: kind((reader, some, call) =>
				scanLists(reader, scansOf, some, call?.trace),
			),
			edges: common("edges"),
			renumberings: common("renumberings"),
			counts: common("counts"),
			longestLists: common("longestLists"),
			lookups: common("lookups"),
			entries: common("entries"),
			untakenEntries: common("untakenEntries"),
			outboxSizes: common("outboxSizes"),
		};
	}

	#adminOf(model: Model): StorageAdmin {
		const tablesOf = (
			map: ReadonlyMap<number, FilePlace>,
			tables: readonly Table[],
		) =>
			[...map.values()].map(({ number, host }) => ({ number, host, tables }));
		const ofShards = tablesOf(this.places.shards, shardTables(model));
		const all = [
			...ofShards,
			...tablesOf(this.places.modShards, MOD_SHARD_TABLES),
		];
		const missing = async (shards?: readonly number[]) => {
			const some =
				shards === undefined
					? all
					: ofShards.filter(({ number }) => shards.includes(number));
			startCall("missingTables", some.length);
			return some.flatMap(({ host, tables }) =>
				onFile(host, () => missingTables(host, tables)),
			);
		};
		return {
			inspectHosts: async () => [await this.#inspect(missing)],
			settings: async () => [],
			missingTables: missing,
			tables: () => all.flatMap(({ host, tables }) => namesIn(host, tables)),
			async createTables(progress, firstIds) {
				startCall("createTables", all.length);
				for (const [at, { host, tables }] of all.entries()) {
					onFile(host, () => createTables(host, tables, firstIds));
					progress?.(at + 1, all.length);
					await nextTurn();
				}
			},
		};
	}

	/** One folder is one host here: its files are looked at together. */
	async #inspect(
		missingTables: () => Promise<readonly string[]>,
	): Promise<HostReport> {
		const start = performance.now();
		const report = {
			host: "embedded",
			role: "primary",
			shards: [...this.places.shards.keys()],
			modShards: [...this.places.modShards.keys()],
			version: null,
			isReadOnly: false,
			server: null,
			isSilent: false,
			clock: null,
			replication: null,
			settings: null,
		} as const;
		try {
			const missing = await missingTables();
			const ms = performance.now() - start;
			const outbox = missing.length > 0 ? null : this.#outboxReport();
			return { ...report, error: null, ms, outbox, missingTables: missing };
		} catch (thrown) {
			if (!(thrown instanceof CorkboardError)) throw thrown;
			const error = String(thrown.details.reason ?? thrown.message);
			return { ...report, error, ms: null, outbox: null, missingTables: null };
		}
	}

	#outboxReport(): OutboxReport {
		const model = this.#model;
		const sizes = [...this.places.shards.values()].flatMap((shard) => {
			const key = { shard: shard.number, limit: OUTBOX_COUNTED };
			return onFile(shard.host, ({ reader }) =>
				readCommon("outboxSizes", model, reader, [{ key, shard }]),
			);
		});
		const oldest = Math.min(
			...sizes.flatMap(({ oldestAt }) => (oldestAt === null ? [] : oldestAt)),
		);
		const pending = sizes.reduce((sum, { entries }) => sum + entries, 0);
		return {
			pending,
			oldestSeconds:
				pending === 0
					? 0
					: Math.max(0, Math.round(Date.now() / 1_000 - oldest / 1e6)),
		};
	}

	#files(): readonly FilePlace[] {
		const { shards, modShards } = this.places;
		return [...shards.values(), ...modShards.values()];
	}
}

function placesOf(
	files: ReadonlyMap<number, ShardFile>,
): ReadonlyMap<number, FilePlace> {
	return new Map(
		[...files].map(([number, host]) => [number, { number, host }]),
	);
}

/** All keys of a file are read by one call. */
function kind<K extends ReadKind>(
	read: (
		reader: SqliteConnection,
		keys: readonly ReadKey<K>[],
		call: Parameters<HostRead<K, FilePlace>["read"]>[2],
	) => readonly ReadResult<K>[],
): HostRead<K, FilePlace> {
	return {
		maxKeys: Number.POSITIVE_INFINITY,
		read: ({ reader }, some, call) => read(reader, keysOf(some), call),
	};
}

function keysOf<Key>(some: readonly KeyAt<Key, FilePlace>[]): readonly Key[] {
	return some.map(({ key }) => key);
}
