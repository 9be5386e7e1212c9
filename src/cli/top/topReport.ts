import type { Between } from "./between.ts";

type Value = number | null;

/** What happened between two scrapes, and the state at the second one. Null: the server does not say, or nothing happened. docs/reference/commands-json.md describes it. */
export type TopReport = ReturnType<typeof topReport>;

const REQUEST = "corkboard_request_duration_seconds";
const STATEMENT = "corkboard_database_statement_duration_seconds";
const CACHE_CALL = "corkboard_cache_call_duration_seconds";

/** What `top` shows. */
export function topReport(between: Between) {
	return {
		seconds: round(between.seconds),
		processes: between.now("corkboard_processes"),
		requests: requestsOf(between),
		process: processOf(between),
		documents: documentsOf(between),
		hosts: hostsOf(between),
		caches: [...localCachesOf(between), ...sharedCachesOf(between)],
		outbox: {
			pending: between.now("corkboard_outbox_pending_entries"),
			oldestSeconds: largest(
				between
					.values("corkboard_outbox_oldest_entry_age_seconds", "host")
					.map((host) =>
						between.now("corkboard_outbox_oldest_entry_age_seconds", { host }),
					),
			),
			deliveredPerSecond: rounded(
				between.rate("corkboard_outbox_entries_total", { result: "delivered" }),
			),
			undeliveredPerSecond: rounded(
				between.rate("corkboard_outbox_entries_total", {
					result: "undelivered",
				}),
			),
		},
		invalidation: {
			meanLagMs: milliseconds(
				between.mean("corkboard_invalidation_lag_seconds"),
			),
			bypassedShards: between.now("corkboard_cache_bypassed_shards"),
		},
		topology: {
			version: between.now("corkboard_topology_version"),
			rejected: flag(between.now("corkboard_topology_file_rejected")),
		},
	};
}

function requestsOf(between: Between) {
	const byLabel = (name: string, label: string) =>
		Object.fromEntries(
			between.values(name, label).flatMap((value) => {
				const rate = rounded(between.rate(name, { [label]: value }));
				return rate === null || rate === 0 ? [] : [[value, rate]];
			}),
		);
	return {
		perSecond: rounded(between.rate("corkboard_requests_total")),
		errorsPerSecond: rounded(between.rate("corkboard_errors_total")),
		refusedPerSecond: rounded(between.rate("corkboard_refused_total")),
		p50Ms: milliseconds(between.quantile(0.5, REQUEST)),
		p99Ms: milliseconds(between.quantile(0.99, REQUEST)),
		byWay: byLabel("corkboard_requests_total", "way"),
		errors: byLabel("corkboard_errors_total", "code"),
		refused: byLabel("corkboard_refused_total", "limit"),
	};
}

function processOf(between: Between) {
	const busy = between.rate("corkboard_event_loop_busy_seconds_total");
	const processes = between.now("corkboard_processes") ?? 1;
	return {
		// All processes together: 1 is one core.
		cpu: rounded(between.rate("process_cpu_seconds_total")),
		// Share of the time, of the average process.
		eventLoopBusy: rounded(
			busy === null ? null : busy / Math.max(1, processes),
		),
		eventLoopP99Ms: milliseconds(
			between.now("nodejs_eventloop_lag_p99_seconds"),
		),
		residentBytes: between.now("process_resident_memory_bytes"),
		heapBytes: between.now("nodejs_heap_size_used_bytes"),
	};
}

/** Known documents that ran, the slowest first. */
function documentsOf(between: Between) {
	const name = "corkboard_document_requests_total";
	const seconds = "corkboard_document_duration_seconds_total";
	const all = between.rise(seconds) ?? 0;
	return between
		.values(name, "document")
		.flatMap((document) =>
			between
				.values(name, "operation", { document })
				.map((operation) => ({ document, operation })),
		)
		.flatMap((labels) => {
			const count = between.rise(name, labels) ?? 0;
			if (count === 0) return [];
			const taken = between.rise(seconds, labels) ?? 0;
			const cost = between.rise("corkboard_document_cost_points_total", labels);
			return [
				{
					...labels,
					perSecond: round(count / between.seconds),
					meanMs: round((taken / count) * 1_000),
					meanCost: cost === null ? null : round(cost / count),
					// The share of the time of all requests for known documents.
					share: all === 0 ? 0 : round(taken / all),
				},
			];
		})
		.toSorted((a, b) => b.meanMs - a.meanMs);
}

function hostsOf(between: Between) {
	// Counters of a host that no topology names any more stay until the process ends; these two go.
	const hosts = new Set(
		["corkboard_database_up", "corkboard_database_connections"].flatMap(
			(name) => between.values(name, "host"),
		),
	);
	return [...hosts].toSorted().map((host) => {
		const connections = (state: string) =>
			between.now("corkboard_database_connections", { host, state });
		return {
			host,
			up: flag(between.now("corkboard_database_up", { host })),
			serverChanges: between.rise("corkboard_database_server_changes_total", {
				host,
			}),
			statementsPerSecond: rounded(
				between.rate("corkboard_database_statements_total", { host }),
			),
			rowsPerSecond: rounded(
				between.rate("corkboard_database_rows_total", { host }),
			),
			failuresPerSecond: rounded(
				between.rate("corkboard_database_failures_total", { host }),
			),
			meanMs: milliseconds(between.mean(STATEMENT, { host })),
			p99Ms: milliseconds(between.quantile(0.99, STATEMENT, { host })),
			used: connections("used"),
			idle: connections("idle"),
			waiting: connections("waiting"),
			outboxPending: between.now("corkboard_outbox_pending_entries", { host }),
			outboxOldestSeconds: between.now(
				"corkboard_outbox_oldest_entry_age_seconds",
				{ host },
			),
		};
	});
}

function localCachesOf(between: Between) {
	const hits = "corkboard_local_cache_hits_total";
	return between.values(hits, "cache").map((cache) => ({
		layer: "process",
		name: cache,
		up: null,
		hitRate: share(
			between.rise(hits, { cache }),
			between.rise("corkboard_local_cache_misses_total", { cache }),
		),
		callsPerSecond: null,
		meanMs: null,
		failedPerSecond: null,
		bytes: between.now("corkboard_local_cache_bytes", { cache }),
		evictionsPerSecond: rounded(
			between.rate("corkboard_local_cache_evictions_total", { cache }),
		),
	}));
}

function sharedCachesOf(between: Between) {
	const layers = new Set(
		["corkboard_cache_up", "corkboard_cache_calls_total"].flatMap((name) =>
			between.values(name, "layer"),
		),
	);
	return [...layers].flatMap((layer) => {
		const reads = (result: string) =>
			between.rise("corkboard_cache_reads_total", { layer, result });
		const hitRate = share(reads("hit"), reads("miss"));
		const hosts = new Set(
			["corkboard_cache_up", "corkboard_cache_calls_total"].flatMap((name) =>
				between.values(name, "host", { layer }),
			),
		);
		return [...hosts].toSorted().map((host) => ({
			layer,
			name: host,
			up: flag(between.now("corkboard_cache_up", { layer, host })),
			hitRate,
			callsPerSecond: rounded(
				between.rate("corkboard_cache_calls_total", { layer, host }),
			),
			meanMs: milliseconds(between.mean(CACHE_CALL, { layer, host })),
			failedPerSecond: rounded(
				between.rate("corkboard_cache_calls_total", {
					layer,
					host,
					result: "failed",
				}) ?? 0,
			),
			bytes: between.now("corkboard_shared_cache_bytes", { layer, host }),
			evictionsPerSecond: rounded(
				between.rate("corkboard_shared_cache_evictions_total", {
					layer,
					host,
				}),
			),
		}));
	});
}

function share(part: Value, rest: Value): Value {
	if (part === null || rest === null || part + rest === 0) return null;
	return round(part / (part + rest));
}

function largest(values: readonly Value[]): Value {
	const known = values.filter((value) => value !== null);
	return known.length === 0 ? null : round(Math.max(...known));
}

function flag(value: Value): boolean | null {
	return value === null ? null : value !== 0;
}

function milliseconds(seconds: Value): Value {
	return seconds === null ? null : round(seconds * 1_000);
}

function rounded(value: Value): Value {
	return value === null ? null : round(value);
}

function round(value: number): number {
	return Math.round(value * 1_000) / 1_000;
}
