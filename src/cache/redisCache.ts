import { randomUUID } from "node:crypto";
import { PendingDeletes } from "./pendingDeletes.ts";
import type { RedisClient } from "./redisConnection.ts";
import type {
	CommandConnection,
	RedisConnections,
} from "./redisConnections.ts";
import type { Fill, GetOrLeaseResult, SharedCache } from "./sharedCache.ts";

/**
 * The shared cache on Redis. A fill lease is a random token. The first letter of
 * a stored string says what it is: `V` a value, `L` the token of a lease, `T` a
 * tombstone.
 *
 *     getOrLease     MGET, and for each absent key: SET NX a token
 *     fill           a script: if the key still holds the token, SET the value
 *     putTombstones  SET a tombstone, whatever is there
 *     delete         DEL, whatever is there
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
}): SharedCache {
	const {
		redis,
		deadlineMs = 100,
		ttlMs = 3_600_000,
		leaseMs = 5_000,
		tombstoneMs = 2_000,
	} = options;
	const commands = redis.forCommands({
		deadlineMs,
		onUp: () => deletes.retry(),
	});
	const process = randomUUID();
	let leases = 0;

	/** Of one server: a lease keeps the name under which it was taken. */
	const prefixOf = async ({ runId }: CommandConnection) =>
		`c1.${(await runId).slice(0, RUN_ID_LETTERS)}.`;

	const deletes = new PendingDeletes({
		maxAgeMs: ttlMs + leaseMs,
		async send(keys, isProbe) {
			const done = await commands.call(
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
				{ isProbe },
			);
			return done ?? false;
		},
	});

	/** Of keys that may be read in the cache. */
	const askForAll: SharedCache["getOrLease"] = async (keys) => {
		if (keys.length === 0) return [];
		const until = performance.now() + deadlineMs;
		const results = new Array<GetOrLeaseResult>(keys.length).fill(DOWN);
		const stored = await commands.call(
			"get",
			keys.length,
			async (connection) => {
				const prefix = await prefixOf(connection);
				const names = keys.map((key) => prefix + key);
				const values = await inBatches(names, (batch) =>
					connection.client.mget(batch),
				);
				return { names, values };
			},
		);
		if (stored === null) return results;
		const missing: { readonly index: number; readonly token: string }[] = [];
		for (const [index, value] of stored.values.entries()) {
			if (value === null) {
				missing.push({ index, token: `L${process}.${++leases}` });
			} else {
				results[index] = value.startsWith("V")
					? { kind: "hit", value: value.slice(1) }
					: BUSY;
			}
		}
		if (missing.length === 0) return results;
		const replies = await commands.call(
			"lease",
			missing.length,
			async (connection) => {
				await connection.runId;
				return pipelined(
					connection.client,
					missing.map(({ index, token }) => [
						"set",
						stored.names[index] as string,
						token,
						"PX",
						leaseMs,
						"NX",
					]),
				);
			},
			{ deadlineMs: until - performance.now() },
		);
		for (const [at, reply] of replies?.entries() ?? []) {
			const { index, token } = missing[at] as (typeof missing)[number];
			if (reply === "OK") {
				const key = stored.names[index] as string;
				results[index] = { kind: "lease", lease: { key, token } };
			} else if (reply === null) {
				results[index] = BUSY;
			}
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
					bytes += (fills[at] as Fill).value.length;
				}
				const batch = fills.slice(from, at);
				const done = await commands.call(
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
			const replies = await commands.call(
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
			return replies?.every((reply) => reply === "OK") ?? false;
		},

		async delete(keys) {
			return keys.length === 0 || deletes.delete(keys);
		},

		untilDeleted: (keys, ms) => deletes.untilDone(keys, ms),

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

/** ARGV: the TTL, then for each key its token and the value; an empty value stands for one that is not cached. */
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
				value.length <= MAX_VALUE_LENGTH && value.isWellFormed()
					? `V${value}`
					: "",
			]),
		);
	} catch (error) {
		if (!isOutOfMemory(error)) throw error;
	}
}

/** The replies, "OOM" for a command that the server has no memory for. Any other error fails the connection. */
async function pipelined(
	client: RedisClient,
	commands: (string | number)[][],
): Promise<readonly unknown[]> {
	const replies = await client.pipeline(commands).exec();
	if (replies === null) throw new Error("Redis closed the connection.");
	return replies.map(([error, reply]) => {
		if (error === null) return reply;
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
