import { randomUUID } from "node:crypto";
import type { RedisConnections } from "../cache/redis/redisConnections.ts";
import {
	CommandsByName,
	type RedisByName,
} from "../cache/redis/redisServers.ts";
import { CorkboardError } from "../errors.ts";
import {
	DAY_MS,
	OTHER,
	USAGE_LIMITS,
	type UsageBatch,
	type UsageDay,
	type UsageLimits,
	type UsageStore,
} from "./usageStore.ts";

/*
 * In Redis, each day is two hashes that expire with it:
 *
 *     c1.usage.2026-11-22            since                           when its counting began
 *                                    r CLIENT DOCUMENT               requests
 *                                    f CLIENT COORDINATE             uses in requests for other documents
 *     c1.usage.2026-11-22.documents  DOCUMENT                        its coordinates, separated by spaces
 *                                    bytes                           of all of these
 *
 * The parts of a name are separated by tabs, which none of them holds.
 */
const PREFIX = "c1.usage.";
const SENT_TTL_MS = 3_600_000;

/** How long a call may take: no request waits for it. */
const ADD_MS = 1_000;
/** What other users of the connection give theirs: when one of them replaces it, it stays open for no longer than theirs need. */
const SHARED_DEADLINE_MS = 100;
const READ_MS = 15_000;

/**
 * Adds a batch, once. KEYS: the day, its documents, the last batch of the
 * recorder. ARGV: number of the batch, its time, the day's lifetime (ms), limits
 * (entries, bytes), the number of documents, then of each client, key, count,
 * coordinates; then of each other client its name, requests, number of
 * coordinates, and each of those with its count.
 */
const ADD = `
if redis.call('GET', KEYS[3]) == ARGV[1] then return 0 end
local max, max_bytes = tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('HSETNX', KEYS[1], 'since', ARGV[2])
local size = redis.call('HLEN', KEYS[1])
local function add(kind, client, name, count)
	local entry = kind .. '\\t' .. client .. '\\t' .. name
	if redis.call('HEXISTS', KEYS[1], entry) == 0 then
		if size >= max then entry = kind .. '\\t${OTHER}\\t' .. name
		else size = size + 1 end
	end
	redis.call('HINCRBY', KEYS[1], entry, count)
end
local at = 7
for _ = 1, tonumber(ARGV[6]) do
	local client, key, count, uses = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
	at = at + 4
	local known = redis.call('HEXISTS', KEYS[2], key) == 1
	if not known then
		local bytes = tonumber(redis.call('HGET', KEYS[2], 'bytes') or '0')
		local own = #key + #uses
		if bytes + own <= max_bytes then
			redis.call('HSET', KEYS[2], key, uses)
			redis.call('HINCRBY', KEYS[2], 'bytes', own)
			known = true
		end
	end
	if known then
		add('r', client, key, count)
	else
		add('r', client, '${OTHER}', count)
		for coordinate in string.gmatch(uses, '%S+') do add('f', client, coordinate, count) end
	end
end
while at <= #ARGV do
	local client, requests, coordinates = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
	at = at + 3
	if requests ~= '0' then add('r', client, '${OTHER}', requests) end
	for _ = 1, coordinates do
		add('f', client, ARGV[at], ARGV[at + 1])
		at = at + 2
	end
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('SET', KEYS[3], ARGV[1], 'PX', ${SENT_TTL_MS})
return 1`;

/** The store of processes that share a Redis. */
export function openRedisUsage(options: {
	readonly redis: RedisByName;
	/** Days that are kept. */
	readonly days: number;
	readonly log: { warn(fields: object, message: string): void };
	readonly limits?: UsageLimits;
	/** For each call, connecting included. */
	readonly deadlineMs?: number;
}): UsageStore {
	const { redis, days, log, limits = USAGE_LIMITS } = options;
	const { deadlineMs = ADD_MS } = options;
	const commands = new CommandsByName(redis, {
		deadlineMs: SHARED_DEADLINE_MS,
	});
	let isFailing = false;
	const sentKey = `${PREFIX}sent.${randomUUID()}`;
	return {
		async add(batch) {
			const keys = [
				`${PREFIX}${batch.day}`,
				`${PREFIX}${batch.day}.documents`,
				sentKey,
			];
			const given = [
				batch.number,
				batch.at,
				(days + 1) * DAY_MS,
				limits.entries,
				limits.documentBytes,
				...parametersOf(batch),
			].map(String);
			const replies = await commands.of(batch.day).call(
				"count",
				1,
				({ client, withRunId }) =>
					// Known once connected, and only of a master, which takes writes. In a
					// pipeline an error of the script, such as OOM, does not fail the connection.
					withRunId(() =>
						client
							.pipeline([["eval", ADD, keys.length, ...keys, ...given]])
							.exec(),
					),
				{ deadlineMs, isProbe: true },
			);
			const error = replies?.[0]?.[0];
			if (error && !isFailing) {
				log.warn({ reason: error.message }, "usage not stored");
			}
			isFailing = Boolean(error);
			return Boolean(replies) && !error;
		},
		async [Symbol.asyncDispose]() {
			commands[Symbol.dispose]();
		},
	};
}

function parametersOf({
	documents,
	others,
}: UsageBatch): readonly (string | number)[] {
	return [
		documents.length,
		...documents.flatMap(({ client, key, count, coordinates }) => [
			client,
			key,
			count,
			coordinates.join(" "),
		]),
		...others.flatMap(({ client, requests, coordinates }) => [
			client,
			requests,
			coordinates.length,
			...coordinates.flat(),
		]),
	];
}

/** The days that Redis has of these, in their order. A former server of a day may have a part of it. Throws UNAVAILABLE. */
export async function readRedisUsage(
	redis: RedisByName,
	days: readonly string[],
	deadlineMs = READ_MS,
): Promise<readonly UsageDay[]> {
	const parts = await Promise.all(
		redis.all.map((each) => readFrom(each, days, deadlineMs)),
	);
	return days.flatMap((day, index) => {
		const entries = (at: number) =>
			parts.flatMap((replies) => entriesOf(replies[at]));
		const counts = entries(2 * index);
		return counts.length === 0
			? []
			: [toDay(day, counts, entries(2 * index + 1))];
	});
}

/** For each day its counts and its documents. */
async function readFrom(
	redis: RedisConnections,
	days: readonly string[],
	deadlineMs: number,
): Promise<readonly unknown[]> {
	using commands = redis.forCommands({ deadlineMs });
	const replies = await commands.call(
		"get",
		days.length,
		({ client, withRunId }) =>
			withRunId(() =>
				client
					.pipeline(
						days.flatMap((day) => [
							["hgetall", `${PREFIX}${day}`],
							["hgetall", `${PREFIX}${day}.documents`],
						]),
					)
					.exec(),
			),
	);
	const failed = replies?.find(([error]) => error !== null);
	if (!replies || failed) {
		throw new CorkboardError(
			"UNAVAILABLE",
			`Redis at ${redis.host} could not be read${failed?.[0] ? `: ${failed[0].message}` : "."}`,
			failed?.[0] ? { cause: failed[0] } : {},
		);
	}
	return replies.map(([, reply]) => reply);
}

type Entries = readonly (readonly [string, string])[];

/** `HGETALL` by `pipeline` gives names and values in turn. */
function entriesOf(reply: unknown): Entries {
	const flat = Array.isArray(reply)
		? (reply as string[])
		: Object.entries(reply ?? {}).flat();
	return Array.from({ length: flat.length / 2 }, (_, index) => [
		String(flat[2 * index]),
		String(flat[2 * index + 1]),
	]);
}

function toDay(day: string, counts: Entries, documents: Entries): UsageDay {
	const requests = new Map<string, Map<string, number>>();
	const fields = new Map<string, Map<string, number>>();
	let since: string | null = null;
	for (const [entry, value] of counts) {
		const [kind, client = "", name = ""] = entry.split("\t");
		if (kind === "since" && (since === null || value < since)) since = value;
		const into = kind === "r" ? requests : kind === "f" ? fields : null;
		if (into === null) continue;
		const own = into.get(client) ?? new Map<string, number>();
		const count = (own.get(name) ?? 0) + Number(value);
		into.set(client, own.set(name, count));
	}
	return {
		day,
		since: since ?? `${day}T00:00:00.000Z`,
		requests,
		fields,
		documents: new Map(
			documents
				.filter(([key]) => key !== "bytes")
				.map(([key, uses]) => [key, uses === "" ? [] : uses.split(" ")]),
		),
	};
}
