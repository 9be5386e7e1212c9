import type { RedisConnection } from "../cache/redisConnection.ts";
import type { RedisConnections } from "../cache/redisConnections.ts";
import { listening } from "../util/listening.ts";
import { FRESHNESS_CHANNELS, type Invalidation } from "./diagnostics.ts";
import {
	decodeMessage,
	type InvalidationMessage,
} from "./invalidationMessage.ts";
import { ReceivedNumbers } from "./receivedNumbers.ts";

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

/**
 * The side of the invalidation channel that receives.
 *
 * Redis does not report a lost message, so a process trusts its
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
 */
export class InvalidationSubscriber implements Disposable {
	readonly #options: SubscriberOptions;
	readonly #received = new ReceivedNumbers();
	#subscription: Subscription | undefined;
	#isLive = false;
	/** While it is overdue and listens for a heartbeat. */
	#proof: Proof | undefined;
	#ignoredMessages = 0;

	constructor(options: SubscriberOptions) {
		this.#options = options;
		report({ kind: "subscription", isLive: false });
		options.onLost();
	}

	get ignoredMessages(): number {
		return this.#ignoredMessages;
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

	/** Before each heartbeat. */
	beat(): void {
		if (this.#subscription === undefined) this.#subscribe();
		else if (++this.#subscription.quietBeats > MAX_QUIET_BEATS) this.#lose();
		else if (this.isOverdue) this.#proof ??= this.#prove();
	}

	[Symbol.dispose](): void {
		this.#lose();
	}

	#subscribe(): void {
		const connection = this.#options.redis.forSubscription(() => {
			if (this.#subscription === fresh) this.#lose();
		});
		const fresh: Subscription = {
			connection,
			heartbeatAt: performance.now(),
			firstHeartbeatAt: undefined,
			quietBeats: 0,
		};
		this.#subscription = fresh;
		connection.client.on("message", (_, text) => this.#receive(fresh, text));
		connection.runId
			.then(() => connection.client.subscribe(CHANNEL))
			// Then no heartbeat arrives, and the silence closes the connection.
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
			report({ kind: "subscription", isLive: false });
			this.#options.onLost();
		}
		this.#proof?.end();
	}

	/** Begins to listen for a heartbeat that is sent now. */
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
		this.#options.sendHeartbeat();
		return { promise, end };
	}

	#receive(from: Subscription, text: string): void {
		if (from !== this.#subscription) return;
		const message = decodeMessage(text);
		if (message === null) {
			this.#ignoredMessages++;
			this.#invalidateAll("unreadable");
			return;
		}
		if (!(this.#options.receives?.(message) ?? true)) return;
		if (message.from !== this.#options.me) this.#apply(message);
		else if (message.sentAt !== undefined) {
			this.#proven(from, message.sentAt);
		}
	}

	/** What another process published. */
	#apply(message: InvalidationMessage): void {
		const { keys } = message;
		const isBehindGap = this.#received.isBehindGap(message);
		if (isBehindGap) this.#invalidateAll("gap");
		else if (keys === "all") this.#invalidateAll("all");
		if (keys.length > 0) {
			report({ kind: "received", keys: keys === "all" ? 0 : keys.length });
		}
		if (keys !== "all" && keys.length > 0) this.#options.onInvalidations(keys);
	}

	/** A heartbeat of its own. */
	#proven(from: Subscription, sentAt: number): void {
		report({ kind: "heartbeat", ms: performance.now() - sentAt });
		from.heartbeatAt = Math.max(from.heartbeatAt, sentAt);
		from.firstHeartbeatAt ??= sentAt;
		from.quietBeats = 0;
		if (isSilent(from)) {
			// It took too long to come, or to be read. The next one may not.
			const isNewest = sentAt === this.#options.sentLast();
			if (this.#proof !== undefined && isNewest) this.#options.sendHeartbeat();
			return;
		}
		this.#proof?.end();
		if (this.#isLive || sentAt - from.firstHeartbeatAt < SETTLING_MS) return;
		this.#isLive = true;
		report({ kind: "subscription", isLive: true });
		this.#options.onRestored();
	}

	/** A lost subscriber needs nothing: its caches are emptied when it is restored. */
	#invalidateAll(reason: "gap" | "all" | "unreadable"): void {
		if (!this.#isLive) return;
		report({ kind: "missed", reason });
		this.#options.onMissed();
	}
}

export interface SubscriberOptions extends InvalidationListener {
	readonly redis: RedisConnections;
	/** The epoch of this process. */
	readonly me: string;
	/** Sends a heartbeat at once. */
	readonly sendHeartbeat: () => void;
	/** When the newest one was sent. */
	readonly sentLast: () => number;
	/** Whether a message arrives: what tests lose. */
	readonly receives?: ((message: InvalidationMessage) => boolean) | undefined;
}

function isSilent({ heartbeatAt }: Subscription): boolean {
	return performance.now() - heartbeatAt > SILENCE_MS;
}

function report(event: Invalidation): void {
	if (FRESHNESS_CHANNELS.invalidation.hasSubscribers)
		FRESHNESS_CHANNELS.invalidation.publish(event);
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

export const CHANNEL = "corkboard.changed.2";
export const HEARTBEAT_MS = 250;
export const SILENCE_MS = 1_000;
/** How long an overdue process listens for a fresh heartbeat. */
const PROOF_MS = 100;
/** After so many a subscription is hung, and a new one is made. A process whose turns are long needs some to subscribe. */
const MAX_QUIET_BEATS = 8;
/** Of a new subscription: every process that runs has sent a heartbeat by then, so that its number is known. */
const SETTLING_MS = 2 * HEARTBEAT_MS;
