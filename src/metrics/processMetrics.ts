import { totalmem } from "node:os";
import {
	constants,
	type NodeGCPerformanceDetail,
	PerformanceObserver,
	performance,
} from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { collectDefaultMetrics, type Metric, Registry } from "prom-client";
import { Values } from "./series.ts";

/** Between two looks at the delay of the event loop: every 10 ms, the default, takes half a percent of a core. */
const LOOP_PRECISION_MS = 20;

/** CPU, memory, event loop and garbage collection, and what the memory is measured by. */
export function processMetrics(registry: Registry): void {
	defaults ??= collectDefaults();
	for (const metric of defaults.getMetricsAsArray()) {
		registry.registerMetric(metric as unknown as Metric);
	}
	const processes = new Values(registry, "gauge", {
		name: "corkboard_processes",
		help: "Processes that this scrape is of: with --workers, those that answered.",
	});
	processes.set(1);
	new Values(registry, "gauge", {
		name: "corkboard_started_timestamp_seconds",
		help: "When the process started, in seconds since 1970; with --workers, the newest of them.",
		aggregator: "max",
	}).set(Math.round(Date.now() / 1_000 - process.uptime()));
	new Values(registry, "gauge", {
		name: "corkboard_heap_limit_bytes",
		help: "The size of the heap at which Node.js ends the process.",
		levels: () => [[getHeapStatistics().heap_size_limit]],
	});
	watchFullCollections();
	new Values(registry, "gauge", {
		name: "corkboard_heap_live_bytes",
		help: "The heap in use when it was last collected as a whole: it has little garbage, so it does not sawtooth. Before the first time, the heap with its garbage.",
		levels: () => [[liveBytes ?? getHeapStatistics().used_heap_size]],
	});
	new Values(registry, "gauge", {
		name: "corkboard_memory_limit_bytes",
		help: "The memory that the process may take: of its container, or of the machine.",
		aggregator: "max",
		levels() {
			const limit = process.constrainedMemory();
			const machine = totalmem();
			return [[limit > 0 ? Math.min(limit, machine) : machine]];
		},
	});
	new Values(registry, "counter", {
		name: "corkboard_event_loop_busy_seconds_total",
		help: "Time in which the event loop ran code rather than waited. Its rate reaches 1 if a process has no time left.",
		levels: () => [[performance.eventLoopUtilization().active / 1_000]],
	});
}

/** After the last collection of the whole heap; null before. */
let liveBytes: number | null = null;
let collections: PerformanceObserver | null = null;

/** As prom-client's observers, one for the process. */
function watchFullCollections(): void {
	if (collections !== null) return;
	collections = new PerformanceObserver((list) => {
		for (const entry of list.getEntries()) {
			const { detail } = entry as { detail?: NodeGCPerformanceDetail };
			if (detail?.kind !== constants.NODE_PERFORMANCE_GC_MAJOR) continue;
			liveBytes = getHeapStatistics().used_heap_size;
		}
	});
	collections.observe({ entryTypes: ["gc"] });
}

/** The registry of the process, one for all servers in it: prom-client's observers of garbage and event loop cannot be stopped. */
let defaults: Registry | null = null;

function collectDefaults(): Registry {
	const register = new Registry();
	collectDefaultMetrics({
		register,
		eventLoopMonitoringPrecision: LOOP_PRECISION_MS,
	});
	return register;
}
