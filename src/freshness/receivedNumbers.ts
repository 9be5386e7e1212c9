import type {
	InvalidationMessage,
	MessageNumber,
} from "./invalidationMessage.ts";

/**
 * Up to which number a process has received the messages of each publisher, to
 * notice those that it missed (docs/consistency.md "Freshness by protocol").
 *
 * Within one series numbers have no gaps: each message is the next one, and a
 * heartbeat names the last one. A new series may repeat a number with other
 * keys, so it counts from its `base`, which Redis took: whoever received that
 * much of the series before has missed nothing that was not sent again.
 *
 * Of an unknown publisher nothing was received. If it has published before, that
 * counts as missed.
 */
export class ReceivedNumbers {
	readonly #publishers = new Map<string, Received>();
	readonly #maxPublishers: number;

	constructor(maxPublishers = MAX_PUBLISHERS) {
		this.#maxPublishers = maxPublishers;
	}

	/** Notes the message, and returns whether messages before it were missed. The keys of a message are good in any case: late, twice or out of order. */
	isBehindGap(message: InvalidationMessage): boolean {
		const known = this.#publishers.get(message.from);
		if (known !== undefined && message.series < known.series) return false;
		let missed = false;
		let received = known?.received ?? 0;
		if (known?.series !== message.series) {
			missed =
				received < message.base ||
				(known !== undefined && message.series > known.series + 1);
			received = message.base;
		}
		const isHeartbeat = message.sentAt !== undefined;
		if (message.number > received + (isHeartbeat ? 0 : 1)) missed = true;
		this.#note(message, Math.max(received, message.number));
		return missed;
	}

	#note({ from, series }: MessageNumber, received: number): void {
		// Forgotten, all count as unknown: at worst that empties the caches once more.
		if (
			this.#publishers.size >= this.#maxPublishers &&
			!this.#publishers.has(from)
		) {
			this.#publishers.clear();
		}
		this.#publishers.set(from, { series, received });
	}
}

interface Received {
	readonly series: number;
	readonly received: number;
}

/** Each start of a process is one. */
const MAX_PUBLISHERS = 10_000;
