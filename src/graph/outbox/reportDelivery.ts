import { CHANNELS, type OutboxDelivery } from "../../diagnostics.ts";
import { isUnreadable } from "./decodeEntry.ts";
import { unreachedHost } from "./hostBreakers.ts";

/** Reports what became of some entries. An error for each that was not delivered. */
export function reportDelivery(
	by: OutboxDelivery["by"],
	entries: number,
	errors: readonly unknown[],
): void {
	if (!CHANNELS.outboxDelivery.hasSubscribers || entries === 0) return;
	const destinations = new Map<string | null, number>();
	for (const error of errors) {
		const host = unreachedHost(error);
		destinations.set(host, (destinations.get(host) ?? 0) + 1);
	}
	CHANNELS.outboxDelivery.publish({
		by,
		delivered: entries - errors.length,
		undelivered: errors.length,
		unreadable: errors.filter(isUnreadable).length,
		destinations,
	} satisfies OutboxDelivery);
}
