import { randomUUID } from "node:crypto";
import { CacheConnection } from "./cacheConnection.ts";
import {
	decodeMessage,
	encodeHeartbeat,
	encodeInvalidateAll,
	encodeMessages,
	MAX_KEYS_PER_MESSAGE,
} from "./invalidationMessage.ts";
import { PendingInvalidations } from "./pendingInvalidations.ts";
import { RedisConnection, redisHost } from "./redisConnection.ts";

/**
 * Processes tell each other over Redis which of their entries to forget
 * (PROTOCOLS §3 "In process"). Redis gives no word when a message is lost, so a
 * process believes that it hears the others only while it hears itself.
 *
 *     lost ──own heartbeat heard──▶ heard ──silent for 1 s, or unsubscribed──▶ lost
 *
 * It begins lost.
 *
 * That is the listener's half. A process whose own link to Redis is down writes
 * all the same, and those that have theirs hear themselves, and keep what it
 * changes. So it keeps the keys that Redis did not take, and sends them behind
 * its next heartbeat that gets through. What a listener has kept was read after
 * its subscription stood: a key that is sent earlier than that was committed
 * before the read, and one that is sent later is heard, or the subscription
 * lost. To hear a key twice, late or out of order only costs a refill.
 *
 * Until then, at most ten seconds, as entries in process live no longer, the
 * others show the old value: nobody can tell them. So it is with what is unsent
 * when its process dies.
 */
export interface InvalidationChannel extends AsyncDisposable {
	/** Never rejects. Answers whether Redis took it; if not, it is sent later. */
	publish(keys: readonly string[]): Promise<boolean>;
	/** Messages that came and were none of ours. */
	readonly ignoredMessages: number;
}

export interface InvalidationListener {
	/** Another process changed these. */
	onInvalidations(keys: readonly string[]): void;
	/** Others may change things unheard, or have. Also called once at the beginning. */
	onLost(): void;
	/** What others change is heard again; what was read until now may be old. */
	onRestored(): void;
}

export function openInvalidationChannel(
	options: InvalidationListener & {
		/** `redis://…` or `rediss://…` */
		readonly url: string;
		/** For what is sent in one go, connecting included. */
		readonly deadlineMs?: number;
	},
): InvalidationChannel {
	const { url, deadlineMs = 100 } = options;
	const me = randomUUID();
	const heartbeat = encodeHeartbeat(me);
	const link = new CacheConnection({
		layer: "redis",
		host: redisHost(url),
		deadlineMs,
		longestPauseMs: HEARTBEAT_MS,
		open: (lost) => new RedisConnection(url, deadlineMs, lost),
	});
	const unsent = new PendingInvalidations();
	/** What is to end before the link is closed. */
	const running = new Set<Promise<unknown>>();
	let subscription: Subscription | undefined;
	let heard = false;
	let ignored = 0;
	let disposed = false;

	/** Each as one PUBLISH, all in one pipeline. */
	const send = async (messages: readonly string[]): Promise<boolean> => {
		const sent = await link.call(
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

	/** Until the next heartbeat, which goes on with it. One at a time, so that what got through is done with. */
	const resend = async (): Promise<void> => {
		const end = performance.now() + HEARTBEAT_MS;
		while (performance.now() < end) {
			const untold = unsent.take(MAX_KEYS_PER_MESSAGE);
			if (untold === null) return;
			const messages =
				untold.kind === "all"
					? [encodeInvalidateAll(me)]
					: encodeMessages(
							me,
							untold.keys.map(([key]) => key),
						);
			if (!(await send(messages ?? []))) {
				unsent.add(untold);
				return;
			}
		}
	};

	const publish = async (keys: readonly string[]): Promise<boolean> => {
		const at = performance.now();
		const messages = encodeMessages(me, keys);
		if (messages === null) return false;
		const sent = await send(messages);
		if (!sent) unsent.add({ kind: "keys", keys: keys.map((k) => [k, at]) });
		return sent;
	};

	const track = <T>(work: Promise<T>): Promise<T> => {
		running.add(work);
		return work.finally(() => running.delete(work));
	};

	const lose = () => {
		subscription?.connection.close();
		subscription = undefined;
		if (!heard) return;
		heard = false;
		options.onLost();
	};

	/** One that is lost is emptied when it is restored. */
	const empty = () => {
		if (!heard) return;
		options.onLost();
		options.onRestored();
	};

	const receive = (from: Subscription, text: string) => {
		if (from !== subscription) return;
		const message = decodeMessage(text);
		if (message === null) {
			ignored++;
		} else if (message.from !== me) {
			if (message.keys === "all") empty();
			else if (message.keys.length > 0) options.onInvalidations(message.keys);
		} else {
			from.heardAt = performance.now();
			if (heard) return;
			heard = true;
			options.onRestored();
		}
	};

	const subscribe = () => {
		const connection = new RedisConnection(url, SILENCE_MS, () => {
			if (subscription === fresh) lose();
		});
		const fresh: Subscription = { connection, heardAt: performance.now() };
		subscription = fresh;
		connection.client.on("message", (_, text) => receive(fresh, text));
		connection.runId
			.then(() => connection.client.subscribe(CHANNEL))
			// Then it is never heard, and closed for that.
			.catch(() => {});
	};

	const beat = () => {
		if (disposed) return;
		if (subscription === undefined) subscribe();
		else if (performance.now() - subscription.heardAt > SILENCE_MS) lose();
		void track(send([heartbeat]).then((sent) => (sent ? resend() : undefined)));
	};
	options.onLost();
	beat();
	// After a busy stretch what was heard meanwhile is read before it is missed: see link.ts.
	const timer = setInterval(() => setImmediate(beat), HEARTBEAT_MS);

	return {
		async publish(keys) {
			return keys.length === 0 || track(publish(keys));
		},
		get ignoredMessages() {
			return ignored;
		},
		async [Symbol.asyncDispose]() {
			disposed = true;
			clearInterval(timer);
			lose();
			await Promise.all(running);
			// Once more: nobody will do it later.
			await resend();
			link[Symbol.dispose]();
		},
	};
}

interface Subscription {
	readonly connection: RedisConnection;
	/** When it last brought a message of our own, or was begun. */
	heardAt: number;
}

const CHANNEL = "corkboard.changed.1";
export const HEARTBEAT_MS = 250;
export const SILENCE_MS = 1_000;
