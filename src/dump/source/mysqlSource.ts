import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import {
	databaseOf,
	HOST_DATABASE,
	HOST_OUTBOX,
	tableIn,
} from "../../storage/mysql/ddl.ts";
import {
	Host,
	type HostLimits,
	type MysqlSession,
} from "../../storage/mysql/driver/host.ts";
import { readReplication } from "../../storage/mysql/inspectHosts.ts";
import { addressOf } from "../../storage/mysql/serverAddress.ts";
import { OUTBOX, type Table } from "../../storage/statements/tables.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import type { Environment } from "../../topology/secret.ts";
import { deadlineIn, withDeadline } from "../../util/deadline.ts";
import type { Database } from "../databases.ts";
import type { DumpPosition } from "../manifest.ts";
import type { DumpSource, Snapshot, StoredRow } from "./dumpSource.ts";
import { isAfter, orderOf, type RowSpelling, selectList } from "./rowSelect.ts";

/** The limit of one statement. Milliseconds. */
const STATEMENT_MS = 60_000;
const LIMITS: HostLimits = {
	connections: 4,
	maxWaiting: 1_000,
	connectMs: 10_000,
	readMs: STATEMENT_MS,
	// A dump that is throttled says nothing for as long as the replica is behind.
	silenceMs: 3_600_000,
};
/** The limit of the question how far replicas are behind. Milliseconds. */
const LAG_MS = 5_000;
/** How often a snapshot is opened anew because something was committed in the same moment. */
const TRIES = 400;
const PAUSE_MS = 5;
/** Objects of one statement. */
const OBJECTS = 500;

interface MysqlSourceOptions {
	readonly model: Model;
	readonly databases: readonly Database[];
	readonly environment: Environment;
	/** Whether a range without a replica is read from its primary. */
	readonly mayReadPrimaries: boolean;
}

/** The replicas of a fleet. No statement goes to a primary, unless that is allowed and a range has no replica. */
export class MysqlSource implements DumpSource {
	readonly #options: MysqlSourceOptions;
	readonly #hosts = new Map<string, Host>();
	readonly #shards: ReadonlyMap<number, Database>;

	/** Throws BAD_TOPOLOGY for a database without a replica. */
	constructor(options: MysqlSourceOptions) {
		this.#options = options;
		this.#shards = new Map(
			options.databases
				.filter(({ kind }) => kind === "db")
				.map((database) => [database.number, database]),
		);
		const alone = options.databases.filter(
			({ range }) => range.replica === undefined,
		);
		const [first] = alone;
		if (first !== undefined && !options.mayReadPrimaries) {
			const more = alone.length - 1;
			throw new CorkboardError(
				"BAD_TOPOLOGY",
				`${first.name}${more > 0 ? ` and ${more} more databases have` : " has"} no replica in the topology, and a dump reads replicas. Add one (corkboard replicas add), or allow it to read primaries with --primaries.`,
			);
		}
		for (const { range } of options.databases) this.#hostOf(range);
	}

	serverOf({ range }: Database): string {
		return this.#hostOf(range).name;
	}

	async faults(databases: readonly Database[]): Promise<readonly string[]> {
		const byHost = Map.groupBy(databases, ({ range }) => this.#hostOf(range));
		const faults = await Promise.all(
			[...byHost].map(async ([host, some]) => {
				try {
					const rows = await host.rows(
						{
							name: "databases",
							text: "SELECT schema_name FROM information_schema.schemata",
							values: [],
						},
						optionsIn(STATEMENT_MS),
					);
					const there = new Set(rows.map(([name]) => String(name)));
					const missing = some.filter(({ name }) => !there.has(name));
					return missing.length === 0
						? []
						: [
								`${host.name} shows no database ${missing[0]?.name}${missing.length > 1 ? ` and ${missing.length - 1} more` : ""}: the account may lack SELECT there (corkboard grants show), or the replica lacks it.`,
							];
				} catch (thrown) {
					return [asError(thrown, host.name).message];
				}
			}),
		);
		return faults.flat();
	}

	async snapshot<T>(
		database: Database,
		body: (snapshot: Snapshot) => Promise<T>,
	): Promise<T> {
		const host = this.#hostOf(database.range);
		try {
			return await host.session(
				{
					shard: database.number,
					deadline: { until: Number.POSITIVE_INFINITY },
					isPatient: true,
				},
				async (session) => {
					const position = await openSnapshot(session);
					return body({
						position,
						rows: (table, after, limit) =>
							readRows(session, database, table, after, limit),
					});
				},
			);
		} catch (thrown) {
			throw asError(thrown, host.name);
		}
	}

	async objects(ids: readonly Id[]): Promise<ReadonlyMap<Id, string>> {
		const { model } = this.#options;
		const texts = new Map<Id, string>();
		const byTable = Map.groupBy(ids, (id) => {
			const { shard, type } = unpackId(id);
			return `${shard} ${type}`;
		});
		await Promise.all(
			[...byTable.values()].map(async (some) => {
				const { shard, type } = unpackId(some[0] as Id);
				const database = this.#shards.get(shard);
				const table = model.objectsByNumber.get(type)?.table;
				if (database === undefined || table === undefined) return;
				const host = this.#hostOf(database.range);
				const byLocal = new Map(some.map((id) => [unpackId(id).local, id]));
				const locals = [...byLocal.keys()];
				for (let at = 0; at < locals.length; at += OBJECTS) {
					const part = locals.slice(at, at + OBJECTS);
					const rows = await host
						.rows(
							{
								name: `objects ${table}`,
								text: `SELECT local_id, data FROM ${tableIn(databaseOf("db", shard), table)} WHERE local_id IN (${part.join(", ")})`,
								values: [],
							},
							optionsIn(STATEMENT_MS),
						)
						.catch((thrown: unknown) => {
							throw asError(thrown, host.name);
						});
					for (const [local, data] of rows) {
						const id = byLocal.get(Number(local));
						if (id !== undefined) texts.set(id, String(data));
					}
				}
			}),
		);
		return texts;
	}

	async lags(): Promise<ReadonlyMap<string, number | null>> {
		const lags = await Promise.all(
			[...new Set(this.#hosts.values())].map(async (host) => {
				const lag = await readReplication(host, deadlineIn(LAG_MS)).then(
					({ lagSeconds }) => lagSeconds,
					() => null,
				);
				return [host.name, lag] as const;
			}),
		);
		return new Map(lags);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await Promise.all(
			[...this.#hosts.values()].map((host) => host[Symbol.asyncDispose]()),
		);
	}

	/** One for each server that is read. */
	#hostOf({ primary, replica }: Database["range"]): Host {
		const url = replica ?? primary;
		let host = this.#hosts.get(url);
		if (host === undefined) {
			const address = addressOf(url, this.#options.environment);
			host = new Host(address, LIMITS, true);
			this.#hosts.set(url, host);
		}
		return host;
	}
}

/**
 * A snapshot, and a set of GTIDs that it has. A transaction is visible before its
 * GTID is in the set, so the set is read first. If it is the same afterwards, the
 * snapshot has no more than this, but for one group of transactions whose commit was
 * under way. They changed different rows, because each held its locks, so a
 * reader of the binary log from the set on sets rows to what the snapshot has.
 */
async function openSnapshot(session: MysqlSession): Promise<DumpPosition> {
	const run = (name: string, text: string) =>
		inTime(session.run({ name, text, values: [] }));
	await run(
		"isolation",
		"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
	);
	for (let nth = 1; ; nth++) {
		const before = await gtidsOf(session);
		await run(
			"snapshot",
			"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
		);
		const after = await gtidsOf(session);
		if (before === after || nth === TRIES) {
			return before === "" ? { kind: "none" } : { kind: "gtid", set: before };
		}
		await run("end snapshot", "ROLLBACK");
		await sleep(Math.random() * PAUSE_MS);
	}
}

/** Empty if the server has none. */
async function gtidsOf(session: MysqlSession): Promise<string> {
	if (!session.server.hasGtids) return "";
	const [[set] = []] = await inTime(
		session.rows({
			name: "gtids",
			text: "SELECT REPLACE(@@GLOBAL.gtid_executed, '\n', '')",
			values: [],
		}),
	);
	return String(set ?? "");
}

const MYSQL: RowSpelling = {
	name: (column) => `\`${column}\``,
	selected: (column) => column,
};

async function readRows(
	session: MysqlSession,
	database: Database,
	table: Table,
	after: StoredRow | null,
	limit: number,
): Promise<readonly StoredRow[]> {
	return textsOf(
		await inTime(
			session.rows({
				name: `dump ${table.name}`,
				...selectRows(database, table, after, limit),
			}),
		),
	);
}

/** The statement that reads the next rows of a table. */
export function selectRows(
	database: Database,
	table: Table,
	after: StoredRow | null,
	limit: number,
) {
	const isOutbox = table.name === OUTBOX.name;
	const { text, values } = isAfter(table, after, MYSQL);
	const from = isOutbox
		? tableIn(HOST_DATABASE, HOST_OUTBOX.name)
		: tableIn(database.name, table.name);
	const ofShard = isOutbox ? ` AND shard = ${database.storageShard}` : "";
	return {
		text: `SELECT ${selectList(table, MYSQL)} FROM ${from} FORCE INDEX (PRIMARY)
			WHERE ${text}${ofShard} ORDER BY ${orderOf(table, MYSQL)} LIMIT ${limit}`,
		values,
	};
}

/** Names and keys come as bytes. */
export function textsOf(
	rows: readonly (readonly unknown[])[],
): readonly StoredRow[] {
	return rows.map((row) =>
		row.map((cell) =>
			cell === null || cell === undefined
				? null
				: Buffer.isBuffer(cell)
					? cell.toString("utf8")
					: String(cell),
		),
	);
}

/** The session itself has no deadline. */
function inTime<T>(answer: Promise<T>): Promise<T> {
	return withDeadline(answer, deadlineIn(STATEMENT_MS));
}

function optionsIn(ms: number) {
	return { shard: 0, deadline: deadlineIn(ms), isPatient: true } as const;
}

function asError(thrown: unknown, server: string): Error {
	if (!(thrown instanceof StorageFailure)) return thrown as Error;
	return new CorkboardError(
		"UNAVAILABLE",
		`${server}, ${thrown.statement}: ${thrown.message}`,
		{ cause: thrown },
	);
}
