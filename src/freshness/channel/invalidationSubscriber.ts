import type {
	RedisConnections,
	SubscriptionConnection,
} from "../../cache/redis/redisConnections.ts";
import { listening } from "../../util/listening.ts";
import { FRESHNESS_CHANNELS, type Invalidation } from "../diagnostics.ts";
import {
	channelName,
	channelOfName,
	decodeMessage,
	type InvalidationMessage,
} from "./invalidationMessage.ts";
import type { Numbers } from "./redisChannels.ts";

export interface InvalidationListener {
	/** Another process changed these keys. */
	onInvalidations(keys: readonly string[]): void;
	/** Invalidations of these channels may be missed from now on, or were. Also called once at the start. */
	onLost(channels: ReadonlySet<number>): void;
	/** Invalidations of these channels are received again. What was read before may be stale. */
	onRestored(channels: ReadonlySet<number>): void;
	/** Some of these channels were missed, while others are received. What is cached of them may be stale. */
	onMissed(channels: ReadonlySet<number>): void;
}

/**
 * The side of the invalidation channels of one Redis that receives.
 *
 * Redis numbers the messages of each channel. A number that does not follow the
 * last one, and another run, show that some were missed: what is cached of that
 * channel is dropped.
 *
 * Redis does not report a message that was lost last, so a process trusts its
 * subscription only as far as it is proven. It asks for the numbers over its
 * command connection, and then sends PING over the subscription. PONG comes
 * behind all that was sent there before: by then the numbers must be reached, or
 * messages are missing. Either way it then knows of everything published before
 * it asked, so the proof is as old as the question:
 *
 *     live ──newest proof 1 s old──▶ overdue ──none comes──▶ lost
 *      ▲                                │                     │
 *      └────────── a fresh one ─────────┴─────────────────────┘
 *
 * Overdue, nothing cached is good. Mostly it is the process that is late: the
 * messages lie in its socket. So it asks once more and reads its socket; readers
 * wait for that, since it takes milliseconds, and to read past the caches would
 * make the process later still. Only if no proof comes although it listened is it
 * cut off: lost, it bypasses what is cached of these channels, until one comes
 * after all. It starts lost, and is lost at once if the subscription ends.
 */
export class InvalidationSubscriber implements Disposable {
	readonly #options: SubscriberOptions;
	#subscription: Subscription | undefined;
	#isLive = false;
	/** While it is overdue and listens for a proof. */
	#proof: Proof | undefined;
	/** When the newest question was asked that was answered. */
	#askedLast = Number.NEGATIVE_INFINITY;
	#ignoredMessages = 0;

	constructor(options: SubscriberOptions) {
		this.#options = options;
		options.onLost(options.channels);
	}

	get ignoredMessages(): number {
		return this.#ignoredMessages;
	}

	get isLive(): boolean {
		return this.#isLive;
	}

	get isOverdue(): boolean {
		return (
			this.#isLive &&
			this.#subscription !== undefined &&
			isSilent(this.#subscription)
		);
	}

	async untilProven(): Promise<void> {
		if (!this.isOverdue) return;
		this.#proof ??= this.#prove();
		await this.#proof.promise;
	}

	/** Asks; returns whether Redis answered. */
	beat(): Promise<boolean> {
		if (this.#subscription === undefined) this.#subscribe();
		else if (++this.#subscription.quietBeats > MAX_QUIET_BEATS) this.#lose();
		else if (this.isOverdue && this.#proof === undefined) {
			this.#proof = this.#prove();
		}
		return this.#ask();
	}

	[Symbol.dispose](): void {
		this.#lose();
	}

	#subscribe(): void {
		const connection = this.#options.redis.forSubscription(() => {
			if (this.#subscription === fresh) this.#lose();
		});
		const { client } = connection;
		const fresh: Subscription = {
			connection,
			isComplete: false,
			numbers: new Map(),
			provenAt: performance.now(),
			quietBeats: 0,
		};
		this.#subscription = fresh;
		client.on("message", (name, text) =>
			this.#receive(fresh, channelOfName(name), text),
		);
		const names = Array.from(this.#options.channels, channelName);
		connection.runId
			.then(async () => {
				await client.subscribe(...names);
				fresh.isComplete = true;
				await this.#ask();
			})
			// Then no proof comes, and the silence closes the connection.
			.catch(() => {});
	}

	#lose(): void {
		this.#subscription?.connection.close();
		this.#subscription = undefined;
		this.#bypass();
	}

	#bypass(): void {
		if (this.#isLive) {
			this.#isLive = false;
			this.#options.onLost(this.#options.channels);
		}
		this.#proof?.end();
	}

	/** Begins to listen for a proof by a question that is asked now. */
	#prove(): Proof {
		const { promise, resolve } = Promise.withResolvers<void>();
		const end = () => {
			stopListening();
			this.#proof = undefined;
			resolve();
		};
		const stopListening = listening.after(PROOF_MS, () => {
			if (this.isOverdue) this.#bypass();
			else end();
		});
		void this.#ask();
		return { promise, end };
	}

	async #ask(): Promise<boolean> {
		// What was sent between a question and the subscription was not received.
		const subscription = this.#subscription?.isComplete
			? this.#subscription
			: undefined;
		// Numbers only rise: Redis has these too, or has lost its own.
		const received = new Map(subscription?.numbers);
		const asked = await this.#options.ask();
		if (asked === null) return false;
		this.#askedLast = Math.max(this.#askedLast, asked.askedAt);
		if (subscription === undefined || subscription !== this.#subscription) {
			return true;
		}
		const { connection } = subscription;
		// The subscription is still at the former one.
		if (asked.run !== connection.knownRunId) this.#lose();
		else {
			connection.client.ping().then(
				() => this.#proven(subscription, asked, received),
				() => {},
			);
			connection.sendNow();
		}
		return true;
	}

	/** All that was sent to this subscription before it asked, and some of what came later, is received or missing. */
	#proven(
		subscription: Subscription,
		{ askedAt, byChannel }: Numbers,
		received: ReadonlyMap<number, number>,
	): void {
		if (subscription !== this.#subscription) return;
		report({ kind: "proof", ms: performance.now() - askedAt });
		const missed = new Set<number>();
		for (const [channel, asked] of byChannel) {
			const last = subscription.numbers.get(channel) ?? 0;
			if (last >= asked && asked >= (received.get(channel) ?? 0)) continue;
			subscription.numbers.set(channel, asked);
			missed.add(channel);
		}
		if (missed.size > 0) this.#miss(missed, "gap");
		subscription.provenAt = Math.max(subscription.provenAt, askedAt);
		subscription.quietBeats = 0;
		if (isSilent(subscription)) {
			// It took too long to come, or to be read. The next one may not.
			if (this.#proof !== undefined && askedAt === this.#askedLast) {
				void this.#ask();
			}
			return;
		}
		this.#proof?.end();
		if (this.#isLive) return;
		this.#isLive = true;
		this.#options.onRestored(this.#options.channels);
	}

	#receive(from: Subscription, channel: number, text: string): void {
		if (from !== this.#subscription) return;
		const message = decodeMessage(text, this.#options.me);
		if (message === null) {
			this.#ignoredMessages++;
			this.#miss(new Set([channel]), "unreadable");
			return;
		}
		if (!(this.#options.receives?.(message) ?? true)) return;
		const { run, number, keys } = message;
		const follows =
			run === from.connection.knownRunId &&
			number === (from.numbers.get(channel) ?? 0) + 1;
		from.numbers.set(channel, number);
		const isOwn = message.from === this.#options.me;
		if (!follows) this.#miss(new Set([channel]), "gap");
		else if (keys === "all" && !isOwn) this.#miss(new Set([channel]), "all");
		if (!isOwn) this.#apply(keys);
	}

	/** What another process published. */
	#apply(keys: InvalidationMessage["keys"]): void {
		report({ kind: "received", keys: keys === "all" ? 0 : keys.length });
		if (keys !== "all") this.#options.onInvalidations(keys);
	}

	/** A lost subscriber needs nothing: what it cached is dropped when it is restored. */
	#miss(
		channels: ReadonlySet<number>,
		reason: "gap" | "all" | "unreadable",
	): void {
		if (!this.#isLive) return;
		report({ kind: "missed", reason });
		this.#options.onMissed(channels);
	}
}

interface SubscriberOptions extends InvalidationListener {
	/** Those at this Redis. */
	readonly channels: ReadonlySet<number>;
	readonly redis: Pick<RedisConnections, "forSubscription">;
	/** This process, in messages. */
	readonly me: string;
	/** Null if Redis does not answer. */
	readonly ask: () => Promise<Numbers | null>;
	/** Whether a message arrives: what tests lose. */
	readonly receives?: ((message: InvalidationMessage) => boolean) | undefined;
}

function isSilent({ provenAt }: Subscription): boolean {
	return performance.now() - provenAt > TRUST_MS;
}

function report(event: Invalidation): void {
	if (FRESHNESS_CHANNELS.invalidation.hasSubscribers)
		FRESHNESS_CHANNELS.invalidation.publish(event);
}

interface Subscription {
	readonly connection: SubscriptionConnection;
	/** Whether Redis has begun to send the messages of all channels. */
	isComplete: boolean;
	/** The number of the last message, by channel. */
	readonly numbers: Map<number, number>;
	/** When the question of its newest proof was asked, or it was opened. */
	provenAt: number;
	/** How often the process asked since the newest proof. */
	quietBeats: number;
}

interface Proof {
	/** Settles with it. */
	readonly promise: Promise<void>;
	readonly end: () => void;
}

/** From one question to the next. */
export const ASK_MS = 250;
/** How long a proof is good, from its question on. */
export const TRUST_MS = 1_000;
/** How long an overdue process listens for a fresh proof. */
const PROOF_MS = 100;
/** After so many a subscription is hung, and a new one is made. A process whose turns are long needs some to subscribe. */
const MAX_QUIET_BEATS = 8;
