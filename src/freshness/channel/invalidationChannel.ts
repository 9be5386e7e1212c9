import { type Gate, OPEN_GATE } from "../../cache/gate.ts";
import type { RedisConnections } from "../../cache/redis/redisConnections.ts";
import { ALL_CHANNELS } from "../../cache/slotVersions.ts";
import { FRESHNESS_CHANNELS } from "../diagnostics.ts";
import { channelOfKey } from "../publishedKeys.ts";
import type { InvalidationMessage } from "./invalidationMessage.ts";
import { InvalidationPublisher } from "./invalidationPublisher.ts";
import {
	ASK_MS,
	type InvalidationListener,
	InvalidationSubscriber,
} from "./invalidationSubscriber.ts";
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
	/** The same, sent before this returns. */
	publishNow(keys: readonly string[]): Promise<boolean>;
	/** Whether Redis took all that was published of these keys, after waiting for that at most so long. */
	untilPublished(keys: readonly string[], ms: number): Promise<boolean>;
	/** How many messages were not in our format. Each empties the caches of its channel: it may have named anything. */
	readonly ignoredMessages: number;
	/**
	 * Whether the newest proof of a channel is too old, though it is not lost: the
	 * process was paused and messages lie in the socket, or it is cut off.
	 * Nothing cached is good until that is known.
	 */
	readonly isOverdue: boolean;
	/** Settles when none is overdue: each has a fresh proof, or is lost. Never rejects. */
	untilProven(): Promise<void>;
	/** Switches to other Redis. Those that stay keep their subscriptions. */
	use(homesOf: ChannelHomes): void;
	/** Whether a Redis is that of the others may have changed. */
	update(): void;
}

interface ChannelOptions extends InvalidationListener {
	/** For one call, connecting included. */
	readonly deadlineMs?: number;
	/** Whether a message arrives: what tests lose. */
	readonly receives?: (message: InvalidationMessage) => boolean;
	/** Called before each question. */
	readonly onBeat?: () => void;
}

/** Where a channel is: at one Redis, or at two while it moves. */
export type ChannelHomes = (channel: number) => readonly RedisConnections[];

/**
 * What is published of a channel that moves goes to both, and both are listened
 * to: others may still be at the former one, or already at the next one alone.
 */
export function openInvalidationChannel(
	options: ChannelOptions & {
		readonly homesOf: ChannelHomes;
		/** Whether it is the Redis of the others. */
		readonly gateOf?: (redis: RedisConnections) => Gate;
	},
): InvalidationChannel {
	const { gateOf = () => OPEN_GATE } = options;
	const links = new Map<RedisConnections, RedisLink>();
	let homes: readonly (readonly RedisLink[])[] = [];
	const lost = new Set<number>();

	function update(): void {
		const isLost = (channel: number) => {
			const [first, ...others] = homes[channel] ?? [];
			return !first?.isUsable || others.some(({ isUsable }) => !isUsable);
		};
		const now = new Set([...ALL_CHANNELS].filter(isLost));
		const gone = now.difference(lost);
		const back = lost.difference(now);
		if (gone.size + back.size === 0) return;
		for (const channel of gone) lost.add(channel);
		for (const channel of back) lost.delete(channel);
		FRESHNESS_CHANNELS.invalidation.publish({
			kind: "subscription",
			lost: lost.size,
		});
		if (gone.size > 0) options.onLost(gone);
		if (back.size > 0) options.onRestored(back);
	}

	function linkTo(redis: RedisConnections): RedisLink {
		const known = links.get(redis);
		if (known !== undefined) return known;
		const isOwn = (channel: number) => homes[channel]?.includes(link) ?? false;
		const link = new RedisLink(redis, gateOf(redis), isOwn, {
			...options,
			onLost: update,
			onRestored: update,
			onBeat() {
				// Others may have come to agree on its Redis, or on another one.
				update();
				options.onBeat?.();
			},
			onMissed: (channels) =>
				options.onMissed(new Set([...channels].filter(isOwn))),
		});
		links.set(redis, link);
		return link;
	}

	function use(homesOf: ChannelHomes): void {
		const former = homes;
		homes = Array.from(ALL_CHANNELS, (channel) => homesOf(channel).map(linkTo));
		const used = new Set(homes.flat());
		for (const [redis, link] of links) {
			if (used.has(link)) continue;
			links.delete(redis);
			void link[Symbol.asyncDispose]();
		}
		update();
		// What still lies in the socket of a former Redis is not read.
		const moved = [...former.keys()].filter((channel) =>
			former[channel]?.some((link) => !homes[channel]?.includes(link)),
		);
		if (moved.length > 0) options.onMissed(new Set(moved));
	}

	/** For each Redis the keys that are published there, those of every channel everywhere. */
	const inEach = async (
		keys: readonly string[],
		call: (link: RedisLink, keys: readonly string[]) => Promise<boolean>,
	): Promise<boolean> => {
		const [only] = links.values();
		if (only !== undefined && links.size === 1) {
			return keys.length === 0 || (await call(only, keys));
		}
		const results = await Promise.all(
			Array.from(links.values(), (link) => {
				const own = keys.filter(link.has);
				return own.length === 0 || call(link, own);
			}),
		);
		return results.every((ok) => ok);
	};
	use(options.homesOf);
	const subscribers = () =>
		Array.from(links.values(), ({ subscriber }) => subscriber);
	return {
		use,
		update,
		publish: (keys) =>
			inEach(
				keys,
				async (link, own) => (await link.publish(own)) && link.gate.isAgreed(),
			),
		publishNow: (keys) =>
			inEach(
				keys,
				async (link, own) =>
					(await link.publishNow(own)) && link.gate.isAgreed(),
			),
		untilPublished: (keys, ms) =>
			inEach(keys, async ({ publisher, gate }, own) => {
				const done = await Promise.all([
					publisher.untilPublished(own, ms),
					gate.untilAgreed(ms),
				]);
				return done.every(Boolean);
			}),
		get ignoredMessages() {
			return subscribers().reduce((sum, each) => sum + each.ignoredMessages, 0);
		},
		get isOverdue() {
			return isAnyOverdue(links.values());
		},
		async untilProven() {
			await Promise.all(subscribers().map((each) => each.untilProven()));
		},
		async [Symbol.asyncDispose]() {
			await Promise.all(
				Array.from(links.values(), (link) => link[Symbol.asyncDispose]()),
			);
		},
	};
}

/** Asked at each read: an array would be garbage. */
function isAnyOverdue(links: Iterable<RedisLink>): boolean {
	for (const { subscriber } of links) {
		if (subscriber.isOverdue) return true;
	}
	return false;
}

/** One Redis. It listens to all channels there: nobody publishes on those that are elsewhere, and which those are may change. */
class RedisLink implements AsyncDisposable {
	readonly publisher: InvalidationPublisher;
	readonly subscriber: InvalidationSubscriber;
	readonly gate: Gate;
	/** Whether the key is published here. */
	readonly has: (key: string) => boolean;
	readonly #commands: Disposable;
	readonly #timer: NodeJS.Timeout;
	/** Work that has to end before the connection closes. */
	readonly #running = new Set<Promise<unknown>>();
	#isDisposed = false;

	constructor(
		redis: RedisConnections,
		gate: Gate,
		isOwn: (channel: number) => boolean,
		{ deadlineMs = 100, onBeat = () => {}, ...listener }: ChannelOptions,
	) {
		const commands = redis.forCommands({ deadlineMs, longestPauseMs: ASK_MS });
		this.#commands = commands;
		this.gate = gate;
		const calls = new RedisChannels([...ALL_CHANNELS], commands);
		this.has = (key) => {
			const channel = channelOfKey(key);
			return channel === null || isOwn(channel);
		};
		this.publisher = new InvalidationPublisher({
			isOwn,
			send: (messages) => calls.publish(messages),
			maxPendingKeys: MAX_PENDING_KEYS,
			maxAgeMs: PENDING_MS,
		});
		this.subscriber = new InvalidationSubscriber({
			...listener,
			redis,
			channels: ALL_CHANNELS,
			me: calls.me,
			ask: () => {
				// What is due is done before Redis is asked: a process that has the proof has done it.
				onBeat();
				return this.#track(calls.ask());
			},
		});
		this.#beat();
		// After a busy stretch, messages that lie in the socket are read before they are missed: see util/deadline.ts.
		this.#timer = setInterval(() => setImmediate(() => this.#beat()), ASK_MS);
	}

	/** Whether what arrives here is all that the others publish here. */
	get isUsable(): boolean {
		return this.subscriber.isLive && this.gate.mayRead();
	}

	publish(keys: readonly string[]): Promise<boolean> {
		return this.#track(this.publisher.publish(keys));
	}

	publishNow(keys: readonly string[]): Promise<boolean> {
		return this.#track(this.publisher.publishNow(keys));
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

	async #track<T>(work: Promise<T>): Promise<T> {
		this.#running.add(work);
		try {
			return await work;
		} finally {
			this.#running.delete(work);
		}
	}
}

/** 50 messages, about half a megabyte. Above that it is cheaper for subscribers to empty their caches. */
export const MAX_PENDING_KEYS = 5_000;
/** How long keys that Redis did not take are sent again. By then others have published them from the outbox, or bypass its shard. */
const PENDING_MS = 10_000;
