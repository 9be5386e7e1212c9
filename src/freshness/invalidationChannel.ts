import type { RedisConnections } from "../cache/redis/redisConnections.ts";
import { ALL_CHANNELS } from "../cache/slotVersions.ts";
import { FRESHNESS_CHANNELS } from "./diagnostics.ts";
import type { InvalidationMessage } from "./invalidationMessage.ts";
import { InvalidationPublisher } from "./invalidationPublisher.ts";
import {
	ASK_MS,
	type InvalidationListener,
	InvalidationSubscriber,
} from "./invalidationSubscriber.ts";
import { channelOfKey } from "./publishedKeys.ts";
import { RedisChannels } from "./redisChannels.ts";

/**
 * Processes publish over Redis which entries of their local caches the others
 * have to drop (docs/consistency.md "Freshness by protocol"), on a channel for
 * each part of the shards (channels.ts).
 *
 * Subscriber: see invalidationSubscriber.ts.
 *
 * Publisher. A process whose connection to Redis is down still writes, and
 * processes with a live subscription still cache what it changed. So it keeps
 * the keys that Redis did not take and sends them after its next question that
 * is answered. A key received twice or late only costs a refill.
 *
 * Until then, and if the process dies, the outbox entries of these changes stay:
 * any process publishes them (outboxWatch.ts).
 */
export interface InvalidationChannel extends AsyncDisposable {
	/** Whether Redis took the keys; if not, they are sent later. Never rejects. */
	publish(keys: readonly string[]): Promise<boolean>;
	/** Whether Redis took all that was published of these keys, after waiting for that at most so long. */
	untilPublished(keys: readonly string[], ms: number): Promise<boolean>;
	/** How many messages were not in our format. Each empties the caches of its channel: it may have named anything. */
	readonly ignoredMessages: number;
	/**
	 * Whether the newest proof of a channel is too old, though it is not lost: the
	 * process stood still and messages lie in the socket, or it is cut off.
	 * Nothing cached is good until that is known.
	 */
	readonly isOverdue: boolean;
	/** Settles when none is overdue: each has a fresh proof, or is lost. Never rejects. */
	untilProven(): Promise<void>;
}

export interface ChannelOptions extends InvalidationListener {
	/** For one call, connecting included. */
	readonly deadlineMs?: number;
	/** Whether a message arrives: what tests lose. */
	readonly receives?: (message: InvalidationMessage) => boolean;
	/** Called before each question. */
	readonly onBeat?: () => void;
}

export function openInvalidationChannel(
	options: ChannelOptions & {
		/** Where each channel is. */
		readonly redisOf: (channel: number) => RedisConnections;
	},
): InvalidationChannel {
	const lost = new Set<number>();
	const report = () =>
		FRESHNESS_CHANNELS.invalidation.publish({
			kind: "subscription",
			lost: lost.size,
		});
	const links = Array.from(
		Map.groupBy(ALL_CHANNELS, options.redisOf),
		([redis, channels]) =>
			new RedisLink(redis, new Set(channels), {
				...options,
				onLost(channels) {
					for (const channel of channels) lost.add(channel);
					report();
					options.onLost(channels);
				},
				onRestored(channels) {
					for (const channel of channels) lost.delete(channel);
					report();
					options.onRestored(channels);
				},
			}),
	);
	/** For each Redis the keys that are published there, those of every channel everywhere. */
	const inEach = async (
		keys: readonly string[],
		call: (link: RedisLink, keys: readonly string[]) => Promise<boolean>,
	): Promise<boolean> => {
		const results = await Promise.all(
			links.map((link) => {
				const own = links.length === 1 ? keys : keys.filter(link.has);
				return own.length === 0 || call(link, own);
			}),
		);
		return results.every((ok) => ok);
	};
	return {
		publish: (keys) => inEach(keys, (link, own) => link.publish(own)),
		untilPublished: (keys, ms) =>
			inEach(keys, ({ publisher }, own) => publisher.untilPublished(own, ms)),
		get ignoredMessages() {
			return links.reduce(
				(sum, { subscriber }) => sum + subscriber.ignoredMessages,
				0,
			);
		},
		get isOverdue() {
			return links.some(({ subscriber }) => subscriber.isOverdue);
		},
		async untilProven() {
			await Promise.all(
				links.map(({ subscriber }) => subscriber.untilProven()),
			);
		},
		async [Symbol.asyncDispose]() {
			await Promise.all(links.map((link) => link[Symbol.asyncDispose]()));
		},
	};
}

/** The channels that are at one Redis. */
class RedisLink implements AsyncDisposable {
	readonly publisher: InvalidationPublisher;
	readonly subscriber: InvalidationSubscriber;
	/** Whether the key is published here. */
	readonly has: (key: string) => boolean;
	readonly #commands: Disposable;
	readonly #timer: NodeJS.Timeout;
	/** Work that has to end before the connection closes. */
	readonly #running = new Set<Promise<unknown>>();
	#isDisposed = false;

	constructor(
		redis: RedisConnections,
		channels: ReadonlySet<number>,
		{ deadlineMs = 100, onBeat = () => {}, ...listener }: ChannelOptions,
	) {
		const commands = redis.forCommands({ deadlineMs, longestPauseMs: ASK_MS });
		this.#commands = commands;
		const calls = new RedisChannels([...channels], commands);
		this.has = (key) => {
			const channel = channelOfKey(key);
			return channel === null || channels.has(channel);
		};
		this.publisher = new InvalidationPublisher({
			channels: [...channels],
			send: (messages) => calls.publish(messages),
			maxPendingKeys: MAX_PENDING_KEYS,
			maxAgeMs: PENDING_MS,
		});
		this.subscriber = new InvalidationSubscriber({
			...listener,
			redis,
			channels,
			me: calls.me,
			ask: () => {
				// What is due is done before Redis is asked: whoever has the proof has done it.
				onBeat();
				return this.#track(calls.ask());
			},
		});
		this.#beat();
		// After a busy stretch, messages that lie in the socket are read before they are missed: see util/deadline.ts.
		this.#timer = setInterval(() => setImmediate(() => this.#beat()), ASK_MS);
	}

	publish(keys: readonly string[]): Promise<boolean> {
		return this.#track(this.publisher.publish(keys));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isDisposed = true;
		clearInterval(this.#timer);
		this.subscriber[Symbol.dispose]();
		await Promise.all(this.#running);
		// The last attempt: no question follows.
		await this.publisher.sendPending(ASK_MS);
		this.#commands[Symbol.dispose]();
	}

	#beat(): void {
		if (this.#isDisposed) return;
		void this.subscriber.beat().then((answered) =>
			// It ends before the next question, which resumes it.
			answered ? this.#track(this.publisher.sendPending(ASK_MS)) : undefined,
		);
	}

	#track<T>(work: Promise<T>): Promise<T> {
		this.#running.add(work);
		return work.finally(() => this.#running.delete(work));
	}
}

/** 50 messages, about half a megabyte. Above that it is cheaper for subscribers to empty their caches. */
export const MAX_PENDING_KEYS = 5_000;
/** How long keys that Redis did not take are sent again. By then others have published them from the outbox, or bypass its shard. */
const PENDING_MS = 10_000;
