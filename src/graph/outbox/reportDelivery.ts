import {
	CHANNELS,
	type EntriesLeft,
	type OutboxDelivery,
} from "../../diagnostics.ts";
import { isUnreadable } from "./decodeEntry.ts";
import { unreachedHost } from "./hostBreakers.ts";

/** An entry that was not delivered. */
export interface Left {
	readonly error: unknown;
	/** Microseconds since 1970. */
	readonly writtenAt: number;
}

/** Reports what became of some entries. */
export function reportDelivery(
	by: OutboxDelivery["by"],
	entries: number,
	left: readonly Left[],
): void {
	if (!CHANNELS.outboxDelivery.hasSubscribers || entries === 0) return;
	const destinations = new Map<string | null, EntriesLeft>();
	for (const { error, writtenAt } of left) {
		const host = unreachedHost(error);
		const known = destinations.get(host);
		const at = writtenAt / 1_000;
		destinations.set(host, {
			entries: (known?.entries ?? 0) + 1,
			oldestAt: Math.min(known?.oldestAt ?? at, at),
		});
	}
	CHANNELS.outboxDelivery.publish({
		by,
		delivered: entries - left.length,
		undelivered: left.length,
		unreadable: left.filter(({ error }) => isUnreadable(error)).length,
		destinations,
	} satisfies OutboxDelivery);
}
