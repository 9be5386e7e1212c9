import { type PendingBatch, PendingKeys } from "../../cache/pendingKeys.ts";
import { ALL_CHANNELS } from "../../cache/slotVersions.ts";
import { Batcher } from "../../util/batcher.ts";
import { FRESHNESS_CHANNELS } from "../diagnostics.ts";
import { channelOfKey } from "../publishedKeys.ts";
import {
	MAX_KEY_LENGTH,
	MAX_KEYS_PER_MESSAGE,
	splitKeys,
} from "./invalidationMessage.ts";
import type { Publication } from "./redisChannels.ts";

/**
 * The side of the invalidation channels of one Redis that publishes. What
 * `publish` is given while a script of its messages is on its way goes together
 * into the next one. `publishNow` waits for none, so several of its scripts may be
 * on their way: Redis gives the numbers, and a key that was given again meanwhile is
 * pending until the later script is acknowledged. Keys that Redis did not take, or
 * may not have taken, stay pending, and are sent again after a question that it
 * answered, under new numbers.
 */
export class InvalidationPublisher {
	readonly #isOwn: (channel: number) => boolean;
	readonly #send: (messages: readonly Publication[]) => Promise<boolean>;
	readonly #pending: PendingKeys;
	readonly #queue = new Batcher<Queued>({
		send: (queued) => this.#sendQueued(queued),
		gathersTurn: false,
	});

	constructor(options: {
		/** Whether a channel is at this Redis. */
		readonly isOwn: (channel: number) => boolean;
		/** Whether Redis took all of them. Never rejects. */
		readonly send: (messages: readonly Publication[]) => Promise<boolean>;
		readonly maxPendingKeys: number;
		/** How long keys are sent again. */
		readonly maxAgeMs: number;
	}) {
		this.#isOwn = options.isOwn;
		this.#send = options.send;
		this.#pending = new PendingKeys({
			maxKeys: options.maxPendingKeys,
			maxAgeMs: options.maxAgeMs,
		});
	}

	/** Whether Redis took the keys; if not, they are pending. */
	publish(keys: readonly string[]): Promise<boolean> {
		return this.#enqueue(this.#pending.start(keys));
	}

	/** The same, sent before this returns, behind what was sent to that Redis before. */
	publishNow(keys: readonly string[]): Promise<boolean> {
		const batch = this.#pending.start(keys);
		return new Promise((resolve) => {
			void this.#sendQueued([{ batch, resolve }]);
		});
	}

	/** Waits at most so long until none of the keys is pending. Returns whether none is. */
	untilPublished(keys: readonly string[], ms: number): Promise<boolean> {
		return this.#pending.untilDone(keys, ms);
	}

	/** Sends pending keys, until some fail or the time is over. */
	async sendPending(ms: number): Promise<void> {
		const end = performance.now() + ms;
		while (performance.now() < end) {
			const batch = this.#pending.next(MAX_KEYS_PER_MESSAGE);
			if (batch === null || !(await this.#enqueue(batch))) return;
		}
	}

	#enqueue(batch: PendingBatch): Promise<boolean> {
		return new Promise((resolve) => {
			this.#queue.add({ batch, resolve });
		});
	}

	async #sendQueued(queued: readonly Queued[]): Promise<void> {
		const messages = this.#messagesOf(queued.map(({ batch }) => batch));
		const taken = await this.#send(messages);
		report(messages, taken);
		for (const { batch, resolve } of queued) {
			if (taken) this.#pending.done(batch);
			else this.#pending.failed(batch);
			resolve(taken);
		}
	}

	#messagesOf(batches: readonly PendingBatch[]): readonly Publication[] {
		const keys = new Set<string>();
		for (const batch of batches) {
			if (batch.kind === "all") return this.#everything();
			for (const key of batch.keys) keys.add(key);
		}
		const messages: Publication[] = [];
		for (const [channel, group] of Map.groupBy(keys, channelOfKey)) {
			if (channel === null) return this.#everything();
			if (group.some(({ length }) => length > MAX_KEY_LENGTH)) {
				messages.push({ channel, keys: "all" });
				continue;
			}
			for (const keys of splitKeys(group)) messages.push({ channel, keys });
		}
		return messages;
	}

	#everything(): readonly Publication[] {
		return [...ALL_CHANNELS]
			.filter(this.#isOwn)
			.map((channel) => ({ channel, keys: "all" }));
	}
}

function report(messages: readonly Publication[], ok: boolean): void {
	if (!FRESHNESS_CHANNELS.invalidation.hasSubscribers) return;
	FRESHNESS_CHANNELS.invalidation.publish({
		kind: "sent",
		messages: messages.length,
		keys: messages.reduce(
			(sum, { keys }) => sum + (keys === "all" ? 0 : keys.length),
			0,
		),
		ok,
	});
}

interface Queued {
	readonly batch: PendingBatch;
	readonly resolve: (taken: boolean) => void;
}
