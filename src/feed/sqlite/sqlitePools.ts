import { existsSync, statSync } from "node:fs";
import type { Id } from "../../id/ids.ts";
import type { ShardFile } from "../../storage/sqlite/driver/shardFile.ts";
import { mapShardFiles, onFile } from "../../storage/sqlite/shards.ts";
import type { HostRange } from "../../topology/types.ts";
import {
	type KeptRows,
	MAX_PULLED,
	POOL_STATES,
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
import { SOURCE_NAMES, SOURCES, type Source } from "../sources.ts";
import { rowOf, type StoredRow, type StoredVisit } from "../storedRows.ts";
import {
	ACTIVE_USERS,
	ADD,
	BEST,
	COUNT_POOL,
	COUNT_USERS,
	CREATE_TABLES,
	DELETE_PULLED,
	DROP,
	FIND,
	FORGET,
	LIST_VIA,
	NOTE_VISIT,
	PULLED,
	PUSH,
	PUT_PULLED,
	RECORD,
	TAKE,
	TRIM_SETTLED,
	TRIM_WAITING,
	VISIT,
	WAITING,
	WITHDRAW,
} from "./statements.ts";

export interface SqlitePoolOptions {
	readonly pools: readonly HostRange[];
	readonly readOnly?: boolean;
}

/**
 * Pools in SQLite: each pool shard is a file `pool00000.sqlite`. The process that
 * owns the folder is the only one that writes.
 */
export function openSqlitePools(options: SqlitePoolOptions): Pools {
	return new SqlitePools(options);
}

class SqlitePools implements Pools {
	readonly shards: readonly number[];
	readonly #files: ReadonlyMap<number, ShardFile>;

	constructor({ pools, readOnly = false }: SqlitePoolOptions) {
		this.#files = mapShardFiles(pools, "pool", readOnly);
		this.shards = [...this.#files.keys()];
	}

	hostOf(shard: number): string | null {
		return this.#files.get(shard)?.location.host ?? null;
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
		const { source, origin, via, now } = pin;
		let rows = 0;
		for (const [shard, some] of Map.groupBy(receivers, ({ user }) =>
			this.shardOf(user),
		)) {
			rows += onFile(this.#file(shard), ({ writer }) =>
				writer.run(PUSH, [
					JSON.stringify(some.map(({ user, score }) => [user, score])),
					SOURCES[source],
					pin.pin,
					origin,
					via,
					now,
					activeSince,
				]),
			).changes;
		}
		return { rows, failed: [] };
	}

	async add(
		user: Id,
		entries: readonly PoolEntry[],
		now: number,
	): Promise<number> {
		checkEntries(entries);
		if (entries.length === 0) return 0;
		return this.#on(
			user,
			({ writer }) =>
				writer.run(ADD, [user, spell(entries), POOL_STATES.waiting, now])
					.changes,
		);
	}

	async visit(user: Id): Promise<Visit | null> {
		return this.#on(user, ({ reader }) => {
			const [visit] = reader.rows<StoredVisit>(VISIT, [user]);
			return visit === undefined ? null : { ...visit };
		});
	}

	async noteVisit(user: Id, visit: Partial<Visit>): Promise<void> {
		checkVisit(visit);
		const { visitedAt, generatedAt, asked, rebuiltAt } = visit;
		this.#on(user, ({ writer }) =>
			writer.run(NOTE_VISIT, [
				user,
				visitedAt ?? null,
				generatedAt ?? null,
				asked ?? null,
				rebuiltAt ?? null,
			]),
		);
	}

	async best(
		user: Id,
		limits: Readonly<Partial<Record<Source, number>>>,
		state: PoolState = "waiting",
	): Promise<readonly PoolRow[]> {
		return this.#on(user, ({ reader }) =>
			SOURCE_NAMES.flatMap((source) => {
				const limit = checkInteger("The limit", limits[source] ?? 0, 0);
				if (limit === 0) return [];
				return reader
					.rows<StoredRow>(BEST, [
						user,
						SOURCES[source],
						limit,
						POOL_STATES[state],
					])
					.map(rowOf);
			}),
		);
	}

	async find(
		user: Id,
		origins: readonly Id[],
	): Promise<readonly (PoolRow | null)[]> {
		checkOrigins(origins);
		return this.#on(user, ({ reader }) => {
			const rows = reader
				.rows<StoredRow>(FIND, [user, JSON.stringify(origins)])
				.map(rowOf);
			const found = new Map(rows.map((row) => [row.origin, row]));
			return origins.map((origin) => found.get(origin) ?? null);
		});
	}

	async waiting(user: Id, cap: number): Promise<number> {
		checkInteger("cap", cap, 1);
		return this.#on(user, ({ reader }) => {
			const [row] = reader.rows<{ readonly count: number }>(WAITING, [
				user,
				cap,
			]);
			return row?.count ?? 0;
		});
	}

	async listVia(
		user: Id,
		via: Id,
		state: PoolState,
		limit: number,
	): Promise<readonly PoolRow[]> {
		checkInteger("limit", limit, 1);
		return this.#on(user, ({ reader }) =>
			reader
				.rows<StoredRow>(LIST_VIA, [
					user,
					POOL_STATES[state],
					checkId(via),
					limit,
				])
				.map(rowOf),
		);
	}

	async settle(
		user: Id,
		{ taken, dropped }: Settled,
		now: number,
	): Promise<void> {
		checkEntries(taken);
		checkEntries(dropped);
		if (taken.length + dropped.length === 0) return;
		this.#on(user, ({ writer }) =>
			writer.transaction(() => {
				for (const [entries, change, state] of [
					[taken, TAKE, POOL_STATES.taken],
					[dropped, DROP, POOL_STATES.dropped],
				] as const) {
					if (entries.length === 0) continue;
					const origins = entries.map(({ origin }) => origin);
					writer.run(change, [user, JSON.stringify(origins), now]);
					writer.run(RECORD, [user, spell(entries), state, now]);
				}
			}),
		);
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
		return this.#on(user, ({ writer }) =>
			writer.transaction(() => {
				const { changes } = writer.run(WITHDRAW, [
					user,
					checkId(via),
					JSON.stringify(origins),
				]);
				writer.run(ADD, [user, spell(substitutes), POOL_STATES.waiting, now]);
				return changes;
			}),
		);
	}

	async trim(
		user: Id,
		{ waitingPerSource, settledAfter }: KeptRows,
	): Promise<number> {
		checkInteger("waitingPerSource", waitingPerSource, 1);
		checkInteger("settledAfter", settledAfter, 0);
		return this.#on(user, ({ writer }) =>
			writer.transaction(() => {
				let rows = writer.run(TRIM_SETTLED, [user, settledAfter]).changes;
				for (const source of SOURCE_NAMES) {
					rows += writer.run(TRIM_WAITING, [
						user,
						SOURCES[source],
						waitingPerSource,
					]).changes;
				}
				return rows;
			}),
		);
	}

	async forget(user: Id): Promise<void> {
		this.#on(user, ({ writer }) =>
			writer.transaction(() => {
				for (const statement of FORGET) writer.run(statement, [user]);
			}),
		);
	}

	async pulled(): Promise<readonly PulledProducer[]> {
		return [...this.#files.values()]
			.flatMap((file) =>
				onFile(file, ({ reader }) =>
					reader
						.rows<PulledProducer>(PULLED, [MAX_PULLED])
						.map((row) => ({ ...row })),
				),
			)
			.slice(0, MAX_PULLED);
	}

	async putPulled(
		producer: Id,
		{
			since,
			pushedSince,
		}: { readonly since: number | null; readonly pushedSince: number },
	): Promise<void> {
		checkInteger("pushedSince", pushedSince, 0);
		this.#on(producer, ({ writer }) =>
			since === null
				? writer.run(DELETE_PULLED, [producer])
				: writer.run(PUT_PULLED, [
						producer,
						checkInteger("since", since, 0),
						pushedSince,
					]),
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
		return onFile(this.#file(shard), ({ reader }) =>
			reader
				.rows<{ readonly user: Id }>(ACTIVE_USERS, [
					after === null ? "0" : checkId(after),
					activeSince,
					limit,
				])
				.map(({ user }) => user),
		);
	}

	async stats(): Promise<readonly PoolShardStats[]> {
		return [...this.#files].map(([shard, file]) =>
			onFile(file, ({ reader }) => {
				const count = (sql: typeof COUNT_POOL) =>
					reader.rows<{ readonly count: number }>(sql, [])[0]?.count ?? 0;
				return {
					shard,
					host: file.location.host,
					rows: count(COUNT_POOL),
					users: count(COUNT_USERS),
					// What was written lately is in the log beside the file.
					bytes:
						sizeOf(file.location.path) + sizeOf(`${file.location.path}-wal`),
				};
			}),
		);
	}

	async createTables(): Promise<void> {
		for (const file of this.#files.values()) {
			onFile(file, () =>
				file.create((connection) => {
					for (const statement of CREATE_TABLES) connection.run(statement);
				}),
			);
		}
	}

	async missingTables(): Promise<readonly string[]> {
		return [...this.#files.values()].flatMap(({ location }) =>
			existsSync(location.path)
				? []
				: [`${location.host.slice(0, -".sqlite".length)}.pool`],
		);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const file of this.#files.values()) file[Symbol.dispose]();
	}

	#file(shard: number): ShardFile {
		const file = this.#files.get(shard);
		if (file === undefined) throw unknownPoolShard(shard);
		return file;
	}

	#on<T>(user: Id, body: (file: ShardFile) => T): T {
		return onFile(this.#file(this.shardOf(checkId(user))), body);
	}
}

/** Entries as the statements read them: ids as texts, because JSON's numbers have 53 bits. */
function spell(entries: readonly PoolEntry[]): string {
	return JSON.stringify(
		entries.map(({ source, score, pin, origin, via }) => [
			SOURCES[source],
			score,
			pin,
			origin,
			via,
		]),
	);
}

/** Of a file, 0 where there is none. Bytes. */
function sizeOf(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
