import { randomUUID } from "node:crypto";
import {
	decodeMessage,
	encodeHeartbeat,
	encodeInvalidateAll,
	encodeMessages,
	MAX_KEYS_PER_MESSAGE,
} from "./invalidationMessage.ts";
import { MAX_AGE_MS } from "./localCache.ts";
import { PendingKeys } from "./pendingKeys.ts";
import type { RedisConnection } from "./redisConnection.ts";
import type { RedisConnections } from "./redisConnections.ts";

/**
 * Processes publish over Redis which entries of their local caches the others
 * have to drop (docs/consistency.md, "3. Caches").
 *
 * Subscriber. Redis does not report a lost message, so a process trusts its
 * subscription only while it receives its own heartbeats. What others published
 * before a heartbeat was sent has been received when it is, so its age counts:
 *
 *     lost ──own heartbeat received──▶ live ──newest one 1 s old, or unsubscribed──▶ lost
 *
 * It starts lost. While it is lost, the local caches are bypassed.
 *
 * Publisher. A process whose connection to Redis is down still writes, and
 * processes with a live subscription still cache what it changed. So it keeps
 * the keys that Redis did not take and sends them after its next heartbeat that
 * gets through. A subscriber cannot miss them: an entry it caches was read after
 * its subscription began. Keys sent before that were committed before the read;
 * keys sent after it are received, or the subscription is lost. A key received
 * twice, late or out of order only costs a refill.
 *
 * Until then, for at most the ten seconds that a local entry lives, other
 * processes may serve the old value. The same holds for invalidations that are
 * still pending when their process dies.
 */
export interface InvalidationChannel extends AsyncDisposable {
	/** Whether Redis took the keys; if not, they are sent later. Never rejects. */
	publish(keys: readonly string[]): Promise<boolean>;
	/** Whether Redis took all that was published of these keys, after waiting for that at most so long. */
	untilPublished(keys: readonly string[], ms: number): Promise<boolean>;
	/** How many messages were not in our format. */
	readonly ignoredMessages: number;
	/**
	 * Whether the newest heartbeat is too old already, though the subscription is
	 * not lost: the process stood still and messages lie in the socket, or the
	 * next heartbeat loses it. Nothing cached is good until then.
	 */
	readonly isOverdue: boolean;
}

export interface InvalidationListener {
	/** Another process changed these keys. */
	onInvalidations(keys: readonly string[]): void;
	/** Invalidations may be missed from now on, or were. Also called once at the start. */
	onLost(): void;
	/** Invalidations are received again. What was read before may be stale. */
	onRestored(): void;
}

export function openInvalidationChannel(
	options: InvalidationListener & {
		readonly redis: RedisConnections;
		/** For one pipeline of messages, connecting included. */
		readonly deadlineMs?: number;
	},
): InvalidationChannel {
	const { redis, deadlineMs = 100 } = options;
	const me = randomUUID();
	const commands = redis.forCommands({
		deadlineMs,
		longestPauseMs: HEARTBEAT_MS,
	});
	// After `MAX_AGE_MS` no local cache holds a value that was read before the change.
	const pending = new PendingKeys({
		maxKeys: MAX_PENDING_KEYS,
		maxAgeMs: MAX_AGE_MS,
	});
	/** Work that has to end before the connection closes. */
	const running = new Set<Promise<unknown>>();
	let subscription: Subscription | undefined;
	let live = false;
	let ignoredMessages = 0;
	let disposed = false;

	/** One PUBLISH for each message, all in one pipeline. */
	const send = async (messages: readonly string[]): Promise<boolean> => {
		const sent = await commands.call(
			"publish",
			messages.length,
			async ({ client, runId }) => {
				await runId;
				await Promise.all(
					messages.map((message) => client.publish(CHANNEL, message)),
				);
				return true;
			},
		);
		return sent ?? false;
	};

	/** Ends before the next heartbeat, which resumes it. Batches go one at a time, so that each one sent is done with. */
	const sendPending = async (): Promise<void> => {
		const end = performance.now() + HEARTBEAT_MS;
		while (performance.now() < end) {
			const batch = pending.next(MAX_KEYS_PER_MESSAGE);
			if (batch === null) return;
			const messages =
				batch.kind === "all"
					? [encodeInvalidateAll(me)]
					: encodeMessages(me, batch.keys);
			if (!(await send(messages ?? []))) {
				pending.failed(batch);
				return;
			}
			pending.done(batch);
		}
	};

	const publish = async (keys: readonly string[]): Promise<boolean> => {
		const messages = encodeMessages(me, keys);
		if (messages === null) return false;
		const batch = pending.start(keys);
		const sent = await send(messages);
		if (sent) pending.done(batch);
		else pending.failed(batch);
		return sent;
	};

	const track = <T>(work: Promise<T>): Promise<T> => {
		running.add(work);
		return work.finally(() => running.delete(work));
	};

	const lose = () => {
		subscription?.connection.close();
		subscription = undefined;
		if (!live) return;
		live = false;
		options.onLost();
	};

	/** A lost subscriber needs nothing: its caches are emptied when it is restored. */
	const invalidateAll = () => {
		if (!live) return;
		options.onLost();
		options.onRestored();
	};

	const receive = (from: Subscription, text: string) => {
		if (from !== subscription) return;
		const message = decodeMessage(text);
		if (message === null) {
			ignoredMessages++;
		} else if (message.from !== me) {
			if (message.keys === "all") invalidateAll();
			else if (message.keys.length > 0) options.onInvalidations(message.keys);
		} else if (message.sentAt !== undefined) {
			from.heartbeatAt = Math.max(from.heartbeatAt, message.sentAt);
			if (live || performance.now() - message.sentAt > SILENCE_MS) return;
			live = true;
			options.onRestored();
		}
	};

	const subscribe = () => {
		const connection = redis.forSubscription(SILENCE_MS, () => {
			if (subscription === fresh) lose();
		});
		const fresh: Subscription = { connection, heartbeatAt: performance.now() };
		subscription = fresh;
		connection.client.on("message", (_, text) => receive(fresh, text));
		connection.runId
			.then(() => connection.client.subscribe(CHANNEL))
			// Then no heartbeat arrives, and the silence closes the connection.
			.catch(() => {});
	};

	const isSilent = ({ heartbeatAt }: Subscription) =>
		performance.now() - heartbeatAt > SILENCE_MS;

	const beat = () => {
		if (disposed) return;
		if (subscription === undefined) subscribe();
		else if (isSilent(subscription)) lose();
		void track(
			send([encodeHeartbeat(me, performance.now())]).then((sent) =>
				sent ? sendPending() : undefined,
			),
		);
	};
	options.onLost();
	beat();
	// After a busy stretch, messages that lie in the socket are read before they are missed: see util/deadline.ts.
	const timer = setInterval(() => setImmediate(beat), HEARTBEAT_MS);

	return {
		async publish(keys) {
			return keys.length === 0 || track(publish(keys));
		},
		untilPublished: (keys, ms) => pending.untilDone(keys, ms),
		get ignoredMessages() {
			return ignoredMessages;
		},
		get isOverdue() {
			return live && subscription !== undefined && isSilent(subscription);
		},
		async [Symbol.asyncDispose]() {
			disposed = true;
			clearInterval(timer);
			lose();
			await Promise.all(running);
			// The last attempt: no heartbeat follows.
			await sendPending();
			commands[Symbol.dispose]();
		},
	};
}

interface Subscription {
	readonly connection: RedisConnection;
	/** When the newest heartbeat that it brought was sent, or it was opened. */
	heartbeatAt: number;
}

const CHANNEL = "corkboard.changed.1";
/** 50 messages, about half a megabyte. Above that it is cheaper for subscribers to empty their caches. */
export const MAX_PENDING_KEYS = 5_000;
export const HEARTBEAT_MS = 250;
export const SILENCE_MS = 1_000;
