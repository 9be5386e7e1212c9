import { randomUUID } from "node:crypto";
import { CacheConnection } from "./cacheConnection.ts";
import {
	type RedisClient,
	RedisConnection,
	redisHost,
} from "./redisConnection.ts";
import type { Fill, GetOrLeaseResult, SharedCache } from "./sharedCache.ts";

/**
 * Leases as tokens that nobody else has. The first letter of what is stored
 * says what it is: V a value, L a lease's token, T a tombstone.
 *
 *     look   MGET, and where nothing is: SET NX a token
 *     fill   a script: if it still holds my token, SET the value
 *     bury   SET a tombstone, whatever is there
 *     clear  DEL, whatever is there
 *
 * Why `clear` deletes also what is newer than the write it is for. R reads, W
 * writes:
 * - R leases after W's commit and W's clear, late or repeated by the sweeper,
 *   takes the token away: R's fill is refused and the next reader leases again.
 *   A read lost, nothing old kept.
 * - W's tombstone runs out before its commit, R leases, reads the old row and
 *   fills it, W commits: only a clear that deletes values too mends that. So
 *   "delete if it is still my tombstone" would be wrong.
 * - The same, but R fills after W's clear: the token is gone, so it is refused.
 *   Had a third one leased meanwhile, the token there is another.
 *
 * The keys carry the server's run_id, asked at each connect before anything
 * else: a server that comes back from a snapshot, or a replica promoted in
 * another's place, has heads that were buried meanwhile under a name that
 * nobody asks for. (A server that was demoted, and is promoted again without a
 * restart, keeps its run_id: it has to be emptied first.)
 *
 * Without memory to spare Redis evicts (`maxmemory-policy allkeys-lru` is how it
 * should run) or, if it may not, refuses what is stored: then leases are not
 * given and fills are dropped, tombstones are owed, hits and `clear` go on.
 */
export function openRedisCache(options: {
	/** `redis://…` or `rediss://…` */
	readonly url: string;
	/** For each batch, connecting included. */
	readonly deadlineMs?: number;
	readonly ttlMs?: number;
	readonly leaseMs?: number;
	readonly tombstoneMs?: number;
}): SharedCache {
	const {
		url,
		deadlineMs = 100,
		ttlMs = 3_600_000,
		leaseMs = 5_000,
		tombstoneMs = 2_000,
	} = options;
	const link = new CacheConnection({
		layer: "redis",
		host: redisHost(url),
		deadlineMs,
		open: (lost) => new RedisConnection(url, deadlineMs, lost),
	});
	const process = randomUUID();
	let leases = 0;

	/** Names are of one server: those of a lease stay as they were looked up. */
	const prefixOf = async ({ runId }: RedisConnection) =>
		`c1.${(await runId).slice(0, RUN_ID_LETTERS)}.`;

	return {
		layer: "redis",

		async getOrLease(keys) {
			if (keys.length === 0) return [];
			const until = performance.now() + deadlineMs;
			const looked = new Array<GetOrLeaseResult>(keys.length).fill(DOWN);
			const found = await link.call("get", keys.length, async (connection) => {
				const prefix = await prefixOf(connection);
				const names = keys.map((key) => prefix + key);
				const values = await inBatches(names, (batch) =>
					connection.client.mget(batch),
				);
				return { names, values };
			});
			if (found === null) return looked;
			const missing: { readonly index: number; readonly token: string }[] = [];
			for (const [index, value] of found.values.entries()) {
				if (value === null) {
					missing.push({ index, token: `L${process}.${++leases}` });
				} else {
					looked[index] = value.startsWith("V")
						? { kind: "hit", value: value.slice(1) }
						: BUSY;
				}
			}
			if (missing.length === 0) return looked;
			const answers = await link.call(
				"lease",
				missing.length,
				async (connection) => {
					await connection.runId;
					return pipelined(
						connection.client,
						missing.map(({ index, token }) => [
							"set",
							found.names[index] as string,
							token,
							"PX",
							leaseMs,
							"NX",
						]),
					);
				},
				until - performance.now(),
			);
			for (const [at, answer] of answers?.entries() ?? []) {
				const { index, token } = missing[at] as (typeof missing)[number];
				if (answer === "OK") {
					const key = found.names[index] as string;
					looked[index] = { kind: "lease", lease: { key, token } };
				} else if (answer === null) {
					looked[index] = BUSY;
				}
			}
			return looked;
		},

		async fill(fills) {
			for (let at = 0; at < fills.length; ) {
				const from = at;
				for (let bytes = 0; at < fills.length && bytes < BATCH_BYTES; at++) {
					bytes += (fills[at] as Fill).value.length;
				}
				const batch = fills.slice(from, at);
				const done = await link.call(
					"set",
					batch.length,
					async (connection) => {
						await connection.runId;
						await fillBatch(connection.client, batch, ttlMs);
						return true;
					},
				);
				if (done === null) return;
			}
		},

		async putTombstones(keys) {
			if (keys.length === 0) return true;
			const answers = await link.call(
				"tombstone",
				keys.length,
				async (connection) => {
					const prefix = await prefixOf(connection);
					return pipelined(
						connection.client,
						keys.map((key) => ["set", prefix + key, "T", "PX", tombstoneMs]),
					);
				},
			);
			return answers?.every((answer) => answer === "OK") ?? false;
		},

		async delete(keys) {
			if (keys.length === 0) return true;
			const done = await link.call(
				"delete",
				keys.length,
				async (connection) => {
					const prefix = await prefixOf(connection);
					const names = keys.map((key) => prefix + key);
					await inBatches(names, async (batch) => [
						await connection.client.del(batch),
					]);
					return true;
				},
			);
			return done ?? false;
		},

		async [Symbol.asyncDispose]() {
			link[Symbol.dispose]();
		},
	};
}

const BUSY: GetOrLeaseResult = { kind: "busy" };
const DOWN: GetOrLeaseResult = { kind: "down" };

/** Of forty; 64 bits are enough to tell servers apart, and keys are sent a hundred at a time. */
const RUN_ID_LETTERS = 16;
/** Keys in one command: Redis does nothing else meanwhile. */
const BATCH = 1_000;
/** Of values in one command: larger ones would keep reads waiting behind them. */
const BATCH_BYTES = 256 * 1024;
const MOST_VALUE_LENGTH = 1_000_000;

/** For each key: its token, and what to put in its place; nothing for a value that is not to be kept. */
const FILL = `
for at, key in ipairs(KEYS) do
	if redis.call('GET', key) == ARGV[2 * at] then
		local value = ARGV[2 * at + 1]
		if value == '' then
			redis.call('DEL', key)
		else
			redis.call('SET', key, value, 'PX', ARGV[1])
		end
	end
end`;

async function fillBatch(
	client: RedisClient,
	fills: readonly Fill[],
	ttlMs: number,
): Promise<void> {
	try {
		await client.eval(
			FILL,
			fills.length,
			...fills.map(({ lease }) => lease.key),
			String(ttlMs),
			...fills.flatMap(({ lease, value }) => [
				lease.token as string,
				value.length <= MOST_VALUE_LENGTH && value.isWellFormed()
					? `V${value}`
					: "",
			]),
		);
	} catch (error) {
		if (!isOutOfMemory(error)) throw error;
	}
}

/** The answers, with OOM for what the server has no memory for. Any other error is the connection's. */
async function pipelined(
	client: RedisClient,
	commands: (string | number)[][],
): Promise<readonly unknown[]> {
	const answers = await client.pipeline(commands).exec();
	if (answers === null) throw new Error("Redis closed the connection");
	return answers.map(([error, answer]) => {
		if (error === null) return answer;
		if (isOutOfMemory(error)) return "OOM";
		throw error;
	});
}

function isOutOfMemory(error: unknown): boolean {
	return error instanceof Error && error.message.startsWith("OOM ");
}

async function inBatches<T>(
	names: string[],
	run: (batch: string[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
	if (names.length <= BATCH) return run(names);
	const batches: Promise<readonly T[]>[] = [];
	for (let at = 0; at < names.length; at += BATCH) {
		batches.push(run(names.slice(at, at + BATCH)));
	}
	return (await Promise.all(batches)).flat();
}
