import { randomBytes } from "node:crypto";
import { type Id, unpackId } from "../../id/ids.ts";
import type { CacheConnection } from "../cacheConnection.ts";
import type { SharedCacheLevel } from "../diagnostics.ts";
import type { Gate } from "../gate.ts";
import type { ServerList, ServerRef } from "../serverList.ts";
import {
	BUSY,
	type CacheServer,
	DOWN,
	type Fill,
	type FillLease,
	type GetOrLeaseResult,
	inBatches,
	openSharedCache,
	type PlacedCache,
	READ_ELSEWHERE,
} from "../sharedCache.ts";
import type { WriteTrial } from "../writeProof.ts";
import type { RedisCommands } from "./redisConnection.ts";
import type {
	CommandConnection,
	RedisConnections,
} from "./redisConnections.ts";
import { isRefusal } from "./redisErrors.ts";
import { evaluate, FILL, GET_OR_LEASE } from "./redisScripts.ts";
import type { RedisServers } from "./redisServers.ts";

/**
 * The shared cache on Redis. A stored string begins with its mark, which ends at
 * the first space: `L` and a token a lease, `V` and a token a value. No two leases and no two fills of a key have one token, so a mark is all
 * that a fill has to compare: a value that was read is replaced only if it was
 * neither deleted nor filled again since.
 *
 *     getOrLease  a script: MGET, and SET NX a lease for the absent keys
 *     fill        a script: if the key still has the mark, SET the value
 *     delete      DEL, whatever is there
 *
 * So a batch of keys is one command, however many keys it has.
 *
 * `delete` also removes what is newer than the write that calls it. R reads,
 * W writes:
 *
 * - R leases after the commit of W. The delete of W, late or repeated from the
 *   outbox, removes the token: the fill of R is refused and the next reader
 *   leases again. That costs a read and keeps nothing stale.
 * - R leases and reads the old row before the commit of W, and fills it before
 *   the delete of W, which removes it.
 * - The same, but R fills after the delete of W: the token is gone, so the fill
 *   is refused. If a third reader leased meanwhile, the token is another one.
 * - R reads a value and means to replace it. That is as if R had leased the key
 *   then: the delete of W removes the mark that R compares, and a fill after it
 *   has another token, even if its text is the same.
 *
 * Keys carry the `run_id` of the server, which is read on each connect before
 * anything else. A server restarted from a snapshot, or a replica promoted to
 * master, may hold heads that were deleted meanwhile, but under keys that no
 * process reads. (A server that was demoted and is promoted again without a
 * restart keeps its `run_id`: flush it first.)
 *
 * Run Redis with `maxmemory-policy allkeys-lru`. With `noeviction` a full Redis
 * refuses writes: no lease is given and fills are dropped; hits and `delete`
 * still work. A Redis that refuses `delete` as well,
 * or shows others what it deleted, is not read (writeProof.ts).
 */
export function openRedisCache(
	options: {
		readonly redis: RedisConnections | RedisServers;
		/** Those of the map, or what it is becoming (default: the one). */
		readonly lists?: readonly ServerList[];
		readonly gateOf?: (server: ServerRef) => Gate;
		/** Milliseconds, for proofs that a server takes writes. */
		readonly now?: () => number;
	} & Partial<Limits>,
): PlacedCache {
	const { redis, gateOf, now } = options;
	const limits: Limits = {
		deadlineMs: 100,
		ttlMs: 3_600_000,
		leaseMs: 5_000,
		...options,
	};
	return openSharedCache({
		layer: "redis",
		lists: options.lists ?? redis.lists,
		gateOf,
		now,
		hashOf: shardOfListKey,
		open: ({ id }, onUp) => new RedisServer(redis.at(id), limits, onUp),
	});
}

/** `GENERATION.MAPPING.ID`: the lists of a shard are at one server, so that most of a page is one command. */
function shardOfListKey(key: string): number {
	return unpackId(key.slice(key.lastIndexOf(".") + 1) as Id).shard;
}

interface Limits {
	/** For each batch, connecting included. */
	readonly deadlineMs: number;
	readonly ttlMs: number;
	readonly leaseMs: number;
}

class RedisServer implements CacheServer {
	readonly host: string;
	readonly maxAgeMs: number;
	readonly #commands: CacheConnection<CommandConnection>;
	readonly #limits: Limits;
	readonly #process = randomBytes(TOKEN_BYTES).toString("base64url");
	#tokens = 0;
	/** The prefix of the newest names: those of another server differ. */
	#prefix = "";

	constructor(redis: RedisConnections, limits: Limits, onUp: () => void) {
		const { deadlineMs, ttlMs, leaseMs } = limits;
		this.host = redis.host;
		this.maxAgeMs = ttlMs + leaseMs;
		this.#commands = redis.forCommands({ deadlineMs, onUp });
		this.#limits = limits;
	}

	/** Reads the keys and leases the absent ones, with one script. */
	async getOrLease(
		keys: readonly string[],
	): Promise<readonly GetOrLeaseResult[] | null> {
		const mark = this.#newMark("L");
		let names: readonly string[] = [];
		const found = await this.#call("get", keys, (client, named) => {
			names = named;
			const limits = [String(this.#limits.leaseMs), mark];
			return inBatches(
				named,
				BATCH,
				(batch) =>
					client.eval(
						GET_OR_LEASE,
						batch.length,
						...batch,
						...limits,
					) as Promise<readonly (string | number | null)[]>,
			);
		});
		if (found === null) return null;
		const results = new Array<GetOrLeaseResult>(names.length);
		for (let at = 0; at < names.length; at++) {
			const key = names[at] as string;
			const value = found[at];
			if (typeof value === "string") results[at] = toResult(key, value);
			else {
				results[at] =
					value === null
						? { kind: "lease", lease: { key, token: mark } }
						: DOWN;
			}
		}
		return results;
	}

	/** A mark says it all, on any connection. */
	holds({ key }: FillLease): boolean {
		return key.startsWith(this.#prefix);
	}

	fill(fills: readonly Fill[]): Promise<number | null> {
		const mark = this.#newMark("V");
		const values = fills.flatMap(({ lease, value }) => [
			lease.token as string,
			value === null ? "" : mark + value,
		]);
		const names = fills.map(({ lease }) => lease.key);
		return this.#commands.call("set", fills.length, ({ client, withRunId }) =>
			withRunId(async () => {
				const ttl = String(this.#limits.ttlMs);
				const count = await evaluate(client, FILL, names, [ttl, ...values]);
				return typeof count === "number" ? count : fills.length;
			}),
		);
	}

	async delete(keys: readonly string[], isProbe: boolean): Promise<boolean> {
		const replies = await this.#call(
			"delete",
			keys,
			(client, names) =>
				inBatches(names, BATCH, async (batch) => [await client.del(batch)]),
			{ isProbe },
		);
		return replies !== null;
	}

	tryWrite(): Promise<WriteTrial> {
		const mark = this.#newMark("L");
		const key = `trial.${this.#process}`;
		return this.#call("try", [key], async (client, [name = ""]) => {
			try {
				// In this order, and one round trip.
				const [taken, [read], , [left]] = await Promise.all([
					client.eval(GET_OR_LEASE, 1, name, String(TRIAL_KEY_MS), mark),
					client.mget([name]),
					client.del([name]),
					client.mget([name]),
				]);
				const isFull = (taken as readonly unknown[])[0] === 0;
				const isShown = isFull || read === mark;
				return isShown && left === null ? true : new Error(READ_ELSEWHERE);
			} catch (error) {
				if (isRefusal(error)) return error;
				throw error;
			}
		});
	}

	async level(): Promise<SharedCacheLevel | null> {
		const info = await this.#commands.call(
			"stats",
			0,
			({ client, withRunId }) => withRunId(() => client.info()),
			{ isProbe: true },
		);
		return info === null ? null : levelIn(info, this.host);
	}

	[Symbol.dispose](): void {
		this.#commands[Symbol.dispose]();
	}

	/** Runs a command with the names that the keys have on the server it goes to. */
	#call<T>(
		verb: "get" | "delete" | "try",
		keys: readonly string[],
		run: (client: RedisCommands, names: string[]) => Promise<T>,
		options: { readonly isProbe?: boolean } = {},
	): Promise<T | null> {
		return this.#commands.call(
			verb,
			keys.length,
			({ client, withRunId, sendNow }) =>
				withRunId((runId) => {
					const prefix = `c2.${runId.slice(0, RUN_ID_LETTERS)}.`;
					this.#prefix = prefix;
					const result = run(
						client,
						keys.map((key) => prefix + key),
					);
					// Reads come at the end of a turn, and somebody waits for them.
					if (verb === "get") sendNow();
					return result;
				}),
			options,
		);
	}

	#newMark(kind: "L" | "V"): string {
		return `${kind}${this.#process}${(++this.#tokens).toString(36)} `;
	}
}

/** A stored string with the mark of a value is a hit, any other makes readers wait. */
function toResult(name: string, stored: string): GetOrLeaseResult {
	const end = stored.indexOf(" ") + 1;
	if (end === 0 || !stored.startsWith("V")) return BUSY;
	return new Hit(name, stored, end);
}

/** A value, and the right to replace it: most readers do not take it. */
class Hit {
	readonly kind = "hit";
	readonly #key: string;
	readonly #stored: string;
	readonly #end: number;

	constructor(key: string, stored: string, end: number) {
		this.#key = key;
		this.#stored = stored;
		this.#end = end;
	}

	get value(): string {
		return this.#stored.slice(this.#end);
	}

	get lease(): FillLease {
		const token = this.#stored.slice(0, this.#end);
		return { key: this.#key, token };
	}
}

/** Longer than a trial takes: what is left of one that failed ends by itself. */
const TRIAL_KEY_MS = 1_000;

/** How many of a run_id's 40 letters are used: 64 bits identify a server, and a command carries a hundred keys. */
const RUN_ID_LETTERS = 16;
/** Keys in one command: Redis runs nothing else meanwhile. */
const BATCH = 1_000;

/** The random part of a token, which distinguishes processes. */
const TOKEN_BYTES = 12;
/** The level in an answer to INFO. */
function levelIn(info: string, host: string): SharedCacheLevel {
	const number = (name: string) =>
		Number(new RegExp(`^${name}:([0-9]+)`, "m").exec(info)?.[1] ?? 0);
	// A line for each database that has keys: `db0:keys=12,expires=12,…`
	const keys = [...info.matchAll(/^db[0-9]+:keys=([0-9]+)/gm)];
	return {
		layer: "redis",
		host,
		entries: keys.reduce((sum, [, count]) => sum + Number(count), 0),
		bytes: number("used_memory"),
		maxBytes: number("maxmemory") || null,
		evictions: number("evicted_keys"),
	};
}
