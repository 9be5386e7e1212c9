import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { Databases, toShardError } from "../../storage/mysql/databases.ts";
import { MYSQL } from "../../storage/mysql/dialect.ts";
import type { HostWriteGuard } from "../../storage/mysql/driver/commitProtocol.ts";
import type { Host, HostLimits } from "../../storage/mysql/driver/host.ts";
import type { Result } from "../../storage/mysql/driver/mysql2Connection.ts";
import type { QueryOptions } from "../../storage/mysql/driver/queryOptions.ts";
import { isOfOneDatabase } from "../../storage/mysql/driver/toStorageFailure.ts";
import type { Shard } from "../../storage/mysql/shards.ts";
import { SharedHosts } from "../../storage/mysql/sharedHosts.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import type { Environment } from "../../topology/secret.ts";
import type { HostRange } from "../../topology/types.ts";
import { deadlineIn } from "../../util/deadline.ts";
import type { Sources } from "../sources.ts";
import { MergedPushes, type ShardBatch } from "./mergedPushes.ts";
import { unknownPoolShard } from "./portChecks.ts";
import { pushOf, table } from "./pushStatements.ts";
import { type PoolDialect, PoolStatements } from "./statements.ts";
import {
	type OpenedPools,
	type PoolDriver,
	StoredPools,
} from "./storedPools.ts";
import { POOL_TABLES } from "./tables.ts";

interface MysqlPoolLimits extends HostLimits {
	/** Time for a write, with all its waits and retries. Milliseconds. */
	readonly writeMs: number;
	/** How long a call waits for a shard that its host takes no writes to, or does not have: it may be on its way to another. Milliseconds. */
	readonly movingMs: number;
}

/** Between two tries on a shard that may be on its way to another host. Milliseconds. */
const AGAIN_MS = 50;

export const MYSQL_POOL_LIMITS: MysqlPoolLimits = {
	connections: 6,
	maxWaiting: 1_000,
	connectMs: 4_000,
	readMs: 4_000,
	writeMs: 5_000,
	movingMs: 2_000,
	silenceMs: 8_000,
};

interface MysqlPoolOptions {
	readonly pools: readonly HostRange[];
	/** The version of the topology that says so (default 0: nobody asks). */
	readonly version?: number;
	readonly limits?: Partial<MysqlPoolLimits>;
	/** For URLs that name variables (default: that of the process). */
	readonly environment?: Environment;
	/** Those of the app; without them only tables and visits can be asked for. */
	readonly sources?: Sources | undefined;
	/** Asked before each write to a host. */
	readonly writeGuard?: HostWriteGuard | null;
	/** Called when `oldestVersion` may have risen. */
	readonly onRetired?: (() => void) | undefined;
}

/**
 * Pools in MySQL 8.0.19 and MariaDB 10.11, or later: each pool shard is a database
 * `pool00000` on the host its range names. Nothing is opened before it is needed.
 * The connections are the pools' own.
 */
export function openMysqlPools(options: MysqlPoolOptions): OpenedPools {
	return new StoredPools(new MysqlPools(options), options.sources);
}

/*
 * Deadlocks are rare, and such a write is done again. Sessions are READ COMMITTED,
 * and whatever writes to a pool locks the user's row of `visits` first, several of
 * them in the order of their ids, shard after shard: pushes for sharing, everything
 * else alone. Pushes of different items do not wait for each other: workers push to
 * the same users all the time, and with exclusive locks they took turns. What takes
 * or removes entries of a pool waits for pushes, and they for it.
 * Without these locks two inserters of one picture, whose entry somebody has just deleted,
 * would both be given the gap that it leaves, and neither could insert. That is left
 * for two pushes of one picture right after it was removed, and for this: to look for
 * duplicates the server locks the entry after a deleted one as well, which may be the
 * next user's. A user without a row of visits gets items by calls for one user alone.
 */

/** Long lists are literals, which the port has checked: the client's escaping costs more than the rest of them. */
const DIALECT: PoolDialect = {
	insertAbsent: "INSERT IGNORE INTO",
	index: (name) => `FORCE INDEX (${name})`,
	id: MYSQL.id,
	isOneOf: MYSQL.isOneOf,
	rows: (user, state, entries, now) => ({
		text: `VALUES ${entries
			.map(
				({ source, score, item, origin, via }) =>
					`(${user}, ${state}, ${source}, ${score}, ${item}, ${origin}, ${via}, ${now})`,
			)
			.join(", ")}`,
		values: [],
	}),
	part: (select) => `(${select})`,
	otherwise: () => "ON DUPLICATE KEY UPDATE",
	given: (column) => `VALUES(${column})`,
	greatest: "GREATEST",
	/** The table is read through a derived one, since MySQL deletes from none that a subquery reads. A delete across databases takes no alias. */
	trimWaiting: (pool, user, source, keep) => ({
		name: "trim waiting",
		text: `DELETE ${pool} FROM ${pool} JOIN (
				SELECT item_id, score FROM ${pool}
				WHERE user_id = ${user} AND state = 0 AND source = ${source}
				ORDER BY score DESC, item_id DESC LIMIT 100000 OFFSET ${keep}) worst
			ON ${pool}.user_id = ${user} AND ${pool}.state = 0
				AND ${pool}.source = ${source}
				AND ${pool}.score = worst.score AND ${pool}.item_id = worst.item_id`,
		values: [],
	}),
};

interface PoolShard extends Shard {
	readonly statements: PoolStatements;
	readonly pushes: MergedPushes;
}

class MysqlPools implements PoolDriver {
	readonly #databases: Databases<PoolShard, HostRange>;
	readonly #limits: MysqlPoolLimits;

	constructor({
		pools,
		version = 0,
		limits,
		environment = process.env,
		writeGuard = null,
		onRetired,
	}: MysqlPoolOptions) {
		this.#limits = { ...MYSQL_POOL_LIMITS, ...limits };
		const pushes = new WeakMap<Host, MergedPushes>();
		this.#databases = new Databases(
			{
				kind: "pool",
				hosts: new SharedHosts(this.#limits, false, environment, writeGuard),
				of: (one) => {
					const { host } = one;
					const merged =
						pushes.get(host) ??
						new MergedPushes((batches) => this.#write(host, batches));
					pushes.set(host, merged);
					const statements = new PoolStatements(DIALECT, (name) =>
						table(one, name),
					);
					return { ...one, statements, pushes: merged };
				},
				unknown: unknownPoolShard,
				readMs: this.#limits.readMs,
				onRetired,
			},
			pools,
			version,
		);
	}

	get shards(): readonly number[] {
		return this.#databases.numbers;
	}

	get oldestVersion(): number {
		return this.#databases.oldestVersion;
	}

	/** The number of pools never changes: a topology without them is mistaken. */
	switchTo(ranges: readonly HostRange[], version: number): void {
		if (ranges.length > 0) this.#databases.switchTo(ranges, version);
	}

	readonly rows: PoolDriver["rows"] = (shard, sqlOf) =>
		this.#on(shard, async ({ host, statements }) => {
			const sql = sqlOf(statements);
			return sql === null ? [] : host.rows(sql, this.#options(shard, "readMs"));
		});

	readonly run: PoolDriver["run"] = async (shard, sqlOf) => {
		await this.#on(shard, ({ host, statements }) =>
			host.run(sqlOf(statements), this.#options(shard, "writeMs")),
		);
	};

	readonly change: PoolDriver["change"] = (shard, user, sqlOf) =>
		this.#on(shard, async (one) => {
			const last = sqlOf(one.statements);
			if (last.length === 0) return [];
			const options = this.#options(shard, "writeMs");
			return one.host.transaction(options, async ({ rows }) => {
				await rows({
					name: "lock pool",
					text: `SELECT user_id FROM ${table(one, "visits")} WHERE user_id = ${user} FOR UPDATE`,
					values: [],
				});
				return {
					last,
					valueOf: (results) => results.map(changedRows),
					commit: true,
				};
			});
		});

	readonly push: PoolDriver["push"] = (shard, item, receivers, activeSince) =>
		this.#on(shard, ({ pushes, number, database }) =>
			pushes.add({ to: { number, database }, item, receivers, activeSince }),
		);

	/** By the statistics of InnoDB, which are some minutes old. */
	readonly stats: PoolDriver["stats"] = () =>
		this.#databases.each(async (one) => {
			try {
				const rows = await this.#databases.tables(one, [
					"table_rows",
					"data_length + index_length",
				]);
				const of = (table: string) =>
					rows.find(([name]) => String(name) === table)?.[1] ?? 0;
				return {
					shard: one.number,
					host: one.host.name,
					rows: Number(of("pool")),
					users: Number(of("visits")),
					bytes: rows.reduce((sum, [, , bytes]) => sum + Number(bytes), 0),
				};
			} catch (error) {
				if (error instanceof CorkboardError) return error;
				throw error;
			}
		});

	readonly createTables: PoolDriver["createTables"] = () =>
		this.#databases.createTables(Object.values(POOL_TABLES));

	readonly missingTables: PoolDriver["missingTables"] = () =>
		this.#databases.missingTables(Object.keys(POOL_TABLES));

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#databases[Symbol.asyncDispose]();
	}

	#options(shard: number, limit: "readMs" | "writeMs"): QueryOptions {
		return { shard, deadline: deadlineIn(this.#limits[limit]) };
	}

	/** A call on one shard. Throws what callers of the port expect. */
	async #on<T>(
		shard: number,
		body: (one: PoolShard) => Promise<T>,
	): Promise<T> {
		const until = performance.now() + this.#limits.movingMs;
		for (;;) {
			using version = this.#databases.begin();
			try {
				return await body(version.at(shard));
			} catch (thrown) {
				if (!isElsewhere(thrown) || performance.now() > until) {
					throw toShardError(thrown, "pool", shard);
				}
			}
			// While the pools of a shard switch to another host, which a newer topology names.
			await sleep(AGAIN_MS);
		}
	}

	/** If a shard cannot be written together with the others of its host, each is written by itself. */
	async #write(
		host: Host,
		batches: readonly ShardBatch[],
	): Promise<readonly (number | Error)[]> {
		const optionsOf = ({ to }: ShardBatch) =>
			this.#options(to.number, "writeMs");
		const [first] = batches;
		if (first !== undefined && batches.length > 1) {
			try {
				const results = await host.runTogether(
					(product) => batches.map((batch) => pushOf(batch, product)),
					optionsOf(first),
				);
				return batches.map((_, at) => changedRows(results[at] as Result));
			} catch (thrown) {
				if (!isOfOneShard(thrown)) throw thrown;
			}
		}
		return Promise.all(
			batches.map(async (batch) => {
				try {
					const { affectedRows } = await host.run(
						(product) => pushOf(batch, product),
						optionsOf(batch),
					);
					return affectedRows;
				} catch (thrown) {
					return thrown as Error;
				}
			}),
		);
	}
}

function changedRows(result: Result): number {
	return "affectedRows" in result ? result.affectedRows : 0;
}

/** Whether nothing was done, because the server takes no writes to that shard or does not have it. */
function isElsewhere(thrown: unknown): boolean {
	return (
		thrown instanceof StorageFailure &&
		(thrown.kind === "moved" || isOfOneDatabase(thrown))
	);
}

/** Whether the server refused a statement, perhaps because of one shard; else none of the host can be written. */
function isOfOneShard(thrown: unknown): boolean {
	return (
		isElsewhere(thrown) ||
		(thrown instanceof StorageFailure &&
			["constraint", "failed"].includes(thrown.kind))
	);
}
