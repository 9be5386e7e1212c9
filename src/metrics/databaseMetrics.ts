import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import {
	CHANNELS,
	type DatabaseFailure,
	type DatabaseHost,
	type Levels,
	type Statement,
	type StorageCall,
} from "../diagnostics.ts";
import { CALL_SECONDS } from "./buckets.ts";
import type { Feeds } from "./feeds.ts";

/** Calls of the storage port, statements by host, pools, and hosts that are down. */
export function databaseMetrics(registry: Registry): Feeds {
	const registers = [registry];
	const calls = new Counter({
		name: "corkboard_storage_calls_total",
		help: "Calls of the storage port, by verb. One call may take statements on several hosts.",
		labelNames: ["verb"],
		registers,
	});
	const keys = new Counter({
		name: "corkboard_storage_keys_total",
		help: "Keys that calls of the storage port named, by verb.",
		labelNames: ["verb"],
		registers,
	});
	const statements = new Counter({
		name: "corkboard_database_statements_total",
		help: "Statements, by host and by what they do.",
		labelNames: ["host", "statement"],
		registers,
	});
	const rows = new Counter({
		name: "corkboard_database_rows_total",
		help: "Rows that statements read or changed, by host.",
		labelNames: ["host"],
		registers,
	});
	const seconds = new Histogram({
		name: "corkboard_database_statement_duration_seconds",
		help: "Time of a round trip to a database, by host.",
		labelNames: ["host"],
		buckets: CALL_SECONDS,
		registers,
	});
	const failures = new Counter({
		name: "corkboard_database_failures_total",
		help: "Statements and connections that failed, by host and kind.",
		labelNames: ["host", "kind"],
		registers,
	});
	const up = new Gauge({
		name: "corkboard_database_up",
		help: "1 while the host answers this process, 0 after three calls in a row without an answer. Absent before the first call.",
		aggregator: "min",
		labelNames: ["host"],
		registers,
	});
	new Gauge({
		name: "corkboard_database_connections",
		help: "Connections to a host, by purpose and state (used, idle), and callers that wait for one (waiting).",
		labelNames: ["host", "purpose", "state"],
		registers,
		collect() {
			this.reset();
			CHANNELS.levels.publish({
				pool: ({ host, purpose, used, idle, waiting }) => {
					this.inc({ host, purpose, state: "used" }, used);
					this.inc({ host, purpose, state: "idle" }, idle);
					this.inc({ host, purpose, state: "waiting" }, waiting);
				},
			} satisfies Levels);
		},
	});
	const known = new Set<string>();
	return [
		[
			CHANNELS.storage,
			(message) => {
				const call = message as StorageCall;
				calls.inc({ verb: call.verb });
				keys.inc({ verb: call.verb }, call.keys);
			},
		],
		[
			CHANNELS.statement,
			(message) => {
				const statement = message as Statement;
				const { host, name } = statement;
				statements.inc({ host, statement: name });
				rows.inc({ host }, statement.rows);
				if (!statement.joined) seconds.observe({ host }, statement.ms / 1_000);
				if (known.has(host)) return;
				known.add(host);
				up.set({ host }, 1);
			},
		],
		[
			CHANNELS.databaseFailure,
			(message) => {
				const { host, kind } = message as DatabaseFailure;
				failures.inc({ host, kind });
			},
		],
		[
			CHANNELS.databaseHost,
			(message) => {
				const { host, state } = message as DatabaseHost;
				known.add(host);
				up.set({ host }, state === "up" ? 1 : 0);
			},
		],
	];
}
