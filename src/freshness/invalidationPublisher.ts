import { type PendingBatch, PendingKeys } from "../cache/pendingKeys.ts";
import { Batcher } from "../util/batcher.ts";
import { FRESHNESS_CHANNELS } from "./diagnostics.ts";
import {
	encodeHeartbeat,
	encodeKeys,
	MAX_KEY_LENGTH,
	MAX_KEYS_PER_MESSAGE,
	type MessageNumber,
	splitKeys,
} from "./invalidationMessage.ts";

/** What became of some messages: Redis took them, they were not sent, or nobody knows. */
export type Sent = "taken" | "refused" | "unknown";

/**
 * The side of the invalidation channel that publishes. It numbers its messages,
 * and has one pipeline of them on its way at a time: what is published meanwhile
 * goes together into the next one. Keys that Redis did not take stay pending,
 * and are sent again after a heartbeat that gets through.
 */
export class InvalidationPublisher {
	readonly #from: string;
	readonly #send: (messages: readonly string[]) => Promise<Sent>;
	readonly #pending: PendingKeys;
	readonly #queue = new Batcher<Queued>({
		send: (queued) => this.#sendQueued(queued),
		gathersTurn: false,
	});
	#series = 0;
	/** The last number that Redis took before this series. */
	#base = 0;
	/** The last number that Redis took. */
	#taken = 0;

	constructor(options: {
		/** The epoch: new at each start. */
		readonly from: string;
		/** All messages in one pipeline. Never rejects. */
		readonly send: (messages: readonly string[]) => Promise<Sent>;
		readonly maxPendingKeys: number;
		/** How long keys are sent again. */
		readonly maxAgeMs: number;
	}) {
		this.#from = options.from;
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

	/** Whether none of the keys is pending, after waiting for that at most so long. */
	untilPublished(keys: readonly string[], ms: number): Promise<boolean> {
		return this.#pending.untilDone(keys, ms);
	}

	/** It names the last message that Redis took. */
	heartbeat(sentAt: number): string {
		return encodeHeartbeat(this.#number(this.#taken), sentAt);
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
		const taken = await this.#sendBatches(queued.map(({ batch }) => batch));
		for (const { batch, resolve } of queued) {
			if (taken) this.#pending.done(batch);
			else this.#pending.failed(batch);
			resolve(taken);
		}
	}

	async #sendBatches(batches: readonly PendingBatch[]): Promise<boolean> {
		const groups = groupsOf(batches);
		const messages = groups.map((keys, at) =>
			encodeKeys(this.#number(this.#taken + 1 + at), keys),
		);
		const sent = await this.#send(messages);
		report(groups, sent === "taken");
		if (sent === "taken") {
			this.#taken += messages.length;
		} else if (sent === "unknown") {
			// Some processes may have received some of them: those numbers mean nothing from now on.
			this.#series++;
			this.#base = this.#taken;
		}
		return sent === "taken";
	}

	#number(number: number): MessageNumber {
		return {
			from: this.#from,
			series: this.#series,
			base: this.#base,
			number,
		};
	}
}

function report(
	groups: readonly (readonly string[] | "all")[],
	ok: boolean,
): void {
	if (!FRESHNESS_CHANNELS.invalidation.hasSubscribers) return;
	FRESHNESS_CHANNELS.invalidation.publish({
		kind: "sent",
		messages: groups.length,
		keys: groups.reduce(
			(sum, keys) => sum + (keys === "all" ? 0 : keys.length),
			0,
		),
		ok,
	});
}

/** What goes into one message each. */
function groupsOf(
	batches: readonly PendingBatch[],
): readonly (readonly string[] | "all")[] {
	const keys = new Set<string>();
	for (const batch of batches) {
		if (batch.kind === "all") return ["all"];
		for (const key of batch.keys) {
			if (key.length > MAX_KEY_LENGTH) return ["all"];
			keys.add(key);
		}
	}
	return splitKeys([...keys]);
}

interface Queued {
	readonly batch: PendingBatch;
	readonly resolve: (taken: boolean) => void;
}
