import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import { OUTBOX_CHANNELS, OUTBOX_LEVELS } from "../graph/outbox/diagnostics.ts";
import { askingOnce, type Feeds } from "./feeds.ts";
import { Values } from "./series.ts";

/** How far behind the outboxes are, and what this process delivered of them. */
export function outboxMetrics(registry: Registry): Feeds {
	const entries = new Values(registry, "counter", {
		name: "corkboard_outbox_entries_total",
		help: "Outbox entries that this process handled, by who did (write: right after its commit; worker: the outbox worker) and result (delivered, undelivered, unreadable).",
		labels: ["by", "result"],
	});
	// From 0, because a rate misses the count with which a series begins.
	for (const result of ["delivered", "undelivered", "unreadable"]) {
		for (const by of ["write", "worker"]) entries.at(by, result);
	}
	const failures = new Values(registry, "counter", {
		name: "corkboard_outbox_failures_total",
		help: "Entries that were not delivered, by destination: the host that did not answer, shared caches, or none if a host answered and refused, or nothing came in time. An entry that waits for a host that is known to be away is not counted again.",
		labels: ["destination"],
	});
	const left = new Map<string, readonly Attempt[]>();
	new Values(registry, "gauge", {
		name: "corkboard_outbox_left_entry_age_seconds",
		help: "Age of the oldest entry that this process tried within the last 30 s and left, by destination (as in corkboard_outbox_failures_total). Absent for a destination that took all.",
		aggregator: "max",
		labels: ["destination"],
		levels() {
			const now = Date.now();
			return [...left].flatMap(([destination, attempts]) => {
				const recent = attempts.filter(({ at }) => now - at < LEFT_MS);
				left.set(destination, recent);
				if (recent.length === 0) {
					left.delete(destination);
					return [];
				}
				const oldest = Math.min(...recent.map(({ oldestAt }) => oldestAt));
				return [[Math.max(0, now - oldest) / 1_000, destination]];
			});
		},
	});
	const passes = new Values(registry, "counter", {
		name: "corkboard_outbox_failed_passes_total",
		help: "Delivery passes that did not deliver all they found.",
	});
	const levels = askingOnce(OUTBOX_LEVELS);
	new Values(registry, "gauge", {
		name: "corkboard_outbox_pending_entries",
		help: "Outbox entries on the shards of a host, up to 1,000 of each shard. Absent while the host does not answer.",
		aggregator: "max",
		labels: ["host"],
		levels: async () =>
			(await levels()).map(({ pending, host }) => [pending, host]),
	});
	new Values(registry, "gauge", {
		name: "corkboard_outbox_oldest_entry_age_seconds",
		help: "Age of the oldest outbox entry on the shards of a host; 0 without one. Absent while the host does not answer.",
		aggregator: "max",
		labels: ["host"],
		levels: async () =>
			(await levels()).map(({ oldestMs, host }) => [oldestMs / 1_000, host]),
	});
	return [
		listen(
			OUTBOX_CHANNELS.outboxDelivery,
			({ by, delivered, undelivered, unreadable, destinations }) => {
				if (delivered > 0) entries.at(by, "delivered").value += delivered;
				const late = undelivered - unreadable;
				if (late > 0) entries.at(by, "undelivered").value += late;
				if (unreadable > 0) entries.at(by, "unreadable").value += unreadable;
				for (const [host, { entries, oldestAt }] of destinations) {
					const destination = host ?? "none";
					failures.at(destination).value += entries;
					left.set(
						destination,
						withAttempt(left.get(destination) ?? [], oldestAt),
					);
				}
			},
		),
		listen(OUTBOX_CHANNELS.deliveryPass, (message) => {
			if (message.error !== undefined) {
				passes.at().value++;
			}
		}),
	];
}

/** For how long a destination that did not take an entry is shown without another attempt: one that is known to be away is tried every 8 s, and answers late or not at all. */
const LEFT_MS = 30_000;
/** Attempts within so many milliseconds are one: so there are few, whatever fails. */
const MERGED_MS = 1_000;

/** To deliver entries, of which some were left. Milliseconds since 1970. */
interface Attempt {
	readonly at: number;
	readonly oldestAt: number;
}

function withAttempt(
	attempts: readonly Attempt[],
	oldestAt: number,
): readonly Attempt[] {
	const at = Date.now();
	const last = attempts.at(-1);
	if (last !== undefined && at - last.at < MERGED_MS) {
		const both = { at: last.at, oldestAt: Math.min(last.oldestAt, oldestAt) };
		return [...attempts.slice(0, -1), both];
	}
	return [...attempts.filter((one) => at - one.at < LEFT_MS), { at, oldestAt }];
}
