import { channelOf, Levels } from "../../diagnostics.ts";
import { isUnreadable } from "./decodeEntry.ts";
import { unreachedHost } from "./hostBreakers.ts";

export const OUTBOX_CHANNELS = {
	/** Outbox entries were delivered, or not. */
	outboxDelivery: channelOf<OutboxDelivery>("corkboard.outboxDelivery"),
	/** A delivery pass of the outbox worker that delivered something or failed. */
	deliveryPass: channelOf<DeliveryPass>("corkboard.deliveryPass"),
};

/** The owner of outboxes answers soon and without an error. */
export const OUTBOX_LEVELS = new Levels<Promise<readonly OutboxLevel[]>>();

/** The outboxes of the shards of one host. */
export interface OutboxLevel {
	readonly host: string;
	/** Entries, up to a number for each shard. */
	readonly pending: number;
	/** Age of the oldest one, in milliseconds; 0 without one. */
	readonly oldestMs: number;
}

export interface DeliveryPass {
	readonly delivered: number;
	readonly undelivered: number;
	/** How many of the undelivered entries cannot be read. */
	readonly unreadable: number;
	readonly error?: unknown;
}

interface OutboxDelivery {
	/** `write`: right after the commit of the entry. `worker`: the outbox worker. */
	readonly by: "write" | "worker";
	readonly delivered: number;
	readonly undelivered: number;
	/** How many of the undelivered entries cannot be read. */
	readonly unreadable: number;
	/** Undelivered entries by the host that was not reached; null for one that refused, or in unknown state. */
	readonly destinations: ReadonlyMap<string | null, EntriesLeft>;
}

interface EntriesLeft {
	readonly entries: number;
	/** When the oldest of them was written. Milliseconds since 1970. */
	readonly oldestAt: number;
}

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
	if (!OUTBOX_CHANNELS.outboxDelivery.hasSubscribers || entries === 0) return;
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
	OUTBOX_CHANNELS.outboxDelivery.publish({
		by,
		delivered: entries - left.length,
		undelivered: left.length,
		unreadable: left.filter(({ error }) => isUnreadable(error)).length,
		destinations,
	});
}
