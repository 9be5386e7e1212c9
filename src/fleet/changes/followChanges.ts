import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Model } from "../../model/types.ts";
import type {
	BinlogTables,
	BinlogTransaction,
} from "../../storage/mysql/binlog/binlogTypes.ts";
import { GtidSet } from "../../storage/mysql/driver/gtidSet.ts";
import {
	type ChangesLevel,
	TOPOLOGY_CHANNELS,
} from "../../topology/diagnostics.ts";
import { shardsOf } from "../../topology/ranges.ts";
import type { Environment } from "../../topology/secret.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type { Topology } from "../../topology/types.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { binlogFaults } from "../ferry/movedTables.ts";
import { nameOf } from "../map/mapRanges.ts";
import { requireCurrent } from "../map/publish.ts";
import { withHost } from "../map/replicaHosts.ts";
import { FleetServer } from "../server/fleetServer.ts";
import { changesOf, copiedShards, type FollowedTable } from "./changesOf.ts";
import type { Change } from "./changeTypes.ts";
import { followedTables } from "./followedTables.ts";
import { HostLog } from "./hostLog.ts";
import { byRange, byShard, type Position } from "./position.ts";
import type { Selection } from "./selection.ts";

export interface FollowOptions {
	readonly store: TopologyStore;
	readonly environment: Environment;
	readonly model: Model;
	readonly selection: Selection;
	/** Null: from now on. */
	readonly since: Position | null;
	/** Takes changes for good: the position that follows them is kept after it resolves. One call at a time. */
	readonly take: (
		changes: readonly Change[],
		position: () => Position,
	) => Promise<void>;
	readonly signal: AbortSignal;
	readonly onFailure?: (server: string, reason: string) => void;
	/** Called if a server took the place of one that is dead and lacks transactions that were given out: a copy of its shards has what nobody else has. */
	readonly onLoss?: (server: string, gtids: string) => void;
	/** Called if a server left the map that cannot be read to its end: what only it has is left out. */
	readonly onLeft?: (server: string, reason: string) => void;
	/** How often the map is read. Milliseconds. */
	readonly lookMs?: number;
	/** How long a server that left the map may give nothing out before it is left. Milliseconds. */
	readonly leftMs?: number;
	/** The clock that this is counted by. Milliseconds. */
	readonly now?: () => number;
	/** Whether it ends when everything that was committed before it began is given out. */
	readonly untilNow?: boolean;
}

/** Stands in place of an owner if some other server has the shard. */
const AWAY = "?";
const LOOK_MS = 1_000;
const AGAIN_MS = 20;
/** How long a server may take to answer that the map has no more. Milliseconds. */
const ANSWER_MS = 5_000;
const LEFT_MS = 60_000;
/** How often the position is kept while nothing changes. Milliseconds. */
const QUIET_MS = 1_000;
/** Commit times are whole seconds, of clocks that may differ. Milliseconds. */
const CLOCKS_MS = 3_000;

interface Running {
	readonly log: HostLog;
	readonly server: FleetServer;
	readonly stop: AbortController;
	readonly ended: Promise<void>;
}

/**
 * Gives out what is committed on all primaries of the map, from their binary logs:
 * whole transactions, of one shard in the order of their commits, each at least once.
 *
 * Its position is one set of GTIDs. A replica that becomes the primary has the
 * transactions of the former one under the same GTIDs, so the set holds there as
 * well. When a shard has moved, the new server's transactions of it wait until the
 * former server's log was read to where writes had ended there; what the mover
 * copied is in transactions of its own, which are left out.
 */
export class ChangeFollower {
	readonly #options: FollowOptions;
	readonly #running = new Map<string, Running>();
	#given: GtidSet;
	/** Which server's log had the last changes of a shard. */
	#owners: Map<number, string>;
	/** What a shard had when it was dumped, if that is not all in `#given`. */
	readonly #dumped: Map<number, GtidSet>;
	readonly #tables: BinlogTables<FollowedTable>;
	#version = -1;
	/** Resolves when all that has begun is done: changes of all servers go out one call after another. */
	#turn: Promise<void> = Promise.resolve();
	#failure: unknown = null;
	#takenAt = 0;
	#isTaking = false;

	constructor(options: FollowOptions) {
		const { since } = options;
		this.#options = options;
		this.#given = new GtidSet(since?.gtids);
		this.#owners = byShard(since?.owners ?? {});
		this.#dumped = new Map(
			[...byShard(since?.dumped ?? {})].map(([shard, set]) => [
				shard,
				new GtidSet(set),
			]),
		);
		this.#tables = followedTables(options.model, options.selection);
	}

	position(): Position {
		return this.#positionAt(this.#given);
	}

	#positionAt(given: GtidSet): Position {
		const dumped = new Map(
			[...this.#dumped].map(([shard, set]) => [shard, set.toString()]),
		);
		return {
			gtids: given.toString(),
			owners: byRange(this.#owners),
			...(dumped.size > 0 && { dumped: byRange(dumped) }),
		};
	}

	/** Ends with the signal, or, with `untilNow`, when it has caught up. Throws if a log cannot be followed. */
	async run(): Promise<void> {
		const { signal, lookMs = LOOK_MS, untilNow = false } = this.#options;
		try {
			await this.#look();
			const goal = untilNow ? await this.#executed() : null;
			for (let lookedAt = performance.now(); !signal.aborted; ) {
				if (this.#failure !== null) throw this.#failure;
				if (goal !== null && this.#given.contains(goal)) return;
				await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
				if (performance.now() - lookedAt < lookMs) continue;
				await this.#look().catch((thrown) => {
					// The map as it is known continues.
					if (thrown?.code !== "UNAVAILABLE") throw thrown;
					this.#options.onFailure?.("the map", thrown.message);
				});
				lookedAt = performance.now();
			}
		} finally {
			await Promise.all(
				[...this.#running.keys()].map((name) => this.#end(name)),
			);
			await this.#turn.catch(() => {});
			if (this.#failure === null) {
				await this.#options.take([], () => this.position());
			}
		}
	}

	async #executed(): Promise<GtidSet> {
		const sets = [...this.#running.values()].map(({ log }) => log.executed());
		return new GtidSet((await Promise.all(sets)).filter(Boolean).join(","));
	}

	/** How far it is on each server that is read. To be asked each second or so: a lag is counted from the answer before at most. */
	async levels(): Promise<readonly ChangesLevel[]> {
		const logs = [...this.#running.values()].map(({ log }) => log);
		return await Promise.all(
			logs.map(async (log) => {
				const now = Date.now();
				const isLevel = await log
					.executed()
					.then((executed) => this.#given.contains(new GtidSet(executed)))
					// Nobody knows what a silent server has.
					.catch(() => false);
				if (isLevel) log.givenUpTo = now;
				const lagMs = isLevel ? 0 : Math.max(0, now - log.givenUpTo);
				return { host: log.name, lagMs };
			}),
		);
	}

	/** Reads the logs of the servers that the map has now as primaries, and of no others. */
	async #look(): Promise<void> {
		const { topology } = await requireCurrent(this.#options.store);
		if (topology.version === this.#version) return;
		const urls = primariesOf(topology);
		if (this.#version === -1) await this.#begin(topology, urls);
		await this.#leave(topology, urls);
		for (const [name, url] of urls) {
			if (!this.#running.has(name)) await this.#start(name, url);
		}
		this.#version = topology.version;
		TOPOLOGY_CHANNELS.topology.publish({
			path: this.#options.store.name,
			state: "loaded",
			version: topology.version,
		});
	}

	/**
	 * Ends the logs of servers that the map has no more, before others begin. One
	 * whose replica took its place has nothing that the replica lacks. One from which
	 * the last shard moved away is read to its end.
	 */
	async #leave(
		topology: Topology,
		urls: ReadonlyMap<string, string>,
	): Promise<void> {
		const owners = new Set(this.#owners.values());
		const gone = [...new Set([...owners, ...this.#running.keys()])].filter(
			(name) => name !== AWAY && !urls.has(name),
		);
		const left: (readonly [name: string, goal: GtidSet])[] = [];
		for (const name of gone) {
			const goal = await this.#alone(name, urls);
			if (goal === null) {
				await this.#end(name);
				continue;
			}
			left.push([name, goal]);
			if (this.#running.has(name)) continue;
			await this.#start(name, withHost([...urls.values()][0] ?? "", name));
		}
		for (const [name, goal] of left) {
			await this.#readToEnd(name, goal);
			await this.#end(name);
		}
		const successors = new Set<string>();
		for (const { primary, range } of topology.shards) {
			for (const shard of shardsOf([{ primary, range }])) {
				const owner = this.#owners.get(shard);
				if (owner !== undefined && !gone.includes(owner)) continue;
				this.#owners.set(shard, nameOf(primary));
				if (owner !== undefined) successors.add(primary);
			}
		}
		for (const url of successors) await this.#reportLoss(url);
	}

	/**
	 * Resolves when all of `goal` is given out, or when the server has given nothing of
	 * it for so long that nobody waits any more. The time that the sink takes does not count.
	 */
	async #readToEnd(name: string, goal: GtidSet): Promise<void> {
		const { signal, leftMs = LEFT_MS, onLeft } = this.#options;
		const { now = () => performance.now() } = this.#options;
		let missing = Number.POSITIVE_INFINITY;
		let movedAt = now();
		while (!this.#given.contains(goal)) {
			signal.throwIfAborted();
			if (this.#failure !== null) throw this.#failure;
			const left = goal.size - this.#given.intersection(goal).size;
			if (left < missing || this.#isTaking) {
				missing = left;
				movedAt = now();
			} else if (now() - movedAt >= leftMs) {
				onLeft?.(name, `${left} transactions of it were not read`);
				return;
			}
			await sleep(AGAIN_MS, undefined, { signal });
		}
	}

	/** What a failover has lost, of what was given out. */
	async #reportLoss(url: string): Promise<void> {
		const { environment, onFailure, onLoss } = this.#options;
		await using server = new FleetServer(url, environment, 1);
		try {
			const executed = new GtidSet(await server.executed());
			const lost = this.#given.ofSourcesIn(executed).toString();
			const gtids = await server.subtract(lost, executed.toString());
			if (gtids !== "") onLoss?.(server.name, gtids);
		} catch (thrown) {
			onFailure?.(server.name, reasonOf(thrown));
		}
	}

	/** What a server has committed, if it has anything that was not given out and that no primary has; else null, as for one that does not answer. */
	async #alone(
		name: string,
		urls: ReadonlyMap<string, string>,
	): Promise<GtidSet | null> {
		const { environment, onLeft } = this.#options;
		const [first = ""] = urls.values();
		await using server = new FleetServer(withHost(first, name), environment, 1);
		const silence = await server.silence(ANSWER_MS);
		if (silence !== null) {
			onLeft?.(name, silence);
			return null;
		}
		const executed = await server.executed();
		let rest = await server.subtract(executed, this.#given.toString());
		for (const url of urls.values()) {
			if (rest === "") return null;
			await using other = new FleetServer(url, environment, 1);
			rest = await other
				.executed()
				.then((there) => server.subtract(rest, there))
				.catch(() => rest);
		}
		return rest === "" ? null : new GtidSet(executed);
	}

	/** Takes what happens from now on if no position is given. */
	async #begin(
		topology: Topology,
		urls: ReadonlyMap<string, string>,
	): Promise<void> {
		if (this.#owners.size > 0) return;
		for (const { primary, range } of topology.shards) {
			for (const shard of shardsOf([{ primary, range }])) {
				this.#owners.set(shard, nameOf(primary));
			}
		}
		if (this.#options.since !== null) return;
		for (const url of urls.values()) {
			await using server = new FleetServer(url, this.#options.environment);
			const executed = await server.executed();
			this.#given = new GtidSet(
				[this.#given.toString(), executed].filter(Boolean).join(","),
			);
		}
	}

	async #start(name: string, url: string): Promise<void> {
		const { environment, signal, onFailure = () => {} } = this.#options;
		const server = new FleetServer(url, environment);
		const faults = await binlogFaults(server).catch((thrown) => {
			if (thrown?.code !== "UNAVAILABLE") throw thrown;
			return [];
		});
		if (faults.length > 0) {
			await server[Symbol.asyncDispose]();
			throw new CorkboardError("CONFLICT", faults.join("\n"));
		}
		const stop = new AbortController();
		let isPassedOver = false;
		const log = new HostLog({
			server,
			onFailure,
			tables: this.#tables,
			after: async () => {
				// Only at first: what it loses later would be a gap.
				if (!isPassedOver) await this.#passOver(server);
				isPassedOver = true;
				return this.#given.toString();
			},
			take: (from, transactions) => this.#take(from, transactions),
			signal: AbortSignal.any([signal, stop.signal]),
		});
		const ended = log.run().catch((thrown) => {
			this.#failure ??= thrown;
		});
		this.#running.set(name, { log, server, stop, ended });
	}

	/**
	 * A server that is new here has a past of its own, without any of our shards. What
	 * its log has no more of that counts as given out; of servers that are known it does not.
	 */
	async #passOver(server: FleetServer): Promise<void> {
		const purged = await server.purged();
		await this.#inTurn(async () => {
			const known = this.#given.toString();
			const past = purged
				.split(",")
				.filter((part) => part !== "" && !known.includes(part.slice(0, 36)));
			if (past.length === 0) return;
			this.#given = new GtidSet([known, ...past].filter(Boolean).join(","));
		});
	}

	/** What changes the position is done one after another. */
	async #inTurn(body: () => Promise<void>): Promise<void> {
		const turn = this.#turn.then(body);
		this.#turn = turn.catch(() => {});
		await turn;
	}

	async #end(name: string): Promise<void> {
		const running = this.#running.get(name);
		if (running === undefined) return;
		running.stop.abort();
		await running.ended;
		await running.server[Symbol.asyncDispose]();
		this.#running.delete(name);
	}

	async #take(
		log: HostLog,
		transactions: readonly BinlogTransaction<FollowedTable>[],
	): Promise<void> {
		const { model, selection } = this.#options;
		let some: Change[] = [];
		let gtids: string[] = [];
		let at = 0;
		const flush = async () => {
			if (gtids.length === 0) return;
			await this.#give(log, some, gtids, at);
			some = [];
			gtids = [];
		};
		for (const transaction of transactions) {
			const { gtid } = transaction;
			const isDumped = (shard: number) =>
				this.#dumped.get(shard)?.has(gtid) ?? false;
			for (const shard of copiedShards(transaction)) {
				if (isDumped(shard)) continue;
				// Whose it is now, another log says.
				if (this.#owners.get(shard) === log.name) this.#owners.set(shard, AWAY);
			}
			const changes = changesOf(transaction, model, selection).filter(
				({ shard }) => !isDumped(shard),
			);
			for (const { shard } of changes) {
				if (this.#owners.get(shard) === log.name) continue;
				// What was gathered may be what the former owner waits for.
				await flush();
				await this.#takeOver(shard, log, transaction.at);
			}
			some.push(...changes);
			gtids.push(gtid);
			at = transaction.at;
		}
		await flush();
	}

	/** Waits until the server that had a shard before, or each that may have had it, has given out everything of it. */
	async #takeOver(shard: number, log: HostLog, at: number): Promise<void> {
		const { signal } = log;
		/** What each had committed when it was first asked. */
		const goals = new Map<HostLog, GtidSet>();
		log.waitingAt = at;
		try {
			for (;;) {
				signal.throwIfAborted();
				const owner = this.#owners.get(shard);
				if (owner === log.name) return;
				const former = [...this.#running.values()]
					.map((running) => running.log)
					// One that is not read any more has given out all that it had.
					.filter(({ name }) =>
						owner === AWAY ? name !== log.name : name === owner,
					);
				const behind: HostLog[] = [];
				for (const other of former) {
					if (!(await this.#isPast(other, log, at, goals))) behind.push(other);
				}
				if (behind.length === 0) break;
				await sleep(AGAIN_MS, undefined, { signal });
			}
			this.#owners.set(shard, log.name);
		} finally {
			log.waitingAt = null;
		}
	}

	/** Whether a server that had a shard has given out everything before a transaction that another one committed later. */
	async #isPast(
		former: HostLog,
		log: HostLog,
		at: number,
		goals: Map<HostLog, GtidSet>,
	): Promise<boolean> {
		const { waitingAt } = former;
		if (waitingAt !== null) {
			// Each waits for the other: the shard came from the one that committed first.
			if (waitingAt > at) return true;
			return waitingAt === at && former.name > log.name;
		}
		if (former.at > at + CLOCKS_MS) return true;
		try {
			const goal = goals.get(former) ?? new GtidSet(await former.executed());
			goals.set(former, goal);
			return this.#given.contains(goal);
		} catch (thrown) {
			this.#options.onFailure?.(former.name, reasonOf(thrown));
			return false;
		}
	}

	async #give(
		log: HostLog,
		changes: readonly Change[],
		gtids: readonly string[],
		/** When the last of them was committed. */
		at: number,
	): Promise<void> {
		await this.#inTurn(async () => {
			// Its server was left while it waited: its successor gives the same.
			if (!this.#running.has(log.name)) return;
			const next = new GtidSet(this.#given.toString());
			for (const gtid of gtids) next.add(gtid);
			// Most transactions of a quiet fleet change nothing that is followed.
			if (changes.length > 0 || performance.now() - this.#takenAt >= QUIET_MS) {
				this.#forgetDumped(next);
				this.#isTaking = true;
				await this.#options
					.take(changes, () => this.#positionAt(next))
					.finally(() => {
						this.#isTaking = false;
					});
				this.#takenAt = performance.now();
			}
			this.#given = next;
			log.givenUpTo = at;
		});
	}

	/** Once a position has all of what a shard had, it says enough. */
	#forgetDumped(given: GtidSet): void {
		for (const [shard, set] of this.#dumped) {
			if (given.contains(set)) this.#dumped.delete(shard);
		}
	}
}

function primariesOf({ shards }: Topology): ReadonlyMap<string, string> {
	return new Map(shards.map(({ primary }) => [nameOf(primary), primary]));
}
