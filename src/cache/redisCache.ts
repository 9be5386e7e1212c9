import { randomBytes } from "node:crypto";
import type { SharedCacheLevel } from "../diagnostics.ts";
import { listening } from "../util/listening.ts";
import { reportFills } from "./fills.ts";
import { type Forecast, MissForecast } from "./missForecast.ts";
import { PendingDeletes } from "./pendingDeletes.ts";
import type { RedisClient } from "./redisConnection.ts";
import type {
	CommandConnection,
	RedisConnections,
} from "./redisConnections.ts";
import {
	type Fill,
	type FillLease,
	type GetOrLeaseResult,
	LEASE_SHARE,
	type SharedCache,
} from "./sharedCache.ts";

/**
 * The shared cache on Redis. A stored string begins with its mark, which ends at
 * the first space: `T` a tombstone, `L` and a token a lease, `V` and a token a
 * value. No two leases and no two fills of a key have one token, so a mark is all
 * that a fill has to compare: a value that was read is replaced only if it was
 * neither deleted nor filled again since.
 *
 *     getOrLease     MGET, and a script for the absent keys: SET NX a lease
 *                    where most keys are absent, one script for both
 *     fill           a script: if the key still has the mark, SET the value
 *     putTombstones  a script: SET a tombstone, whatever is there
 *     delete         DEL, whatever is there
 *
 * So a batch of keys is one or two commands, however many keys it has.
 *
 * `delete` also removes what is newer than the write that calls it. R reads,
 * W writes:
 *
 * - R leases after the commit of W. The delete of W, late or repeated from the
 *   outbox, removes the token: the fill of R is refused and the next reader
 *   leases again. That costs a read and keeps nothing stale.
 * - The tombstone of W expires before its commit, R leases, reads the old row
 *   and fills it, W commits. Only a delete that also removes values repairs
 *   this, so "delete only my tombstone" would be wrong.
 * - The same, but R fills after the delete of W: the token is gone, so the fill
 *   is refused. If a third reader leased meanwhile, the token is another one.
 * - R reads a value and means to replace it. That is as if R had leased the key
 *   then: the tombstone and the delete of W remove the mark that R compares, and
 *   a fill after them has another token, even if its text is the same.
 *
 * Keys carry the `run_id` of the server, which is read on each connect before
 * anything else. A server restarted from a snapshot, or a replica promoted to
 * master, may hold heads that were deleted meanwhile, but under keys that no
 * process reads. (A server that was demoted and is promoted again without a
 * restart keeps its `run_id`: flush it first.)
 *
 * Run Redis with `maxmemory-policy allkeys-lru`. With `noeviction` a full Redis
 * refuses writes: no lease is given, fills are dropped and tombstones are not
 * acknowledged; hits and `delete` still work.
 */
export function openRedisCache(options: {
	readonly redis: RedisConnections;
	/** For each batch, connecting included. */
	readonly deadlineMs?: number;
	readonly ttlMs?: number;
	readonly leaseMs?: number;
	readonly tombstoneMs?: number;
	/** Decides whether absent keys are leased with the read. */
	readonly forecast?: Forecast;
}): SharedCache {
	const {
		redis,
		deadlineMs = 100,
		ttlMs = 3_600_000,
		leaseMs = 5_000,
		tombstoneMs = 2_000,
		forecast = new MissForecast(),
	} = options;
	const commands = redis.forCommands({
		deadlineMs,
		onUp: () => deletes.retry(),
	});
	const process = randomBytes(TOKEN_BYTES).toString("base64url");
	let tokens = 0;
	const nextToken = () => `${process}${(++tokens).toString(36)}`;

	/** Of one server: a lease keeps the name under which it was taken. */
	const withPrefix = <T>(
		{ withRunId }: CommandConnection,
		run: (prefix: string) => Promise<T>,
	) => withRunId((runId) => run(`c2.${runId.slice(0, RUN_ID_LETTERS)}.`));

	const deletes = new PendingDeletes({
		maxAgeMs: ttlMs + leaseMs,
		async send(keys, isProbe) {
			const done = await commands.call(
				"delete",
				keys.length,
				(connection) =>
					withPrefix(connection, async (prefix) => {
						const names = keys.map((key) => prefix + key);
						await inBatches(names, async (batch) => [
							await connection.client.del(batch),
						]);
						return true;
					}),
				{ isProbe },
			);
			return done ?? false;
		},
	});

	/** Of keys that may be read in the cache. */
	const askForAll: SharedCache["getOrLease"] = async (keys) => {
		if (keys.length === 0) return [];
		const until = listening.now() + deadlineMs;
		const results = new Array<GetOrLeaseResult>(keys.length).fill(DOWN);
		let names: string[] = [];
		let limit: { readonly deadlineMs: number } | undefined;
		if (forecast.isLikely) {
			const token = `L${nextToken()} `;
			const all = await commands.call("get", keys.length, (connection) =>
				withPrefix(connection, (prefix) => {
					names = keys.map((key) => prefix + key);
					return inBatches(names, async (batch) => {
						const { client } = connection;
						const limits = [String(leaseMs), token];
						const found = await evaluate(client, GET_OR_LEASE, batch, limits);
						return found === null ? [null] : [found as (string | null)[]];
					});
				}),
			);
			if (all === null) return results;
			// Without memory for leases a script reads nothing either: hits are read below.
			if (!all.includes(null)) {
				let missing = 0;
				let index = 0;
				for (const batch of all) {
					for (const value of batch ?? []) {
						const key = names[index] as string;
						if (value === null) missing++;
						results[index++] =
							value === null
								? { kind: "lease", lease: { key, token } }
								: toResult(key, value);
					}
				}
				forecast.add(keys.length, missing);
				return results;
			}
			limit = { deadlineMs: Math.max(1, until - listening.now()) };
		}
		const values = await commands.call(
			"get",
			keys.length,
			(connection) =>
				withPrefix(connection, (prefix) => {
					names = keys.map((key) => prefix + key);
					return inBatches(names, (batch) => connection.client.mget(batch));
				}),
			limit,
		);
		if (values === null) return results;
		const missing: number[] = [];
		for (let index = 0; index < values.length; index++) {
			const value = values[index] as string | null;
			if (value === null) missing.push(index);
			else results[index] = toResult(names[index] as string, value);
		}
		// A busy process may have no time left: that is not the host's fault.
		const leftMs = until - listening.now();
		if (missing.length === 0 || leftMs < deadlineMs * LEASE_SHARE) {
			forecast.add(keys.length, 0);
			return results;
		}
		const token = `L${nextToken()} `;
		const taken = await commands.call(
			"lease",
			missing.length,
			(connection) =>
				connection.withRunId(() =>
					inBatches(
						missing.map((index) => names[index] as string),
						async (batch) => [
							await evaluate(connection.client, LEASE, batch, [
								String(leaseMs),
								token,
							]),
						],
					),
				),
			{ deadlineMs: leftMs },
		);
		const isRefused = taken?.includes(null) ?? true;
		forecast.add(keys.length, isRefused ? 0 : missing.length);
		if (taken === null || isRefused) return results;
		const marks = taken.join("");
		for (const [at, index] of missing.entries()) {
			results[index] =
				marks[at] === "1"
					? { kind: "lease", lease: { key: names[index] as string, token } }
					: BUSY;
		}
		return results;
	};

	return {
		layer: "redis",
		hostOf: () => redis.host,

		async getOrLease(keys) {
			if (deletes.isEmpty) return askForAll(keys);
			// Decided before the wait: a delete may start or end meanwhile.
			const isReadable = keys.map((key) => !deletes.has(key));
			const results = await askForAll(keys.filter((_, at) => isReadable[at]));
			const rest = results.values();
			return isReadable.map((readable) =>
				readable ? (rest.next().value ?? DOWN) : DOWN,
			);
		},

		async fill(fills) {
			for (let at = 0; at < fills.length; ) {
				const from = at;
				for (let bytes = 0; at < fills.length && bytes < BATCH_BYTES; at++) {
					bytes += (fills[at] as Fill).value?.length ?? 0;
				}
				const batch = fills.slice(from, at);
				const done = await commands.call("set", batch.length, (connection) =>
					connection.withRunId(async () => {
						const { client } = connection;
						return fillBatch(client, batch, ttlMs, nextToken());
					}),
				);
				reportFills("redis", batch.length, done);
				if (done === null) return;
			}
		},

		async putTombstones(keys) {
			if (keys.length === 0) return true;
			const replies = await commands.call(
				"tombstone",
				keys.length,
				(connection) =>
					withPrefix(connection, (prefix) =>
						inBatches(
							keys.map((key) => prefix + key),
							async (batch) => [
								await evaluate(connection.client, TOMBSTONE, batch, [
									String(tombstoneMs),
								]),
							],
						),
					),
			);
			return replies?.every((reply) => reply === DONE) ?? false;
		},

		async delete(keys) {
			return keys.length === 0 || deletes.delete(keys);
		},

		untilDeleted: (keys, ms) => deletes.untilDone(keys, ms),

		async levels() {
			const info = await commands.call(
				"stats",
				0,
				({ client, withRunId }) => withRunId(() => client.info()),
				{ isProbe: true },
			);
			return info === null ? [] : [levelIn(info, redis.host)];
		},

		async [Symbol.asyncDispose]() {
			deletes[Symbol.dispose]();
			commands[Symbol.dispose]();
		},
	};
}

const BUSY: GetOrLeaseResult = { kind: "busy" };
const DOWN: GetOrLeaseResult = { kind: "down" };

/** Of the 40 of a run_id: 64 bits identify a server, and a command carries a hundred keys. */
const RUN_ID_LETTERS = 16;
/** Keys in one command: Redis runs nothing else meanwhile. */
const BATCH = 1_000;
/** Bytes of values in one command: a larger one would delay the reads behind it. */
const BATCH_BYTES = 256 * 1024;
const MAX_VALUE_LENGTH = 1_000_000;

/** Of the random part of a token, which distinguishes processes. */
const TOKEN_BYTES = 12;
const DONE = "OK";

/** ARGV: how long a lease lives, and its mark. Returns a digit for each key: 1 if it was leased. */
const LEASE = `
local taken = {}
for at, key in ipairs(KEYS) do
	taken[at] = redis.call('SET', key, ARGV[2], 'PX', ARGV[1], 'NX') and '1' or '0'
end
return table.concat(taken)`;

/** ARGV: how long a lease lives, and its mark. Returns the value of each key; null if it was absent, and is leased now. */
const GET_OR_LEASE = `
local values = redis.call('MGET', unpack(KEYS))
for at, key in ipairs(KEYS) do
	if not values[at] then
		if redis.call('SET', key, ARGV[2], 'PX', ARGV[1], 'NX') then
			values[at] = false
		else
			values[at] = ARGV[2]
		end
	end
end
return values`;

/** ARGV: how long a tombstone lives. */
const TOMBSTONE = `
for _, key in ipairs(KEYS) do
	redis.call('SET', key, 'T', 'PX', ARGV[1])
end
return 'OK'`;

/** ARGV: the TTL, then for each key the mark that it must have, and the value; an empty value stands for one that is not cached. Returns how many keys had another mark. */
const FILL = `
local refused = 0
for at, key in ipairs(KEYS) do
	local mark = ARGV[2 * at]
	if redis.call('GETRANGE', key, 0, #mark - 1) == mark then
		local value = ARGV[2 * at + 1]
		if value == '' then
			redis.call('DEL', key)
		else
			redis.call('SET', key, value, 'PX', ARGV[1])
		end
	else
		refused = refused + 1
	end
end
return refused`;

/** Of the answer to INFO. */
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

/** A stored string with the mark of a value is a hit, any other makes readers wait. */
function toResult(key: string, stored: string): GetOrLeaseResult {
	const end = stored.indexOf(" ") + 1;
	if (end === 0 || !stored.startsWith("V")) return BUSY;
	return new Hit(key, stored, end);
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
		return { key: this.#key, token: this.#stored.slice(0, this.#end) };
	}
}

/** Returns how many keys were refused: all, where the server has no memory for them. */
async function fillBatch(
	client: RedisClient,
	fills: readonly Fill[],
	ttlMs: number,
	token: string,
): Promise<number> {
	const mark = `V${token} `;
	const refused = await evaluate(
		client,
		FILL,
		fills.map(({ lease }) => lease.key),
		[
			String(ttlMs),
			...fills.flatMap(({ lease, value }) => [
				lease.token as string,
				value !== null &&
				value.length <= MAX_VALUE_LENGTH &&
				value.isWellFormed()
					? mark + value
					: "",
			]),
		],
	);
	return typeof refused === "number" ? refused : fills.length;
}

/** The reply of a script; null if the server has no memory for what it writes. Any other error fails the connection. */
async function evaluate(
	client: RedisClient,
	script: string,
	keys: readonly string[],
	values: readonly string[],
): Promise<unknown> {
	try {
		return await client.eval(script, keys.length, ...keys, ...values);
	} catch (error) {
		if (isOutOfMemory(error)) return null;
		throw error;
	}
}

function isOutOfMemory(error: unknown): boolean {
	return error instanceof Error && /^OOM |-OOM /.test(error.message);
}

function inBatches<T>(
	names: string[],
	run: (batch: string[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
	if (names.length <= BATCH) return run(names);
	const batches: Promise<readonly T[]>[] = [];
	for (let at = 0; at < names.length; at += BATCH) {
		batches.push(run(names.slice(at, at + BATCH)));
	}
	return Promise.all(batches).then((all) => all.flat());
}
