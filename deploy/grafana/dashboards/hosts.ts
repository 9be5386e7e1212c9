import { areas, type Dashboard, graph } from "../panels.ts";

export const HOSTS: Dashboard = {
	name: "hosts",
	title: "databases",
	description: "Each MySQL host as the servers see it, and the shard map.",
	panels: [
		graph(
			"Hosts that answer",
			"short",
			["min by (host) (corkboard_database_up)"],
			{ about: "0 where at least one server gets no answer.", max: 1 },
		),
		graph("Statement, p95", "s", [
			"histogram_quantile(0.95, sum by (host, le) (rate(corkboard_database_statement_duration_seconds_bucket[$__rate_interval])))",
		]),
		areas("Failures", "ops", [
			"sum by (host, kind) (rate(corkboard_database_failures_total[$__rate_interval]))",
		]),
		areas("Statements", "ops", [
			"sum by (host) (rate(corkboard_database_statements_total[$__rate_interval]))",
		]),
		areas("Statements by kind", "ops", [
			"topk(10, sum by (statement) (rate(corkboard_database_statements_total[$__rate_interval])))",
		]),
		areas("Rows", "ops", [
			"sum by (host) (rate(corkboard_database_rows_total[$__rate_interval]))",
		]),
		graph(
			"Connections in use",
			"short",
			['sum by (host, purpose) (corkboard_database_connections{state="used"})'],
			{ about: "At most 10 of a purpose for each process." },
		),
		graph(
			"Callers that wait for a connection",
			"short",
			[
				"sum by (host, purpose) (rate(corkboard_database_connection_wait_seconds_total[$__rate_interval]))",
				[
					'sum by (host, purpose) (corkboard_database_connections{state="waiting"})',
					"{{host}} {{purpose}}, now",
				],
			],
			{ about: "On average, and at the moment of the scrape." },
		),
		graph("Waits that ended without a connection", "ops", [
			'sum by (host, purpose) (rate(corkboard_database_connection_waits_total{result="none"}[$__rate_interval]))',
		]),
		graph(
			"Tables closed for want of room",
			"ops",
			[
				"max by (host) (rate(corkboard_database_table_cache_overflows_total[$__rate_interval]))",
			],
			{ about: "Each is opened again: table_open_cache is too small." },
		),
		areas(
			"Started again",
			"ops",
			[
				"sum by (host, reason) (rate(corkboard_database_retries_total[$__rate_interval]))",
				[
					"sum by (host) (rate(corkboard_database_server_changes_total[$__rate_interval]))",
					"{{host}} another server",
				],
			],
			{
				about:
					"Transactions and statements that were rolled back because of a deadlock, a lock, a lost connection, a read-only host; and how often a name led to another server.",
			},
		),
		areas("Calls of the storage port", "ops", [
			"sum by (verb) (rate(corkboard_storage_calls_total[$__rate_interval]))",
		]),
		graph(
			"Keys of a call",
			"short",
			[
				"sum by (verb) (rate(corkboard_storage_keys_total[$__rate_interval])) / sum by (verb) (rate(corkboard_storage_calls_total[$__rate_interval]))",
			],
			{ about: "How many objects or lists one call asks for." },
		),
		graph("Topology version", "short", ["corkboard_topology_version"], {
			about: "All servers should have the same.",
		}),
		graph("Topology in use for", "s", [
			"time() - corkboard_topology_loaded_timestamp_seconds",
		]),
		graph("Topology file refused", "short", [
			"corkboard_topology_file_rejected",
			[
				"increase(corkboard_topology_rejected_total[1h])",
				"{{instance}}, in an hour",
			],
		]),
		graph(
			"Feed reads on a standby",
			"short",
			["max by (host) (corkboard_standby_switched)"],
			{ about: "1: all reads of feed lists of the host go to its standby." },
		),
		graph(
			"What was done about late feed reads",
			"ops",
			[
				"sum by (event) (rate(corkboard_standby_events_total[$__rate_interval]))",
			],
			{ about: "In calm, about one read in a thousand is hedged." },
		),
		graph(
			"Standbys of feeds",
			"s",
			[
				["max by (host) (corkboard_standby_lag_seconds)", "{{host}} behind"],
				[
					"histogram_quantile(0.95, sum by (host, le) (rate(corkboard_standby_answer_lag_seconds_bucket[$__rate_interval])))",
					"{{host}} answers",
				],
				[
					"max by (host) (corkboard_standby_delay_seconds)",
					"{{host}} asked after",
				],
			],
			{
				about:
					"How far they are behind, how old their answers were (p95), and after how long they are asked.",
			},
		),
		graph(
			"Another server behind the name",
			"short",
			[
				"sum by (host) (increase(corkboard_database_server_changes_total[$__rate_interval]))",
			],
			{
				about:
					"The host's name led to another server, or the server takes no writes any more.",
			},
		),
		graph(
			"Moves of shards: behind, and waiting",
			"s",
			[
				[
					"max by (operation) (corkboard_move_lag_seconds)",
					"{{operation}} behind",
				],
				[
					"max by (operation) (corkboard_move_waiting_seconds)",
					"{{operation}} waits",
				],
				[
					"max by (operation) (corkboard_move_pause_seconds)",
					"{{operation}} longest pause of writes",
				],
			],
			{ about: "As all processes see them in the store, every ten seconds." },
		),
		graph(
			"Moves of shards: rows copied",
			"ops",
			[
				"max by (operation) (clamp_min(deriv(corkboard_move_rows[$__rate_interval]), 0))",
			],
			{ about: "Of the wave that is worked on." },
		),
		graph("Moves of shards: waves", "short", [
			"max by (operation, state) (corkboard_move_waves)",
			[
				"max by (operation) (corkboard_move_differences)",
				"{{operation}} differences",
			],
		]),
		graph(
			"Moves of shards: way back open",
			"s",
			["max by (operation) (corkboard_move_way_open_seconds)"],
			{ about: "It ends with the binary log of the new host." },
		),
		graph("Dumps: age, and how long the last took", "s", [
			[
				"time() - max by (purpose) (corkboard_dump_finished_timestamp_seconds)",
				"{{purpose}} age",
			],
			["max by (purpose) (corkboard_dump_seconds)", "{{purpose}} took"],
		]),
		graph("Dumps: bytes", "bytes", ["max by (purpose) (corkboard_dump_bytes)"]),
		graph(
			"Changes given out late",
			"s",
			[
				"max by (instance, host) (corkboard_changes_lag_seconds)",
				[
					"time() - max by (instance) (corkboard_changes_position_timestamp_seconds)",
					"{{instance}} age of the position",
				],
			],
			{
				about:
					"By changes follow: how old the oldest commit may be that was not given out, and when the position was last kept.",
			},
		),
		graph("Changes given out", "ops", [
			"sum by (instance) (rate(corkboard_changes_given_total[$__rate_interval]))",
		]),
	],
};
