import { randomInt, randomUUID } from "node:crypto";
import type {
	RedisConnections,
	SubscriptionConnection,
} from "../cache/redis/redisConnections.ts";
import {
	CommandsByName,
	type RedisByName,
} from "../cache/redis/redisServers.ts";
import { listening } from "../util/listening.ts";

/** A channel for some workers of a queue: what concerns one of them, all of these receive, and no others. */
const CHANNEL = "corkboard.jobs.2";
/** Workers of a queue on a channel, and such channels of a queue at most. */
export const GROUP = 16;
const GROUPS = 64;
/** Messages are so far apart; hints of one name in between are one. Milliseconds. */
const GATHER_MS = 3;
/** For a call, connecting included. */
const DEADLINE_MS = 200;
/** For a subscription to begin. */
const CONNECT_MS = 2 * DEADLINE_MS;
/** Before a lost subscription is made again. */
const RETRY_MS = 1_000;
/** A subscriber sends PING so often, and after so long without an answer subscribes anew: Redis does not report that a connection is gone. */
const BEAT_MS = 5_000;
const SILENCE_MS = 15_000;
/** By which the one Redis of hints is chosen. */
const NAME = "jobs";
const LEADER_KEY = "corkboard.jobs.leader.3";

/** How many subscribers the channels of a queue have. */
const COUNTS = `
local function counts(queue)
	local names = {}
	for nth = 1, ${GROUPS} do names[nth] = '${CHANNEL}.' .. queue .. '.' .. nth end
	return redis.call('PUBSUB', 'NUMSUB', unpack(names))
end
`;

/** ARGV: queues. The channel of each that has room, or the last one. */
const JOIN = `${COUNTS}
local joined = {}
for at = 1, #ARGV do
	local found = counts(ARGV[at])
	for nth = 1, #found, 2 do
		joined[at] = found[nth]
		if found[nth + 1] < ${GROUP} then break end
	end
end
return joined`;

/** ARGV: a number at random below 1,000,000, the process, and of each queue its name and hints. Each worker gets as many. */
const HINT = `${COUNTS}
for at = 3, #ARGV, 2 do
	local found = counts(ARGV[at])
	local all = 0
	for nth = 2, #found, 2 do all = all + found[nth] end
	local left = ARGV[1] % math.max(all, 1)
	for nth = 1, #found, 2 do
		left = left - found[nth + 1]
		if left < 0 then
			if all > 0 then redis.call('PUBLISH', found[nth], ARGV[2] .. ' ' .. ARGV[at + 1]) end
			break
		end
	end
end
return 1`;

/** Takes the lease if nobody has it, or makes the own one longer. */
const LEAD = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

interface RedisHints extends AsyncDisposable {
	/** Sends a hint to some of the processes that listen for the queue. */
	publish(queue: string, hint: string): void;
	/** From now on hints of others for these queues arrive. The function returned ends that. */
	listen(queues: readonly string[]): () => void;
	/** Whether they do at the moment. */
	readonly isConnected: boolean;
	/** Whether this process has the lease, which one process at a time has, of those that ask for it with the same names. It ends so many milliseconds after it was last asked for. */
	leads(
		names: readonly string[],
		lease: { readonly name: string; readonly ms: number },
	): Promise<boolean>;
}

/**
 * Sends hints to other processes over channels of Redis. One may be lost, or
 * arrive twice. If all workers received each, a fleet would deliver their number
 * times the jobs.
 */
export function openRedisHints(options: {
	readonly redis: RedisByName;
	readonly onHint: (hint: string) => void;
}): RedisHints {
	const { redis, onHint } = options;
	const me = randomUUID();
	const commands = new CommandsByName(redis, {
		deadlineMs: DEADLINE_MS,
		longestPauseMs: RETRY_MS,
	});
	/** By queue. */
	let waiting = new Map<string, Set<string>>();
	let timer: NodeJS.Timeout | undefined;
	let isDisposed = false;

	const run = (verb: "publish" | "take", count: number, given: string[]) => {
		const [script = "", ...rest] = given;
		return commands
			.of(NAME)
			.call(verb, count, ({ client, withRunId }) =>
				withRunId(() => client.eval(script, 0, ...rest)),
			);
	};

	let sentAt = Number.NEGATIVE_INFINITY;
	const send = () => {
		timer = undefined;
		sentAt = performance.now();
		const hints = [...waiting].flatMap(([queue, hints]) => [
			queue,
			[...hints].join(),
		]);
		const { size } = waiting;
		waiting = new Map();
		const random = String(randomInt(1_000_000));
		void run("publish", size, [HINT, random, me, ...hints]);
	};

	const subscription = subscribeToHints({
		redis,
		onMessage(text) {
			const [from, hints = ""] = text.split(" ", 2);
			if (from !== me) for (const hint of hints.split(",")) onHint(hint);
		},
		join: (queues) => run("take", queues.length, [JOIN, ...queues]),
	});

	return {
		publish(queue, hint) {
			if (isDisposed) return;
			const hints = waiting.get(queue) ?? new Set();
			waiting.set(queue, hints.add(hint));
			// The first one goes at once; those that follow it soon gather.
			const sinceMs = performance.now() - sentAt;
			timer ??= setTimeout(send, sinceMs >= GATHER_MS ? 0 : GATHER_MS);
		},
		listen: (queues) => subscription.listen(queues),
		get isConnected() {
			return subscription.isConnected;
		},
		async leads(names, lease) {
			const key = `${LEADER_KEY} ${lease.name} ${names.toSorted().join()}`;
			const reply = await commands
				.of(NAME)
				.call("take", 1, ({ client, withRunId }) =>
					withRunId(() => client.eval(LEAD, 1, key, me, String(lease.ms))),
				);
			// Without Redis each process is on its own.
			return reply === null || reply === 1;
		},
		async [Symbol.asyncDispose]() {
			isDisposed = true;
			clearTimeout(timer);
			subscription[Symbol.dispose]();
			commands[Symbol.dispose]();
		},
	};
}

/** The channels of the queues that this process listens for, over one subscription. */
function subscribeToHints(options: {
	readonly redis: RedisByName;
	readonly onMessage: (text: string) => void;
	/** The channels to subscribe to for these queues; no list if Redis does not answer. */
	readonly join: (queues: readonly string[]) => Promise<unknown>;
}): Pick<RedisHints, "listen" | "isConnected"> & Disposable {
	const listeners = new Set<readonly string[]>();
	let retry: NodeJS.Timeout | undefined;
	let subscription: SubscriptionConnection | undefined;
	let subscribed: RedisConnections | undefined;
	/** By queue, the channel of its hints that is subscribed to. */
	const joined = new Map<string, string>();
	/** What is asked of the subscription goes one after the other. */
	let following: Promise<void> = Promise.resolve();
	let isDisposed = false;
	/** When the last PING was answered. */
	let answeredAt = 0;
	let lose = () => {};

	/** Joins a channel for each queue that is listened for, and leaves those of others. */
	const follow = async (client: SubscriptionConnection["client"]) => {
		const queues = new Set([...listeners].flat());
		for (const [queue, channel] of joined) {
			if (queues.has(queue)) continue;
			joined.delete(queue);
			await client.unsubscribe(channel);
		}
		const missing = [...queues].filter((queue) => !joined.has(queue));
		if (missing.length === 0) return;
		const channels = await options.join(missing);
		if (!Array.isArray(channels)) throw new Error("Redis does not answer.");
		await client.subscribe(...channels.map(String));
		for (const [nth, queue] of missing.entries()) {
			joined.set(queue, String(channels[nth]));
		}
	};

	const subscribe = () => {
		if (isDisposed || listeners.size === 0 || subscription !== undefined)
			return;
		const lost = () => {
			if (subscription !== connection) return;
			stopWaiting();
			connection.close();
			subscription = undefined;
			joined.clear();
			retry = setTimeout(subscribe, RETRY_MS).unref();
		};
		const redis = options.redis.of(NAME);
		const connection = redis.forSubscription(lost);
		subscription = connection;
		subscribed = redis;
		const stopWaiting = listening.after(CONNECT_MS, lost);
		lose = lost;
		connection.client.on("message", (_, text) => {
			options.onMessage(text);
		});
		answeredAt = performance.now();
		following = connection.runId
			.then(() => follow(connection.client))
			.then(stopWaiting)
			.catch(lost);
	};
	const followAgain = () => {
		const connection = subscription;
		if (connection === undefined) return subscribe();
		following = following
			.then(() => follow(connection.client))
			.catch(() => {
				if (subscription === connection) lose();
			});
	};
	const beat = setInterval(() => {
		if (subscription === undefined) return;
		// The hints are at another Redis now.
		if (options.redis.of(NAME) !== subscribed) return lose();
		if (performance.now() - answeredAt > SILENCE_MS) return lose();
		followAgain();
		subscription.client.ping().then(
			() => {
				answeredAt = performance.now();
			},
			() => {},
		);
	}, BEAT_MS).unref();

	return {
		listen(queues) {
			listeners.add(queues);
			followAgain();
			// Its channels are left a little later, because a program that claims jobs now and then comes back.
			return () => void listeners.delete(queues);
		},
		get isConnected() {
			return (
				joined.size > 0 &&
				[...listeners].flat().every((queue) => joined.has(queue))
			);
		},
		[Symbol.dispose]() {
			isDisposed = true;
			clearInterval(beat);
			lose();
			clearTimeout(retry);
		},
	};
}
