import { randomUUID } from "node:crypto";
import { CHANNELS, type Invalidation } from "../diagnostics.ts";
import { listening } from "../util/listening.ts";
import {
	decodeMessage,
	type InvalidationMessage,
} from "./invalidationMessage.ts";
import { InvalidationPublisher, type Sent } from "./invalidationPublisher.ts";
import { ReceivedNumbers } from "./receivedNumbers.ts";
import type { RedisConnection } from "./redisConnection.ts";
import type { RedisConnections } from "./redisConnections.ts";

/**
 * Processes publish over Redis which entries of their local caches the others
 * have to drop (docs/consistency.md "Freshness by protocol").
 *
 * Subscriber. Redis does not report a lost message, so a process trusts its
 * subscription only while it receives its own heartbeats. What others published
 * before a heartbeat was sent has been received when it is, so its age counts:
 *
 *     live ──newest one 1 s old──▶ overdue ──no fresh one comes──▶ lost
 *      ▲                             │                              │
 *      └────── a fresh one ──────────┴──────────────────────────────┘
 *
 * Overdue, nothing cached is good. Mostly it is the process that is late: its
 * heartbeat, and all before it, lie in the socket. So it sends one more and reads
 * its socket; readers wait for that, since it takes milliseconds, and to read
 * past the caches would make the process later still. Only if none comes although
 * it listened is it cut off: lost, it bypasses its local caches, until a fresh
 * one arrives after all. Then it has received all that lay before it.
 *
 * It starts lost, and is lost at once where the subscription ends. A new one is
 * trusted after two heartbeats more, in which it hears of every publisher. From then on a
 * message that was missed shows in the numbers of those after it
 * (receivedNumbers.ts), and empties the caches.
 *
 * Publisher. A process whose connection to Redis is down still writes, and
 * processes with a live subscription still cache what it changed. So it keeps
 * the keys that Redis did not take and sends them after its next heartbeat that
 * gets through. A key received twice, late or out of order only costs a refill.
 *
 * Until then, and if the process dies, the outbox entries of these changes stay:
 * any process publishes them (../graph/outbox/outboxWatch.ts).
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

export interface InvalidationListener {
	/** Another process changed these keys. */
	onInvalidations(keys: readonly string[]): void;
	/** Invalidations may be missed from now on, or were. Also called once at the start. */
	onLost(): void;
	/** Invalidations are received again. What was read before may be stale. */
	onRestored(): void;
	/** Some were missed, while others are received. Anything cached may be stale. */
	onMissed(): void;
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
	const received = new ReceivedNumbers();
	let subscription: Subscription | undefined;
	let live = false;
	/** When the newest heartbeat was sent. */
	let sentLast = Number.NEGATIVE_INFINITY;
	/** While it is overdue and listens for a heartbeat. */
	let proof: Proof | undefined;
	let ignoredMessages = 0;
	let disposed = false;

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

	const bypass = () => {
		if (live) {
			live = false;
			report({ kind: "subscription", isLive: false });
			options.onLost();
		}
		proof?.end();
	};

	const lose = () => {
		subscription?.connection.close();
		subscription = undefined;
		bypass();
	};

	/** A lost subscriber needs nothing: its caches are emptied when it is restored. */
	const invalidateAll = (reason: "gap" | "all" | "unreadable") => {
		if (!live) return;
		report({ kind: "missed", reason });
		options.onMissed();
	};

	const receive = (from: Subscription, text: string) => {
		if (from !== subscription) return;
		const message = decodeMessage(text);
		if (message === null) {
			ignoredMessages++;
			invalidateAll("unreadable");
			return;
		}
		const { keys, sentAt } = message;
		if (!(options.receives?.(message) ?? true)) return;
		if (message.from !== me) {
			const isBehindGap = received.isBehindGap(message);
			if (isBehindGap) invalidateAll("gap");
			else if (keys === "all") invalidateAll("all");
			if (keys.length > 0) {
				report({
					kind: "received",
					keys: keys === "all" ? 0 : keys.length,
				});
			}
			if (keys !== "all" && keys.length > 0) options.onInvalidations(keys);
		} else if (sentAt !== undefined) {
			report({ kind: "heartbeat", ms: performance.now() - sentAt });
			from.heartbeatAt = Math.max(from.heartbeatAt, sentAt);
			from.firstHeartbeatAt ??= sentAt;
			from.quietBeats = 0;
			if (isSilent(from)) {
				// It took too long to come, or to be read. The next one may not.
				if (proof !== undefined && sentAt === sentLast) void sendHeartbeat();
				return;
			}
			proof?.end();
			if (live || sentAt - from.firstHeartbeatAt < SETTLING_MS) return;
			live = true;
			report({ kind: "subscription", isLive: true });
			options.onRestored();
		}
	};

	const subscribe = () => {
		const connection = redis.forSubscription(() => {
			if (subscription === fresh) lose();
		});
		const fresh: Subscription = {
			connection,
			heartbeatAt: performance.now(),
			firstHeartbeatAt: undefined,
			quietBeats: 0,
		};
		subscription = fresh;
		connection.client.on("message", (_, text) => receive(fresh, text));
		connection.runId
			.then(() => connection.client.subscribe(CHANNEL))
			// Then no heartbeat arrives, and the silence closes the connection.
			.catch(() => {});
	};

	const isSilent = ({ heartbeatAt }: Subscription) =>
		performance.now() - heartbeatAt > SILENCE_MS;

	const isOverdue = () =>
		live && subscription !== undefined && isSilent(subscription);

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

	/** Begins to listen for a heartbeat that is sent now. */
	const prove = (): Proof => {
		const { promise, resolve } = Promise.withResolvers<void>();
		const end = () => {
			stopListening();
			proof = undefined;
			resolve();
		};
		const stopListening = listening.after(PROOF_MS, () => {
			if (isOverdue()) bypass();
			else end();
		});
		void sendHeartbeat();
		return { promise, end };
	};

	const beat = () => {
		if (disposed) return;
		if (subscription === undefined) subscribe();
		else if (++subscription.quietBeats > MAX_QUIET_BEATS) lose();
		else if (isOverdue()) proof ??= prove();
		void sendHeartbeat().then((sent) =>
			// It ends before the next heartbeat, which resumes it.
			sent === "taken" ? track(publisher.sendPending(HEARTBEAT_MS)) : undefined,
		);
	};
	report({ kind: "subscription", isLive: false });
	options.onLost();
	beat();
	// After a busy stretch, messages that lie in the socket are read before they are missed: see util/deadline.ts.
	const timer = setInterval(() => setImmediate(beat), HEARTBEAT_MS);

	return {
		async publish(keys) {
			return keys.length === 0 || track(publisher.publish(keys));
		},
		untilPublished: (keys, ms) => publisher.untilPublished(keys, ms),
		get ignoredMessages() {
			return ignoredMessages;
		},
		get isOverdue() {
			return isOverdue();
		},
		async untilProven() {
			if (!isOverdue()) return;
			proof ??= prove();
			await proof.promise;
		},
		async [Symbol.asyncDispose]() {
			disposed = true;
			clearInterval(timer);
			lose();
			await Promise.all(running);
			// The last attempt: no heartbeat follows.
			await publisher.sendPending(HEARTBEAT_MS);
			commands[Symbol.dispose]();
		},
	};
}

function report(event: Invalidation): void {
	if (CHANNELS.invalidation.hasSubscribers)
		CHANNELS.invalidation.publish(event);
}

interface Subscription {
	readonly connection: RedisConnection;
	/** When the newest heartbeat that it brought was sent, or it was opened. */
	heartbeatAt: number;
	firstHeartbeatAt: number | undefined;
	/** How many were sent since the newest that it brought. */
	quietBeats: number;
}

interface Proof {
	/** Settles with it. */
	readonly promise: Promise<void>;
	readonly end: () => void;
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

const CHANNEL = "corkboard.changed.2";
/** 50 messages, about half a megabyte. Above that it is cheaper for subscribers to empty their caches. */
export const MAX_PENDING_KEYS = 5_000;
export const HEARTBEAT_MS = 250;
export const SILENCE_MS = 1_000;
/** How long an overdue process listens for a fresh heartbeat. */
const PROOF_MS = 100;
/** After so many a subscription is hung, and a new one is made. A process whose turns are long needs some to subscribe. */
const MAX_QUIET_BEATS = 8;
/** Of a new subscription: every process that runs has sent a heartbeat by then, so that its number is known. */
const SETTLING_MS = 2 * HEARTBEAT_MS;
/** How long keys that Redis did not take are sent again. By then others have published them from the outbox, or bypass its shard. */
const PENDING_MS = 10_000;
