import { CorkboardError } from "../../errors.ts";
import { type Id, parseStoredId } from "../../id/ids.ts";
import type { HostWriteGuard } from "../../storage/mysql/driver/commitProtocol.ts";
import type { Host, HostLimits } from "../../storage/mysql/driver/host.ts";
import type {
	Product,
	Result,
	Row,
} from "../../storage/mysql/driver/mysql2Connection.ts";
import type { Sql } from "../../storage/mysql/driver/mysqlConnection.ts";
import type { QueryOptions } from "../../storage/mysql/driver/queryOptions.ts";
import {
	type HostLease,
	SharedHosts,
} from "../../storage/mysql/sharedHosts.ts";
import {
	StorageFailure,
	toStorageError,
} from "../../storage/storageFailure.ts";
import { shardsOf } from "../../topology/ranges.ts";
import type { Environment } from "../../topology/secret.ts";
import type { HostRange } from "../../topology/types.ts";
import { deadlineIn } from "../../util/deadline.ts";
import {
	type KeptRows,
	MAX_PULLED,
	type PoolEntry,
	type PoolRow,
	type PoolShardStats,
	type PoolState,
	type Pools,
	type PulledProducer,
	type Pushed,
	type PushedPin,
	type Receiver,
	type Settled,
	type Visit,
} from "../pools.ts";
import {
	checkEntries,
	checkId,
	checkInteger,
	checkOrigins,
	checkPushed,
	checkVisit,
	poolShardOf,
	unknownPoolShard,
} from "../portChecks.ts";
import { SOURCE_NAMES, type Source } from "../sources.ts";
import { POOL_TABLES, poolDatabase } from "./ddl.ts";
import {
	MergedPushes,
	type ShardBatch,
	type WritePushes,
} from "./mergedPushes.ts";
import { PoolStatements, poolRowOf } from "./statements.ts";

export interface MysqlPoolLimits extends HostLimits {
	/** Time for a write, with all its waits and retries. Milliseconds. */
	readonly writeMs: number;
}

export const MYSQL_POOL_LIMITS: MysqlPoolLimits = {
	connections: 6,
	maxWaiting: 1_000,
	connectMs: 1_000,
	readMs: 2_000,
	writeMs: 5_000,
	silenceMs: 8_000,
};

/** Of one statement that creates a table. Milliseconds. */
const DDL_MS = 60_000;

export interface MysqlPoolOptions {
	readonly pools: readonly HostRange[];
	readonly limits?: Partial<MysqlPoolLimits>;
	/** For URLs that name variables (default: that of the process). */
	readonly environment?: Environment;
	/** Those of `poolHosts`, shared with the pools of other versions of the topology; the limits are theirs then. Default: hosts of its own. */
	readonly hosts?: SharedHosts;
}

/** Hosts for the pools of a process, whose connections are the pools' own. */
export function poolHosts(
	limits: HostLimits = MYSQL_POOL_LIMITS,
	environment: Environment = process.env,
	guard: HostWriteGuard | null = null,
): SharedHosts {
	return new SharedHosts(limits, false, environment, guard);
}

interface PoolShard {
	readonly number: number;
	readonly database: string;
	readonly host: Host;
	readonly statements: PoolStatements;
	readonly pushes: MergedPushes;
}

/**
 * Pools in MySQL 8.0.19 and MariaDB 10.11, or later: each pool shard is a database
 * `pool00000` on the host its range names. Nothing is opened before it is needed.
 */
export function openMysqlPools(options: MysqlPoolOptions): Pools {
	return new MysqlPools(options);
}

class MysqlPools implements Pools {
	readonly shards: readonly number[];
	readonly #shards: ReadonlyMap<number, PoolShard>;
	readonly #hosts: HostLease;
	readonly #limits: MysqlPoolLimits;

	constructor({ pools, limits, environment, hosts }: MysqlPoolOptions) {
		this.#limits = { ...MYSQL_POOL_LIMITS, ...limits };
		this.#hosts = (hosts ?? poolHosts(this.#limits, environment)).lease();
		this.#shards = mapPoolShards(pools, this.#hosts, (batches) =>
			this.#push(batches),
		);
		this.shards = [...this.#shards.keys()];
	}

	hostOf(shard: number): string | null {
		return this.#shards.get(shard)?.host.name ?? null;
	}

	shardOf(user: Id): number {
		return poolShardOf(user, this.shards.length);
	}

	async push(
		pin: PushedPin,
		receivers: readonly Receiver[],
		activeSince: number,
	): Promise<Pushed> {
		checkPushed(pin, receivers, activeSince);
		const groups = Map.groupBy(receivers, ({ user }) => this.shardOf(user));
		const failed: { shard: number; error: CorkboardError }[] = [];
		const counts = await Promise.all(
			[...groups].map(async ([number, some]) => {
				try {
					const { pushes } = this.#shard(number);
					return await pushes.add({
						shard: number,
						pin,
						receivers: some,
						activeSince,
					});
				} catch (error) {
					if (!(error instanceof CorkboardError)) throw error;
					failed.push({ shard: number, error });
					return 0;
				}
			}),
		);
		return { rows: counts.reduce((sum, count) => sum + count, 0), failed };
	}

	async add(
		user: Id,
		entries: readonly PoolEntry[],
		now: number,
	): Promise<number> {
		checkEntries(entries);
		checkInteger("now", now, 0);
		return this.#change(user, (statements) => [
			statements.insert(user, entries, "waiting", now),
		]);
	}

	async visit(user: Id): Promise<Visit | null> {
		const [row] = await this.#rows(user, (statements) =>
			statements.visit(user),
		);
		if (row === undefined) return null;
		const [visitedAt, generatedAt, asked, rebuiltAt] = row.map(Number);
		return { visitedAt, generatedAt, asked, rebuiltAt } as Visit;
	}

	async noteVisit(user: Id, visit: Partial<Visit>): Promise<void> {
		checkVisit(visit);
		const number = this.shardOf(checkId(user));
		const { statements } = this.#shard(number);
		await this.#run(number, statements.noteVisit(user, visit));
	}

	async best(
		user: Id,
		limits: Readonly<Partial<Record<Source, number>>>,
		state: PoolState = "waiting",
	): Promise<readonly PoolRow[]> {
		const wanted = SOURCE_NAMES.map(
			(source) =>
				[source, checkInteger("The limit", limits[source] ?? 0, 0)] as const,
		).filter(([, limit]) => limit > 0);
		const rows = await this.#rows(user, (statements) =>
			statements.best(user, wanted, state),
		);
		// A union keeps no order.
		return rows
			.map(poolRowOf)
			.toSorted(
				(a, b) =>
					SOURCE_NAMES.indexOf(a.source) - SOURCE_NAMES.indexOf(b.source) ||
					b.score - a.score ||
					(BigInt(b.pin) > BigInt(a.pin) ? 1 : -1),
			);
	}

	async find(
		user: Id,
		origins: readonly Id[],
	): Promise<readonly (PoolRow | null)[]> {
		checkOrigins(origins);
		const rows = await this.#rows(user, (statements) =>
			origins.length === 0 ? null : statements.find(user, origins),
		);
		const found = new Map(
			rows.map(poolRowOf).map((row) => [row.origin, row] as const),
		);
		return origins.map((origin) => found.get(origin) ?? null);
	}

	async waiting(user: Id, cap: number): Promise<number> {
		checkInteger("cap", cap, 1);
		const [[count] = []] = await this.#rows(user, (statements) =>
			statements.waiting(user, cap),
		);
		return Number(count);
	}

	async listVia(
		user: Id,
		via: Id,
		state: PoolState,
		limit: number,
	): Promise<readonly PoolRow[]> {
		checkId(via);
		checkInteger("limit", limit, 1);
		const rows = await this.#rows(user, (statements) =>
			statements.listVia(user, via, state, limit),
		);
		return rows.map(poolRowOf);
	}

	async settle(
		user: Id,
		{ taken, dropped }: Settled,
		now: number,
	): Promise<void> {
		checkEntries(taken);
		checkEntries(dropped);
		checkInteger("now", now, 0);
		await this.#change(user, (statements) => [
			statements.change(user, taken, "taken", now),
			statements.insert(user, taken, "taken", now),
			statements.change(user, dropped, "dropped", now),
			statements.insert(user, dropped, "dropped", now),
		]);
	}

	async withdraw(
		user: Id,
		via: Id,
		origins: readonly Id[],
		substitutes: readonly PoolEntry[],
		now: number,
	): Promise<number> {
		checkOrigins(origins);
		checkEntries(substitutes);
		checkInteger("now", now, 0);
		let gone = 0;
		await this.#change(
			user,
			(statements) => [
				statements.withdraw(user, via, origins),
				statements.insert(user, substitutes, "waiting", now),
			],
			([first]) => {
				gone = origins.length === 0 ? 0 : (first ?? 0);
			},
		);
		return gone;
	}

	async trim(
		user: Id,
		{ waitingPerSource, settledAfter }: KeptRows,
	): Promise<number> {
		checkInteger("waitingPerSource", waitingPerSource, 1);
		checkInteger("settledAfter", settledAfter, 0);
		return this.#change(user, (statements) => [
			statements.trimSettled(user, settledAfter),
			...SOURCE_NAMES.map((source) =>
				statements.trimWaiting(user, source, waitingPerSource),
			),
		]);
	}

	async forget(user: Id): Promise<void> {
		await this.#change(user, (statements) => statements.forget(user));
	}

	async pulled(): Promise<readonly PulledProducer[]> {
		const all = await Promise.all(
			[...this.#shards.values()].map(({ number, host, statements }) =>
				this.#orError(number, () =>
					host.rows(statements.pulled(MAX_PULLED), this.#options(number)),
				),
			),
		);
		return all
			.flat()
			.slice(0, MAX_PULLED)
			.map(([producer, since, pushedSince]) => ({
				producer: parseStoredId(String(producer)),
				since: Number(since),
				pushedSince: Number(pushedSince),
			}));
	}

	async putPulled(
		producer: Id,
		{
			since,
			pushedSince,
		}: { readonly since: number | null; readonly pushedSince: number },
	): Promise<void> {
		const number = this.shardOf(checkId(producer));
		const { statements } = this.#shard(number);
		checkInteger("pushedSince", pushedSince, 0);
		await this.#run(
			number,
			since === null
				? statements.deletePulled(producer)
				: statements.putPulled(
						producer,
						checkInteger("since", since, 0),
						pushedSince,
					),
		);
	}

	async activeUsers(
		shard: number,
		{
			after,
			activeSince,
			limit,
		}: {
			readonly after: Id | null;
			readonly activeSince: number;
			readonly limit: number;
		},
	): Promise<readonly Id[]> {
		checkInteger("limit", limit, 1);
		checkInteger("activeSince", activeSince, 0);
		if (after !== null) checkId(after);
		const { host, statements } = this.#shard(shard);
		const rows = await this.#orError(shard, () =>
			host.rows(
				statements.activeUsers(after, activeSince, limit),
				this.#options(shard),
			),
		);
		return rows.map(([user]) => parseStoredId(String(user)));
	}

	/** By the statistics of InnoDB, which are some minutes old. */
	async stats(): Promise<readonly (PoolShardStats | CorkboardError)[]> {
		return Promise.all(
			[...this.#shards.values()].map(async ({ number, host }) => {
				try {
					const rows = await this.#tables(number, [
						"table_rows",
						"data_length + index_length",
					]);
					const of = (table: string) =>
						rows.find(([name]) => String(name) === table)?.[1] ?? 0;
					return {
						shard: number,
						host: host.name,
						rows: Number(of("pool")),
						users: Number(of("visits")),
						bytes: rows.reduce((sum, [, , bytes]) => sum + Number(bytes), 0),
					};
				} catch (error) {
					if (error instanceof CorkboardError) return error;
					throw error;
				}
			}),
		);
	}

	async createTables(): Promise<void> {
		await Promise.all(
			[...this.#shards.values()].map(async ({ number, database, host }) => {
				try {
					await this.#define(
						number,
						`CREATE DATABASE IF NOT EXISTS \`${database}\``,
					);
					for (const create of Object.values(POOL_TABLES)) {
						await this.#define(number, create(database));
					}
				} catch (thrown) {
					if (!(thrown instanceof StorageFailure)) throw thrown;
					throw new CorkboardError(
						thrown.kind === "unsupported" ? "BAD_CONFIG" : "UNAVAILABLE",
						`${host.name} could not create the tables of the pools: ${thrown.message}`,
						{ cause: thrown },
					);
				}
			}),
		);
	}

	async missingTables(): Promise<readonly string[]> {
		const missing = await Promise.all(
			[...this.#shards.values()].map(async ({ number, database }) => {
				const rows = await this.#tables(number, []);
				const there = new Set(rows.map(([name]) => String(name)));
				return Object.keys(POOL_TABLES)
					.filter((name) => !there.has(name))
					.map((name) => `${database}.${name}`);
			}),
		);
		return missing.flat();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#hosts[Symbol.asyncDispose]();
	}

	#shard(shard: number): PoolShard {
		const found = this.#shards.get(shard);
		if (found === undefined) throw unknownPoolShard(shard);
		return found;
	}

	#options(shard: number, ms: number = this.#limits.readMs): QueryOptions {
		return { shard, deadline: deadlineIn(ms) };
	}

	async #rows(
		user: Id,
		statementOf: (statements: PoolStatements) => Sql | null,
	): Promise<readonly Row[]> {
		const number = this.shardOf(checkId(user));
		const { host, statements } = this.#shard(number);
		const sql = statementOf(statements);
		if (sql === null) return [];
		return this.#orError(number, () => host.rows(sql, this.#options(number)));
	}

	/** One statement that commits by itself; the number of rows it changed. */
	#run(number: number, sql: Sql): Promise<number> {
		const { host } = this.#shard(number);
		return this.#orError(number, async () => {
			const options = this.#options(number, this.#limits.writeMs);
			return (await host.run(sql, options)).affectedRows;
		});
	}

	/** Where a shard cannot be written together with the others of its host, each is written by itself. */
	async #push(
		batches: readonly ShardBatch[],
	): Promise<readonly (number | Error)[]> {
		const [first] = batches;
		if (first === undefined) return [];
		const { host } = this.#shard(first.shard);
		const options = this.#options(first.shard, this.#limits.writeMs);
		const sqlOf = ({ shard, pushes }: ShardBatch, product: Product) => {
			const { statements } = this.#shard(shard);
			const [only, ...others] = pushes;
			return only !== undefined && others.length === 0
				? statements.push(only)
				: statements.pushAll(pushes, product);
		};
		if (batches.length > 1) {
			try {
				const results = await host.runTogether(
					(product) => batches.map((batch) => sqlOf(batch, product)),
					options,
				);
				return batches.map((_, at) => changedRows(results[at] as Result));
			} catch (thrown) {
				if (!isOfOneShard(thrown)) {
					return this.#orError(first.shard, () => Promise.reject(thrown));
				}
			}
		}
		const results = await Promise.allSettled(
			batches.map((batch) =>
				this.#orError(batch.shard, async () => {
					const { affectedRows } = await host.run(
						(product) => sqlOf(batch, product),
						options,
					);
					return affectedRows;
				}),
			),
		);
		return results.map((result) =>
			result.status === "fulfilled" ? result.value : (result.reason as Error),
		);
	}

	/** Some statements under the lock of the user's pool; how many rows they changed in all. */
	async #change(
		user: Id,
		statementsOf: (statements: PoolStatements) => readonly (Sql | null)[],
		counted: (counts: readonly number[]) => void = () => {},
	): Promise<number> {
		const number = this.shardOf(checkId(user));
		const { host, statements } = this.#shard(number);
		const changes = statementsOf(statements).filter((sql) => sql !== null);
		if (changes.length === 0) return 0;
		const options = this.#options(number, this.#limits.writeMs);
		const counts = await this.#orError(number, () =>
			host.transaction(options, async ({ rows }) => {
				await rows(statements.lock(user));
				return {
					last: changes,
					valueOf: (results: readonly Result[]) => results.map(changedRows),
					commit: true,
				};
			}),
		);
		counted(counts);
		return counts.reduce((sum, count) => sum + count, 0);
	}

	/** Name, then the columns, of each table of a shard. */
	#tables(number: number, columns: readonly string[]): Promise<readonly Row[]> {
		const { host, database } = this.#shard(number);
		return this.#orError(number, () =>
			host.rows(
				{
					name: "tables",
					text: `SELECT ${["table_name", ...columns].join(", ")}
						FROM information_schema.tables WHERE table_schema = ?`,
					values: [database],
				},
				this.#options(number),
			),
		);
	}

	async #define(shard: number, text: string): Promise<void> {
		const { host } = this.#shard(shard);
		const options = { ...this.#options(shard, DDL_MS), isPatient: true };
		const [verb = "", object = ""] = text.split(" ");
		const name = `${verb} ${object}`.toLowerCase();
		await host.transaction(options, async ({ run }) => {
			await run({ name, text, values: [] });
			return { value: null, commit: false };
		});
	}

	/** Throws what callers of the port expect. */
	async #orError<T>(shard: number, body: () => Promise<T>): Promise<T> {
		try {
			return await body();
		} catch (thrown) {
			if (!(thrown instanceof StorageFailure)) throw thrown;
			const { message, details } = toStorageError(thrown, shard);
			throw new CorkboardError(
				"UNAVAILABLE",
				message.replace(/^Shard/, "Pool shard"),
				{ cause: thrown, details },
			);
		}
	}
}

function changedRows(result: Result): number {
	return "affectedRows" in result ? result.affectedRows : 0;
}

/** Whether the server refused a statement, perhaps because of one shard; else none of the host can be written. */
function isOfOneShard(thrown: unknown): boolean {
	return (
		thrown instanceof StorageFailure &&
		["moved", "constraint", "failed"].includes(thrown.kind)
	);
}

/** Ranges with the same URL share one host. */
function mapPoolShards(
	pools: readonly HostRange[],
	hosts: HostLease,
	write: WritePushes,
): ReadonlyMap<number, PoolShard> {
	const pushes = new Map<Host, MergedPushes>();
	const pushesOf = (host: Host) => {
		const made = pushes.get(host) ?? new MergedPushes(write);
		pushes.set(host, made);
		return made;
	};
	const shards = pools.flatMap((range) =>
		shardsOf([range]).map((number): PoolShard => {
			const database = poolDatabase(number);
			const host = hosts.at(range.primary);
			return {
				number,
				database,
				host,
				statements: new PoolStatements(database),
				pushes: pushesOf(host),
			};
		}),
	);
	return new Map(
		shards
			.toSorted((a, b) => a.number - b.number)
			.map((shard) => [shard.number, shard]),
	);
}
