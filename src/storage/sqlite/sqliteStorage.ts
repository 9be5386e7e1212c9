import { setImmediate as nextTurn } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Mapping, Model } from "../../model/types.ts";
import type { Topology } from "../../topology/types.ts";
import type { CallOptions, StatementTrace, WriteTrace } from "../../trace.ts";
import type { Driver } from "../driver.ts";
import {
	type HostReport,
	OUTBOX_COUNTED,
	type OutboxReport,
} from "../hostReport.ts";
import { startCall } from "../portCall.ts";
import { Router } from "../router.ts";
import type { Transaction, TransactionResult } from "../rows.ts";
import { type Procedure, runNow } from "../statements/batch.ts";
import type { Select, Write } from "../statements/dialect.ts";
import { outboxReport, sizeOf } from "../statements/outbox.ts";
import { SqlDriver } from "../statements/sqlDriver.ts";
import {
	MOD_SHARD_TABLES,
	OUTBOX,
	shardTables,
	type Table,
} from "../statements/tables.ts";
import type { OpenedStorage, StorageAdmin } from "../storage.ts";
import { createTables, missingTables, namesIn } from "./createTables.ts";
import { execute, SQLITE, selectFrom } from "./dialect.ts";
import type { ShardFile } from "./driver/shardFile.ts";
import type { Parameter } from "./driver/sqliteConnection.ts";
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
interface FileLocation {
	readonly number: number;
	readonly host: ShardFile;
}

/** All keys of a file are read by one call. */
const ALL = Number.POSITIVE_INFINITY;

/** Whatever is asked is done within one tick. */
class SqliteDriver
	extends SqlDriver<FileLocation, StatementTrace | undefined>
	implements Driver<FileLocation>
{
	readonly hasSingleWriter = true;
	readonly readOnly: boolean;
	readonly locations: Driver<FileLocation>["locations"];
	readonly reads: Driver<FileLocation>["reads"];
	readonly admin: StorageAdmin;

	constructor(model: Model, topology: Topology, readOnly: boolean) {
		super(model, SQLITE);
		this.readOnly = readOnly;
		this.locations = {
			shards: locationsOf(mapShardFiles(topology.shards, "db", readOnly)),
			modShards: locationsOf(mapShardFiles(topology.lookups, "mod", readOnly)),
		};
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
		location: FileLocation,
		_: FileLocation | undefined,
		transaction: Transaction<T>,
		trace: WriteTrace | undefined,
	): TransactionResult<T> {
		return transact(
			location.host.writer,
			this.model,
			location,
			transaction,
			trace,
		);
	}

	protected optionsOf(
		_: FileLocation,
		call: CallOptions = {},
		trace: StatementTrace | undefined = call.trace,
	): StatementTrace | undefined {
		return trace;
	}

	protected select<Result>(
		{ reader }: ShardFile,
		selects: readonly Select<Result>[],
		trace: StatementTrace | undefined,
	): readonly (readonly Result[])[] {
		return selects.map((select) => selectFrom(reader, select, trace));
	}

	/** In one transaction, and so with one fsync. */
	protected perform<Result>(
		{ host: { writer } }: FileLocation,
		procedure: Procedure<FileLocation, Result>,
		trace: StatementTrace | undefined,
	): Result {
		return writer.transaction(
			() => runNow(procedure, (batch) => execute(writer, batch)),
			trace,
		);
	}

	protected write(
		{ host: { writer } }: FileLocation,
		writes: readonly Write[],
		trace: StatementTrace | undefined,
	): readonly number[] {
		const runAll = () =>
			writes.map((write) => {
				const values = write.values as readonly Parameter[];
				return writer.run(write, values, trace).changes;
			});
		return writes.length === 1 ? runAll() : writer.transaction(runAll, trace);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const { host } of this.#files()) host[Symbol.dispose]();
	}

	#readsOf(model: Model): Driver<FileLocation>["reads"] {
		const scans = new Map(
			[...model.mappings.values()].map((mapping) => [
				mapping.name,
				scanStatements(mapping),
			]),
		);
		const scansOf = ({ name }: Mapping) => scans.get(name) as ScanStatements;
		return {
			...this.commonReads(() => ALL),
			lists: this.readBy(ALL, {
				read: ({ reader }, some, trace) =>
					scanLists(
						reader,
						scansOf,
						some.map(({ key }) => key),
						trace,
					),
			}),
		};
	}

	#adminOf(model: Model): StorageAdmin {
		const tablesOf = (
			map: ReadonlyMap<number, FileLocation>,
			tables: readonly Table[],
			followed: Model | null,
		) =>
			[...map.values()].map(({ number, host }) => ({
				number,
				host,
				tables,
				followed,
			}));
		const ofShards = tablesOf(
			this.locations.shards,
			[...shardTables(model), OUTBOX],
			model,
		);
		const all = [
			...ofShards,
			...tablesOf(this.locations.modShards, MOD_SHARD_TABLES, null),
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
				for (const [at, { host, tables, followed }] of all.entries()) {
					onFile(host, () => createTables(host, tables, followed, firstIds));
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
			shards: [...this.locations.shards.keys()],
			modShards: [...this.locations.modShards.keys()],
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
		return outboxReport(
			[...this.locations.shards.values()].flatMap(({ number, host }) => {
				const outbox = { host: host.name, shards: [number] } as const;
				const select = sizeOf(SQLITE, { outbox, limit: OUTBOX_COUNTED });
				return onFile(host, ({ reader }) => selectFrom(reader, select));
			}),
		);
	}

	#files(): readonly FileLocation[] {
		const { shards, modShards } = this.locations;
		return [...shards.values(), ...modShards.values()];
	}
}

function locationsOf(
	files: ReadonlyMap<number, ShardFile>,
): ReadonlyMap<number, FileLocation> {
	return new Map(
		[...files].map(([number, host]) => [number, { number, host }]),
	);
}
