import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import {
	POOL_LEVELS,
	STORAGE_CHANNELS,
	TABLE_CACHE_LEVELS,
} from "../storage/diagnostics.ts";
import { TOPOLOGY_CHANNELS } from "../topology/diagnostics.ts";
import { sureSeconds } from "../util/sureSeconds.ts";
import { CALL_SECONDS } from "./buckets.ts";
import type { Feeds } from "./feeds.ts";
import { Distributions, Values } from "./series.ts";

const FREQUENT_FAILURES = ["timeout", "connectionLost", "hostDown", "conflict"];
const RETRIES = ["deadlock", "lockWait", "connectionLost", "readOnly", "moved"];

/** Calls of the storage port, statements by host, pools, and hosts that are down. */
export function databaseMetrics(registry: Registry): Feeds {
	const calls = new Values(registry, "counter", {
		name: "corkboard_storage_calls_total",
		help: "Calls of the storage port, by verb. One call may take statements on several hosts.",
		labels: ["verb"],
	});
	const keys = new Values(registry, "counter", {
		name: "corkboard_storage_keys_total",
		help: "Keys that calls of the storage port named, by verb.",
		labels: ["verb"],
	});
	const statements = new Values(registry, "counter", {
		name: "corkboard_database_statements_total",
		help: "Statements, by host and by what they do.",
		labels: ["host", "statement"],
	});
	const rows = new Values(registry, "counter", {
		name: "corkboard_database_rows_total",
		help: "Rows that statements read or changed, by host.",
		labels: ["host"],
	});
	const seconds = new Distributions(registry, CALL_SECONDS, {
		name: "corkboard_database_statement_duration_seconds",
		help: "Time of a round trip to a database, by host.",
		labels: ["host"],
	});
	const failures = new Values(registry, "counter", {
		name: "corkboard_database_failures_total",
		help: "Statements and connections that failed, by host and kind.",
		labels: ["host", "kind"],
	});
	const retries = new Values(registry, "counter", {
		name: "corkboard_database_retries_total",
		help: "Statements and transactions that were rolled back and started again, by host and reason (deadlock, lockWait: waited too long for a row, connectionLost, readOnly).",
		labels: ["host", "reason"],
	});
	/** Whether each host answers. */
	const answers = new Map<string, boolean>();
	new Values(registry, "gauge", {
		name: "corkboard_database_up",
		help: "1 while the host answers this process, 0 after three calls in a row without an answer. Absent before the first call, and once no topology in use has the host.",
		aggregator: "min",
		labels: ["host"],
		levels() {
			// Else a dead host would stay down after its replica was promoted.
			forgetAllBut(hostsInUse(), answers);
			return [...answers].map(([host, isUp]) => [isUp ? 1 : 0, host]);
		},
	});
	/** Hosts whose series have begun. */
	const known = new Set<string>();
	return [
		...clockMetrics(registry),
		...poolMetrics(registry),
		listen(STORAGE_CHANNELS.storage, (call) => {
			calls.at(call.verb).value++;
			keys.at(call.verb).value += call.keys;
		}),
		listen(STORAGE_CHANNELS.statement, (statement) => {
			const { host, name } = statement;
			statements.at(host, name).value++;
			rows.at(host).value += statement.rows;
			if (!statement.joined) seconds.at(host).observe(statement.ms / 1_000);
			// A new version of the topology knows nothing of a host that was down.
			if (answers.get(host) === true) return;
			answers.set(host, true);
			if (known.has(host)) return;
			known.add(host);
			// From 0, because a rate misses the count with which a series begins.
			for (const kind of FREQUENT_FAILURES) failures.at(host, kind);
			for (const reason of RETRIES) retries.at(host, reason);
		}),
		listen(STORAGE_CHANNELS.databaseFailure, ({ host, kind }) => {
			failures.at(host, kind).value++;
		}),
		listen(TOPOLOGY_CHANNELS.databaseHost, ({ host, state }) => {
			// Whether another version of the topology has it is seen at the scrape.
			if (state === "left") return;
			answers.set(host, state === "up");
		}),
		listen(STORAGE_CHANNELS.writeRetry, ({ host, reason }) => {
			retries.at(host, reason).value++;
		}),
	];
}

function clockMetrics(registry: Registry): Feeds {
	/** The clock difference on each host's newest connection. */
	const differences = new Map<string, number>();
	new Values(registry, "gauge", {
		name: "corkboard_database_clock_difference_seconds",
		help: "By how much the clocks of the host and of this process surely differ, as of its newest connection: 0 if they may agree.",
		aggregator: "max",
		labels: ["host"],
		levels() {
			forgetAllBut(hostsInUse(), differences);
			return [...differences].map(([host, seconds]) => [seconds, host]);
		},
	});
	return [
		listen(TOPOLOGY_CHANNELS.databaseClock, (clock) => {
			differences.set(clock.host, Math.abs(sureSeconds(clock)));
		}),
	];
}

function poolMetrics(registry: Registry): Feeds {
	new Values(registry, "gauge", {
		name: "corkboard_database_connections",
		help: "Connections to a host, by purpose and state (used, idle), and callers that wait for one (waiting).",
		labels: ["host", "purpose", "state"],
		levels: () =>
			POOL_LEVELS.read().flatMap(({ host, purpose, used, idle, waiting }) =>
				Object.entries({ used, idle, waiting }).map(([state, count]) => [
					count,
					host,
					purpose,
					state,
				]),
			),
	});
	new Values(registry, "counter", {
		name: "corkboard_database_table_cache_overflows_total",
		help: "Tables that a host closed because its table cache was full (Table_open_cache_overflows), as it was within the last minute. Absent while the host does not answer.",
		aggregator: "max",
		labels: ["host"],
		levels: async () =>
			(await Promise.all(TABLE_CACHE_LEVELS.read()))
				.flat()
				.map(({ overflows, host }) => [overflows, host]),
	});
	const waits = new Values(registry, "counter", {
		name: "corkboard_database_connection_waits_total",
		help: "Callers that had to wait for a connection because all were in use, by host, purpose and result (given, or none in time).",
		labels: ["host", "purpose", "result"],
	});
	const waited = new Values(registry, "counter", {
		name: "corkboard_database_connection_wait_seconds_total",
		help: "How long they waited.",
		labels: ["host", "purpose"],
	});
	return [
		listen(STORAGE_CHANNELS.poolWait, ({ host, purpose, ms, ok }) => {
			waits.at(host, purpose, ok ? "given" : "none").value++;
			waited.at(host, purpose).value += ms / 1_000;
		}),
	];
}

/** Hosts of every topology in use: each has pools, also before it was first called. */
function hostsInUse(): ReadonlySet<string> {
	return new Set(POOL_LEVELS.read().map(({ host }) => host));
}

function forgetAllBut(
	hosts: ReadonlySet<string>,
	known: Map<string, unknown>,
): void {
	for (const host of known.keys()) {
		if (!hosts.has(host)) known.delete(host);
	}
}
