import { randomUUID } from "node:crypto";
import type { RedisConnections } from "../cache/redisConnections.ts";
import type { InvalidationMessage } from "./invalidationMessage.ts";
import { InvalidationPublisher, type Sent } from "./invalidationPublisher.ts";
import {
	CHANNEL,
	HEARTBEAT_MS,
	type InvalidationListener,
	InvalidationSubscriber,
} from "./invalidationSubscriber.ts";

/**
 * Processes publish over Redis which entries of their local caches the others
 * have to drop (docs/consistency.md "Freshness by protocol").
 *
 * Subscriber: see invalidationSubscriber.ts.
 *
 * Publisher. A process whose connection to Redis is down still writes, and
 * processes with a live subscription still cache what it changed. So it keeps
 * the keys that Redis did not take and sends them after its next heartbeat that
 * gets through. A key received twice, late or out of order only costs a refill.
 *
 * Until then, and if the process dies, the outbox entries of these changes stay:
 * any process publishes them (outboxWatch.ts).
 */
export interface InvalidationChannel extends AsyncDisposable {
	/** Whether Redis took the keys; if not, they are sent later. Never rejects. */
	publish(keys: readonly string[]): Promise<boolean>;
	/** Whether Redis took all that was published of these keys, after waiting for that at most so long. */
	untilPublished(keys: readonly string[], ms: number): Promise<boolean>;
	/** How many messages were not in our format. Each empties the caches: it may have named anything. */
	readonly ignoredMessages: number;
	/**
	 * Whether the newest heartbeat is too old, though the subscription is not
	 * lost: the process stood still and messages lie in the socket, or it is cut
	 * off. Nothing cached is good until that is known.
	 */
	readonly isOverdue: boolean;
	/** Settles when it is not overdue: a fresh heartbeat was received, or the subscription is lost. Never rejects. */
	untilProven(): Promise<void>;
}

export function openInvalidationChannel(
	options: InvalidationListener & {
		readonly redis: RedisConnections;
		/** For one pipeline of messages, connecting included. */
		readonly deadlineMs?: number;
		/** Whether a message arrives: what tests lose. */
		readonly receives?: (message: InvalidationMessage) => boolean;
		/** Called before each heartbeat. */
		readonly onBeat?: () => void;
	},
): InvalidationChannel {
	const { redis, deadlineMs = 100 } = options;
	const me = randomUUID();
	const commands = redis.forCommands({
		deadlineMs,
		longestPauseMs: HEARTBEAT_MS,
	});
	/** Work that has to end before the connection closes. */
	const running = new Set<Promise<unknown>>();
	let disposed = false;
	/** When the newest heartbeat was sent. */
	let sentLast = Number.NEGATIVE_INFINITY;

	/** A PUBLISH for each message, in one script. */
	const send = async (
		count: number,
		messages: () => readonly string[],
		options?: { readonly isProbe: boolean },
	): Promise<Sent> => {
		let sent: Sent = "refused";
		let isOver = false;
		await commands.call(
			"publish",
			count,
			({ client, sendNow, withRunId }) =>
				withRunId(async () => {
					// Their numbers may be used again.
					if (isOver) return;
					sent = "unknown";
					const given = [CHANNEL, ...messages()];
					const taken = client.eval(PUBLISH, 1, GUARD_KEY, ...given);
					sendNow();
					await taken;
					sent = "taken";
				}),
			options,
		);
		isOver = true;
		return sent;
	};
	const publisher = new InvalidationPublisher({
		from: me,
		send: (messages) => send(messages.length, () => messages),
		maxPendingKeys: MAX_PENDING_KEYS,
		maxAgeMs: PENDING_MS,
	});

	const track = <T>(work: Promise<T>): Promise<T> => {
		running.add(work);
		return work.finally(() => running.delete(work));
	};

	/** It says when it was sent, not when it was decided on. */
	const sendHeartbeat = (): Promise<Sent> => {
		// What is due is done before the heartbeat is sent: whoever received it has done it.
		options.onBeat?.();
		return track(
			send(
				1,
				() => {
					sentLast = performance.now();
					return [publisher.heartbeat(sentLast)];
				},
				{ isProbe: true },
			),
		);
	};

	const subscriber = new InvalidationSubscriber({
		...options,
		me,
		sendHeartbeat,
		sentLast: () => sentLast,
	});

	const beat = () => {
		if (disposed) return;
		subscriber.beat();
		void sendHeartbeat().then((sent) =>
			// It ends before the next heartbeat, which resumes it.
			sent === "taken" ? track(publisher.sendPending(HEARTBEAT_MS)) : undefined,
		);
	};
	beat();
	// After a busy stretch, messages that lie in the socket are read before they are missed: see util/deadline.ts.
	const timer = setInterval(() => setImmediate(beat), HEARTBEAT_MS);

	return {
		async publish(keys) {
			return keys.length === 0 || track(publisher.publish(keys));
		},
		untilPublished: (keys, ms) => publisher.untilPublished(keys, ms),
		get ignoredMessages() {
			return subscriber.ignoredMessages;
		},
		get isOverdue() {
			return subscriber.isOverdue;
		},
		untilProven: () => subscriber.untilProven(),
		async [Symbol.asyncDispose]() {
			disposed = true;
			clearInterval(timer);
			subscriber[Symbol.dispose]();
			await Promise.all(running);
			// The last attempt: no heartbeat follows.
			await publisher.sendPending(HEARTBEAT_MS);
			commands[Symbol.dispose]();
		},
	};
}

/**
 * ARGV: the channel and the messages. A server that was demoted takes PUBLISH as
 * before, though nobody else listens there any more, so a write goes first,
 * which it refuses. It needs no memory: a full server takes it.
 */
const PUBLISH = `
redis.call('DEL', KEYS[1])
for at = 2, #ARGV do
	redis.call('PUBLISH', ARGV[1], ARGV[at])
end
return #ARGV - 1`;
const GUARD_KEY = "corkboard.master";

/** 50 messages, about half a megabyte. Above that it is cheaper for subscribers to empty their caches. */
export const MAX_PENDING_KEYS = 5_000;
/** How long keys that Redis did not take are sent again. By then others have published them from the outbox, or bypass its shard. */
const PENDING_MS = 10_000;
