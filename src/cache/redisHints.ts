import { randomUUID } from "node:crypto";
import { listening } from "../util/listening.ts";
import type { RedisConnection } from "./redisConnection.ts";
import type { RedisConnections } from "./redisConnections.ts";

const CHANNEL = "corkboard.jobs.1";
/** Messages are so far apart; hints of one name in between are one. Milliseconds. */
const GATHER_MS = 3;
/** For a call, connecting included. */
const DEADLINE_MS = 200;
/** For a subscription to begin. */
const CONNECT_MS = 2 * DEADLINE_MS;
/** Before a lost subscription is made again. */
const RETRY_MS = 1_000;
/** A subscriber sends itself something so often, and after so long without it subscribes anew: Redis does not report that a connection is gone. */
const BEAT_MS = 5_000;
const SILENCE_MS = 15_000;
const LEADER_KEY = "corkboard.jobs.leader.2";

/** Takes the lease if nobody has it, or makes the own one longer. */
const LEAD = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

export interface RedisHints extends AsyncDisposable {
	/** Sends a hint to the other processes. */
	publish(name: string): void;
	/** Whether hints of other processes arrive at the moment. */
	readonly isConnected: boolean;
	/** Whether this process has the lease, which one process at a time has, of those that ask for it with the same names. It ends so many milliseconds after it was last asked for. */
	leads(
		names: readonly string[],
		lease: { readonly name: string; readonly ms: number },
	): Promise<boolean>;
}

/**
 * Sends names to other processes over a channel of Redis. A name may be lost,
 * or arrive twice.
 */
export function openRedisHints(options: {
	readonly redis: RedisConnections;
	readonly onHint: (name: string) => void;
}): RedisHints {
	const { redis, onHint } = options;
	const me = randomUUID();
	const commands = redis.forCommands({
		deadlineMs: DEADLINE_MS,
		longestPauseMs: RETRY_MS,
	});
	const waiting = new Set<string>();
	let timer: NodeJS.Timeout | undefined;
	let retry: NodeJS.Timeout | undefined;
	let subscription: RedisConnection | undefined;
	let isConnected = false;
	let isDisposed = false;
	/** When the last message of its own arrived. */
	let arrivedAt = 0;
	let lose = () => {};

	let sentAt = Number.NEGATIVE_INFINITY;
	const send = () => {
		timer = undefined;
		sentAt = performance.now();
		const message = `${me} ${[...waiting].join(",")}`;
		const count = waiting.size;
		waiting.clear();
		void commands.call("publish", count, ({ client, withRunId }) =>
			withRunId(() => client.publish(CHANNEL, message)),
		);
	};

	const subscribe = () => {
		const lost = () => {
			if (subscription !== connection) return;
			stopWaiting();
			connection.close();
			subscription = undefined;
			isConnected = false;
			if (!isDisposed) retry = setTimeout(subscribe, RETRY_MS).unref();
		};
		const connection = redis.forSubscription(lost);
		subscription = connection;
		const stopWaiting = listening.after(CONNECT_MS, lost);
		lose = lost;
		connection.client.on("message", (_, text) => {
			const [from, names = ""] = text.split(" ", 2);
			if (from === me) {
				arrivedAt = performance.now();
				return;
			}
			for (const name of names.split(",")) if (name !== "") onHint(name);
		});
		connection.runId
			.then(() => connection.client.subscribe(CHANNEL))
			.then(
				() => {
					stopWaiting();
					arrivedAt = performance.now();
					isConnected = subscription === connection;
				},
				() => lost(),
			);
	};
	subscribe();
	const beat = setInterval(() => {
		if (isConnected && performance.now() - arrivedAt > SILENCE_MS) lose();
		timer ??= setTimeout(send, GATHER_MS);
	}, BEAT_MS).unref();

	return {
		publish(name) {
			if (isDisposed) return;
			waiting.add(name);
			// The first one goes at once; those that follow it soon gather.
			const sinceMs = performance.now() - sentAt;
			timer ??= setTimeout(send, sinceMs >= GATHER_MS ? 0 : GATHER_MS);
		},
		get isConnected() {
			return isConnected;
		},
		async leads(names, lease) {
			const key = `${LEADER_KEY} ${lease.name} ${names.toSorted().join()}`;
			const reply = await commands.call("take", 1, ({ client, withRunId }) =>
				withRunId(() => client.eval(LEAD, 1, key, me, String(lease.ms))),
			);
			// Without Redis each process is on its own.
			return reply === null || reply === 1;
		},
		async [Symbol.asyncDispose]() {
			isDisposed = true;
			clearTimeout(timer);
			clearTimeout(retry);
			clearInterval(beat);
			lose();
			clearTimeout(retry);
			commands[Symbol.dispose]();
		},
	};
}
