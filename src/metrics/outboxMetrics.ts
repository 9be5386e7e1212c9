import { Counter, type Registry } from "prom-client";
import { CHANNELS, type DeliveryPass } from "../diagnostics.ts";
import type { Feeds } from "./feeds.ts";

/** What this process delivered from outboxes besides its own writes. */
export function outboxMetrics(registry: Registry): Feeds {
	const entries = new Counter({
		name: "corkboard_outbox_entries_total",
		help: "Outbox entries that the worker of this process handled, by result (delivered, undelivered, unreadable).",
		labelNames: ["result"],
		registers: [registry],
	});
	const failures = new Counter({
		name: "corkboard_outbox_failed_passes_total",
		help: "Delivery passes that did not deliver all they found.",
		registers: [registry],
	});
	return [
		[
			CHANNELS.deliveryPass,
			(message) => {
				const { delivered, undelivered, unreadable, error } =
					message as DeliveryPass;
				entries.inc({ result: "delivered" }, delivered);
				entries.inc({ result: "undelivered" }, undelivered - unreadable);
				entries.inc({ result: "unreadable" }, unreadable);
				if (error !== undefined) failures.inc();
			},
		],
	];
}
