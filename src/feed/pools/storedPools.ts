import { CorkboardError } from "../../errors.ts";
import { type Id, parseStoredId } from "../../id/ids.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import { SOURCE_NAMES, type Source } from "../sources.ts";
import {
	type KeptRows,
	MAX_PULLED,
	type PoolEntry,
	type PoolRow,
	type PoolShardStats,
	type PoolState,
	type PoolStore,
	type PulledProducer,
	type Pushed,
	type PushedPin,
	poolShardOf,
	type Receiver,
	type Settled,
	type Visit,
} from "./pools.ts";
import {
	checkEntries,
	checkId,
	checkInteger,
	checkOrigins,
	checkPushed,
	checkVisit,
} from "./portChecks.ts";
import {
	type PoolSql,
	type PoolStatements,
	type PoolValues,
	poolRowOf,
	pulledOf,
	visitOf,
} from "./statements.ts";

/** What one database does for pools on its shards. A failure is a CorkboardError. */
export interface PoolDriver extends AsyncDisposable {
	readonly shards: readonly number[];
	/** None where there is no statement. */
	rows(
		shard: number,
		sqlOf: (statements: PoolStatements) => PoolSql | null,
	): Promise<readonly PoolValues[]>;
	/** A statement that commits by itself. */
	run(
		shard: number,
		sqlOf: (statements: PoolStatements) => PoolSql,
	): Promise<void>;
	/** Some statements in one transaction, under the lock of the user's pool; how many rows each changed. */
	change(
		shard: number,
		user: Id,
		sqlOf: (statements: PoolStatements) => readonly PoolSql[],
	): Promise<readonly number[]>;
	/** To receivers on that shard; returns how many rows are new. */
	push(
		shard: number,
		pin: PushedPin,
		receivers: readonly Receiver[],
		activeSince: number,
	): Promise<number>;
	stats(): Promise<readonly (PoolShardStats | CorkboardError)[]>;
	createTables(): Promise<void>;
	missingTables(): Promise<readonly string[]>;
	/** New calls go there. */
	switchTo(ranges: readonly HostRange[], version: number): void;
	readonly oldestVersion: number;
}

/** Pools as they are opened: the hosts of their shards can change while they are used. */
export interface OpenedPools extends PoolStore {
	/** New calls go to the hosts of a newer topology; a call ends on the version that it began with. */
	switchTopology(topology: Topology): void;
	/** The oldest version on which a call still runs. */
	readonly oldestVersion: number;
}

/**
 * Pools on a database. The numbers that statements get are checked here, because
 * they ignore rows that break a rule: a value that does not fit must not be taken
 * for a picture that is known already.
 */
export class StoredPools implements OpenedPools {
	readonly #driver: PoolDriver;

	constructor(driver: PoolDriver) {
		this.#driver = driver;
	}

	get shards(): readonly number[] {
		return this.#driver.shards;
	}

	get oldestVersion(): number {
		return this.#driver.oldestVersion;
	}

	switchTopology({ pools = [], version }: Topology): void {
		this.#driver.switchTo(pools, version);
	}

	async push(
		pin: PushedPin,
		receivers: readonly Receiver[],
		activeSince: number,
	): Promise<Pushed> {
		checkPushed(pin, receivers, activeSince);
		const groups = Map.groupBy(receivers, ({ user }) => this.#shardOf(user));
		const failed: { shard: number; error: CorkboardError }[] = [];
		const counts = await Promise.all(
			[...groups].map(async ([shard, some]) => {
				try {
					return await this.#driver.push(shard, pin, some, activeSince);
				} catch (error) {
					if (!(error instanceof CorkboardError)) throw error;
					failed.push({ shard, error });
					return 0;
				}
			}),
		);
		return { rows: sumOf(counts), failed };
	}

	async add(
		user: Id,
		entries: readonly PoolEntry[],
		now: number,
	): Promise<number> {
		checkEntries(entries);
		checkInteger("now", now, 0);
		const [added = 0] = await this.#change(user, (statements) => [
			statements.insert(user, entries, "waiting", now),
		]);
		return added;
	}

	async visit(user: Id): Promise<Visit | null> {
		const [row] = await this.#rows(user, (statements) =>
			statements.visit(user),
		);
		return row === undefined ? null : visitOf(row);
	}

	async noteVisit(user: Id, visit: Partial<Visit>): Promise<void> {
		checkVisit(visit);
		await this.#driver.run(this.#shardOf(checkId(user)), (statements) =>
			statements.noteVisit(user, visit),
		);
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
			statements.find(user, origins),
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
		checkId(via);
		checkOrigins(origins);
		checkEntries(substitutes);
		checkInteger("now", now, 0);
		const [gone = 0] = await this.#change(user, (statements) => [
			statements.withdraw(user, via, origins),
			statements.insert(user, substitutes, "waiting", now),
		]);
		return origins.length === 0 ? 0 : gone;
	}

	async trim(
		user: Id,
		{ waitingPerSource, settledAfter }: KeptRows,
	): Promise<number> {
		checkInteger("waitingPerSource", waitingPerSource, 1);
		checkInteger("settledAfter", settledAfter, 0);
		const counts = await this.#change(user, (statements) => [
			statements.trimSettled(user, settledAfter),
			...SOURCE_NAMES.map((source) =>
				statements.trimWaiting(user, source, waitingPerSource),
			),
		]);
		return sumOf(counts);
	}

	async forget(user: Id): Promise<void> {
		await this.#change(user, (statements) => statements.forget(user));
	}

	async pulled(): Promise<readonly PulledProducer[]> {
		const all = await Promise.all(
			this.shards.map((shard) =>
				this.#driver.rows(shard, (statements) => statements.pulled(MAX_PULLED)),
			),
		);
		return all.flat().slice(0, MAX_PULLED).map(pulledOf);
	}

	async putPulled(
		producer: Id,
		{
			since,
			pushedSince,
		}: { readonly since: number | null; readonly pushedSince: number },
	): Promise<void> {
		checkInteger("pushedSince", pushedSince, 0);
		if (since !== null) checkInteger("since", since, 0);
		await this.#driver.run(this.#shardOf(checkId(producer)), (statements) =>
			statements.putPulled(producer, since, pushedSince),
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
		const rows = await this.#driver.rows(shard, (statements) =>
			statements.activeUsers(after, activeSince, limit),
		);
		return rows.map(([user]) => parseStoredId(String(user)));
	}

	stats(): Promise<readonly (PoolShardStats | CorkboardError)[]> {
		return this.#driver.stats();
	}

	createTables(): Promise<void> {
		return this.#driver.createTables();
	}

	missingTables(): Promise<readonly string[]> {
		return this.#driver.missingTables();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#driver[Symbol.asyncDispose]();
	}

	#shardOf(user: Id): number {
		return poolShardOf(user, this.shards.length);
	}

	async #rows(
		user: Id,
		sqlOf: (statements: PoolStatements) => PoolSql | null,
	): Promise<readonly PoolValues[]> {
		return this.#driver.rows(this.#shardOf(checkId(user)), sqlOf);
	}

	/** Some statements under the lock of the user's pool; how many rows each changed. */
	async #change(
		user: Id,
		sqlOf: (statements: PoolStatements) => readonly (PoolSql | null)[],
	): Promise<readonly number[]> {
		const shard = this.#shardOf(checkId(user));
		return this.#driver.change(shard, user, (statements) =>
			sqlOf(statements).filter((sql) => sql !== null),
		);
	}
}

function sumOf(counts: readonly number[]): number {
	return counts.reduce((sum, count) => sum + count, 0);
}
