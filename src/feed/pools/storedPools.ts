import { CorkboardError } from "../../errors.ts";
import { type Id, parseStoredId } from "../../id/ids.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import { type Source, Sources } from "../sources.ts";
import {
	MAX_PULLED,
	type PoolAdmin,
	type PoolRow,
	type PoolStore,
	poolShardOf,
	type Receiver,
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
	pulledOf,
	type StoredPush,
	storedRowOf,
	visitOf,
} from "./statements.ts";

/** What one database does for pools on its shards. A failure is a CorkboardError. */
export interface PoolDriver
	extends Pick<PoolStore, "shards" | keyof Omit<PoolAdmin, "activeUsers">>,
		AsyncDisposable {
	/** None if there is no statement. */
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
		item: StoredPush,
		receivers: readonly Receiver[],
		activeSince: number,
	): Promise<number>;
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
	readonly #sources: Sources;

	constructor(driver: PoolDriver, sources: Sources = NO_SOURCES) {
		this.#driver = driver;
		this.#sources = sources;
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

	readonly push: PoolStore["push"] = async (item, receivers, activeSince) => {
		checkPushed(item, receivers, activeSince);
		const stored = this.#stored(item);
		const groups = Map.groupBy(receivers, ({ user }) => this.#shardOf(user));
		const failed: { shard: number; error: CorkboardError }[] = [];
		const counts = await Promise.all(
			[...groups].map(async ([shard, some]) => {
				try {
					return await this.#driver.push(shard, stored, some, activeSince);
				} catch (error) {
					if (!(error instanceof CorkboardError)) throw error;
					failed.push({ shard, error });
					return 0;
				}
			}),
		);
		return { rows: sumOf(counts), failed };
	};

	readonly add: PoolStore["add"] = async (user, entries, now) => {
		checkEntries(entries);
		checkInteger("now", now, 0);
		const stored = entries.map((entry) => this.#stored(entry));
		const [added = 0] = await this.#change(user, (statements) => [
			statements.insert(user, stored, "waiting", now),
		]);
		return added;
	};

	readonly visit: PoolStore["visit"] = async (user) => {
		const [row] = await this.#rows(user, (statements) =>
			statements.visit(user),
		);
		return row === undefined ? null : visitOf(row);
	};

	readonly noteVisit: PoolStore["noteVisit"] = async (user, visit) => {
		checkVisit(visit);
		await this.#driver.run(this.#shardOf(checkId(user)), (statements) =>
			statements.noteVisit(user, visit),
		);
	};

	readonly best: PoolStore["best"] = async (
		user,
		limits,
		state = "waiting",
	) => {
		const { names } = this.#sources;
		const wanted = names
			.map(
				(source) =>
					[
						this.#sources.numberOf(source),
						checkInteger("The limit", limits[source] ?? 0, 0),
					] as const,
			)
			.filter(([, limit]) => limit > 0);
		const rows = await this.#rows(user, (statements) =>
			statements.best(user, wanted, state),
		);
		// A union keeps no order.
		return rows
			.map((row) => this.#row(row))
			.toSorted(
				(a, b) =>
					names.indexOf(a.source) - names.indexOf(b.source) ||
					b.score - a.score ||
					(BigInt(b.item) > BigInt(a.item) ? 1 : -1),
			);
	};

	readonly find: PoolStore["find"] = async (user, origins) => {
		checkOrigins(origins);
		const rows = await this.#rows(user, (statements) =>
			statements.find(user, origins),
		);
		const found = new Map(
			rows
				.map((row) => this.#row(row))
				.map((row) => [row.origin, row] as const),
		);
		return origins.map((origin) => found.get(origin) ?? null);
	};

	readonly waiting: PoolStore["waiting"] = async (user, cap) => {
		checkInteger("cap", cap, 1);
		const [[count] = []] = await this.#rows(user, (statements) =>
			statements.waiting(user, cap),
		);
		return Number(count);
	};

	readonly listVia: PoolStore["listVia"] = async (user, via, state, limit) => {
		checkId(via);
		checkInteger("limit", limit, 1);
		const rows = await this.#rows(user, (statements) =>
			statements.listVia(user, via, state, limit),
		);
		return rows.map((row) => this.#row(row));
	};

	readonly settle: PoolStore["settle"] = async (
		user,
		{ taken, dropped },
		now,
	) => {
		checkEntries(taken);
		checkEntries(dropped);
		checkInteger("now", now, 0);
		const isTaken = taken.map((entry) => this.#stored(entry));
		const isDropped = dropped.map((entry) => this.#stored(entry));
		await this.#change(user, (statements) => [
			statements.change(user, isTaken, "taken", now),
			statements.insert(user, isTaken, "taken", now),
			statements.change(user, isDropped, "dropped", now),
			statements.insert(user, isDropped, "dropped", now),
		]);
	};

	readonly withdraw: PoolStore["withdraw"] = async (
		user,
		via,
		origins,
		substitutes,
		now,
	) => {
		checkId(via);
		checkOrigins(origins);
		checkEntries(substitutes);
		checkInteger("now", now, 0);
		const stored = substitutes.map((entry) => this.#stored(entry));
		const [gone = 0] = await this.#change(user, (statements) => [
			statements.withdraw(user, via, origins),
			statements.insert(user, stored, "waiting", now),
		]);
		return origins.length === 0 ? 0 : gone;
	};

	readonly trim: PoolStore["trim"] = async (
		user,
		{ waitingPerSource, settledAfter },
	) => {
		checkInteger("waitingPerSource", waitingPerSource, 1);
		checkInteger("settledAfter", settledAfter, 0);
		const counts = await this.#change(user, (statements) => [
			statements.trimSettled(user, settledAfter),
			...this.#sources.names.map((source) =>
				statements.trimWaiting(
					user,
					this.#sources.numberOf(source),
					waitingPerSource,
				),
			),
		]);
		return sumOf(counts);
	};

	readonly forget: PoolStore["forget"] = async (user) => {
		await this.#change(user, (statements) => statements.forget(user));
	};

	readonly pulled: PoolStore["pulled"] = async () => {
		const all = await Promise.all(
			this.shards.map((shard) =>
				this.#driver.rows(shard, (statements) => statements.pulled(MAX_PULLED)),
			),
		);
		return all.flat().slice(0, MAX_PULLED).map(pulledOf);
	};

	readonly putPulled: PoolStore["putPulled"] = async (
		producer,
		{ since, pushedSince },
	) => {
		checkInteger("pushedSince", pushedSince, 0);
		if (since !== null) checkInteger("since", since, 0);
		await this.#driver.run(this.#shardOf(checkId(producer)), (statements) =>
			statements.putPulled(producer, since, pushedSince),
		);
	};

	readonly activeUsers: PoolStore["activeUsers"] = async (
		shard,
		{ after, activeSince, limit },
	) => {
		checkInteger("limit", limit, 1);
		checkInteger("activeSince", activeSince, 0);
		if (after !== null) checkId(after);
		const rows = await this.#driver.rows(shard, (statements) =>
			statements.activeUsers(after, activeSince, limit),
		);
		return rows.map(([user]) => parseStoredId(String(user)));
	};

	readonly stats: PoolStore["stats"] = () => this.#driver.stats();

	readonly createTables: PoolStore["createTables"] = () =>
		this.#driver.createTables();

	readonly missingTables: PoolStore["missingTables"] = () =>
		this.#driver.missingTables();

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#driver[Symbol.asyncDispose]();
	}

	/** Throws a TypeError for a source that the app does not have. */
	#stored<T extends { readonly source: Source }>(
		entry: T,
	): Omit<T, "source"> & { readonly source: number } {
		return { ...entry, source: this.#sources.numberOf(entry.source) };
	}

	#row(values: PoolValues): PoolRow {
		const row = storedRowOf(values);
		return { ...row, source: this.#sources.nameOf(row.source) };
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

/** Commands that ask for tables need no sources. */
const NO_SOURCES = new Sources([]);

function sumOf(counts: readonly number[]): number {
	return counts.reduce((sum, count) => sum + count, 0);
}
