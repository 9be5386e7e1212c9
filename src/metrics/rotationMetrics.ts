import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import { QUEUE_CHANNELS } from "../queue/diagnostics.ts";
import { CALL_SECONDS } from "./buckets.ts";
import type { Feeds } from "./feeds.ts";
import { Distributions, Values } from "./series.ts";

/** What a round found holds until the next one; longer it is another process's round. */
const FOUND_MS = 150_000;

/** What rotation of queues did in this process. */
export function rotationMetrics(registry: Registry): Feeds {
	const stalls = new Distributions(registry, CALL_SECONDS, {
		name: "corkboard_queue_ddl_stall_seconds",
		help: "How long statements on the jobs of a queue may have waited for one of rotation, which changes their table.",
		labels: ["queue"],
	});
	const bytes = new Values(registry, "counter", {
		name: "corkboard_queue_rotation_freed_bytes_total",
		help: "Bytes of files that rotation gave back.",
		labels: ["queue"],
	});
	const moved = new Values(registry, "counter", {
		name: "corkboard_queue_rotation_moved_jobs_total",
		help: "Jobs to be kept that rotation moved, so that the rest could be given back.",
		labels: ["queue"],
	});
	const failed = new Values(registry, "counter", {
		name: "corkboard_queue_rotation_failures_total",
		help: "Rounds of rotation that ended with an error.",
		labels: ["queue"],
	});
	const found = new Map<
		string,
		{
			readonly labels: readonly [string, string];
			readonly heldBytes: number;
			readonly refusedForMs: number;
			readonly at: number;
		}
	>();
	const gauge = (
		name: string,
		help: string,
		pick: (round: { heldBytes: number; refusedForMs: number }) => number,
	) =>
		new Values(registry, "gauge", {
			name,
			help,
			aggregator: "max",
			labels: ["queue", "shard"],
			levels() {
				const oldest = performance.now() - FOUND_MS;
				for (const [place, { at }] of found) {
					if (at < oldest) found.delete(place);
				}
				return [...found.values()].map((round) => [
					pick(round),
					...round.labels,
				]);
			},
		});
	gauge(
		"corkboard_queue_held_bytes",
		"Files of finished jobs that stay because too many jobs in them are to be kept. Reported by the process that rotates.",
		({ heldBytes }) => heldBytes,
	);
	gauge(
		"corkboard_queue_rotation_refused_seconds",
		"For how long the server has refused rotation, because somebody else uses the table of jobs; 0 if it has not. Reported by the process that rotates.",
		({ refusedForMs }) => refusedForMs / 1_000,
	);
	return [
		listen(QUEUE_CHANNELS.queueRotation, (did) => {
			if (did.kind === "step") {
				if (did.stallMs === null) return;
				stalls.at(did.queue).observe(did.stallMs / 1_000);
				return;
			}
			const { queue, shard, heldBytes, refusedForMs } = did;
			bytes.at(queue).value += did.bytes;
			moved.at(queue).value += did.moved;
			failed.at(queue).value += did.error === undefined ? 0 : 1;
			found.set(`${queue} ${shard}`, {
				labels: [queue, String(shard)],
				heldBytes,
				refusedForMs,
				at: performance.now(),
			});
		}),
	];
}
