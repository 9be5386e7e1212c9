import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { dashboardFiles } from "../../deploy/grafana/dashboards.ts";
import { MAX_OUTBOX_AGE_SECONDS } from "../../src/fleet/fleetStatus.ts";
import { openMetrics } from "../../src/metrics/metrics.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { findProgram } from "../services/program.ts";
import { fileText, ROOT } from "./composeFile.ts";
import {
	metricsIn,
	panelsOf,
	RULES,
	readAlerts,
	readInhibitions,
	readRecordings,
} from "./monitoring.ts";

const PAGE = "docs/reference/alerts.md";
const alerts = readAlerts();
const recordings = readRecordings();

async function promtool(...words: readonly string[]): Promise<string> {
	const { command } = await findProgram("promtool");
	const [file = "", ...args] = [...command, ...words];
	try {
		const { stdout } = await promisify(execFile)(file, args);
		return stdout;
	} catch (error) {
		const { stdout, stderr } = error as Record<"stdout" | "stderr", string>;
		throw new Error(`${stdout}\n${stderr}`, { cause: error });
	}
}

describe("deploy/prometheus", () => {
	test("has a configuration and rules that Prometheus accepts", async () => {
		const out = await promtool(
			"check",
			"config",
			join(ROOT, "deploy/prometheus/prometheus.yml"),
		);
		const rules = alerts.length + recordings.length;
		assert.match(out, new RegExp(`SUCCESS: ${rules} rules found`));
	});

	test("links each alert to its own paragraph, which says what it means, what clients see, what to do, and when it is over", () => {
		const paragraphs = new Map(
			fileText(PAGE)
				.split("\n## ")
				.slice(1)
				.map((text) => {
					const [title = "", ...lines] = text.split("\n");
					return [title, lines.join("\n")];
				}),
		);
		assert.deepEqual(
			[...paragraphs.keys()],
			alerts.map(({ name }) => name),
		);
		for (const { name, runbook, severity } of alerts) {
			assert.equal(runbook, `${PAGE}#${name.toLowerCase()}`);
			assert.match(severity, /^(page|ticket)$/);
			const parts = [...(paragraphs.get(name) ?? "").matchAll(/\*(\w+):\*/g)];
			assert.deepEqual(
				parts.map(([, part]) => part),
				["Means", "Clients", "Do", "Over"],
				name,
			);
		}
	});

	test("has rules of which each fires on the series of its fault, alone, and none without a fault", async () => {
		assert.deepEqual(
			[...Object.keys(FAULTS), ...NEVER_ALONE].sort(),
			alerts.map(({ name }) => name).sort(),
		);
		await testRules([
			{ name: "no fault", ...ruleTest({}, {}, LONG_BEFORE_S) },
			...Object.entries(FAULTS).map(([name, fault]) => {
				const before = COMPARED.has(name) ? LONG_BEFORE_S : BEFORE_S;
				return { name, ...ruleTest(fault, { [name]: 1 }, before) };
			}),
		]);
	});

	test("has rules that name the cause of several faults at once, and count whom it concerns", async () => {
		await testRules(STORMS);
		await testRules([STARVED], SHORT_STEP_S);
	});

	test("has rules that see soon what grows, and end with what was only for a moment", async () => {
		await testRules(MOMENTS, SHORT_STEP_S);
	});

	test("has the limit of the outbox's age that `status` has", () => {
		const behind = alerts.find(({ name }) => name === "CorkboardOutboxBehind");
		assert.match(
			behind?.expression ?? "",
			new RegExp(`> ${MAX_OUTBOX_AGE_SECONDS}$`),
		);
	});
});

async function testRules(
	tests: readonly object[],
	stepS = STEP_S,
): Promise<void> {
	using folder = temporaryFolder();
	const file = join(folder.path, "tests.json");
	writeFileSync(
		file,
		JSON.stringify({
			rule_files: [join(ROOT, RULES)],
			evaluation_interval: `${stepS}s`,
			tests,
		}),
	);
	assert.match(await promtool("test", "rules", file), /SUCCESS/);
}

test("deploy/alertmanager inhibits alerts that exist, and none that says that something is down", () => {
	const names = new Set(alerts.map(({ name }) => name));
	const inhibitions = readInhibitions();
	assert.ok(inhibitions.length >= 5);
	for (const { sources, targets } of inhibitions) {
		assert.equal(sources.length, 1);
		assert.ok(targets.length > 0);
		for (const name of [...sources, ...targets]) {
			assert.ok(names.has(name), name);
		}
		for (const name of targets) {
			assert.ok(!sources.includes(name), name);
			assert.doesNotMatch(
				name,
				/^Corkboard(Down|DatabaseDown|RequestsFail|RequestsSlow|Refuses|Restarts)$/,
			);
		}
	}
});

describe("deploy/grafana", () => {
	test("has the dashboards that its source describes, and no other", () => {
		const files = dashboardFiles();
		for (const [file, text] of files) {
			assert.equal(readFileSync(file, "utf8"), text, "run npm run update");
		}
		assert.deepEqual(
			globSync("deploy/grafana/*.json", { cwd: ROOT }).toSorted(),
			[...files.keys()].map((file) => relative(ROOT, file)).toSorted(),
		);
	});

	test("has dashboards whose panels read metrics that exist, and reads every metric of our own", () => {
		using metrics = openMetrics({ documents: 1 });
		const known = new Set(
			metrics.registry.getMetricsAsArray().map(({ name }) => name),
		);
		const queries = [
			...panelsOf("1m").flatMap(({ title, expressions }) =>
				expressions.map((expression) => ({ title, expression })),
			),
			...[...alerts, ...recordings].map(({ name, expression }) => ({
				title: name,
				expression,
			})),
		];
		for (const { title, expression } of queries) {
			const names = metricsIn(expression);
			const isOther = /ALERTS|\bup\{|corkboard:/.test(expression);
			assert.ok(names.length > 0 || isOther, `${title}: ${expression}`);
			for (const name of names) {
				assert.ok(known.has(name), `${title}: ${name}`);
			}
		}
		// Nothing is measured that nobody looks at.
		const used = new Set(
			queries.flatMap(({ expression }) => metricsIn(expression)),
		);
		assert.deepEqual(
			[...known].filter(
				(name) => name.startsWith("corkboard_") && !used.has(name),
			),
			[],
		);
	});
});

/** Between samples, and between evaluations. */
const STEP_S = 30;
/** As a server is scraped: for what has to be noticed soon. */
const SHORT_STEP_S = 10;
/** Before the fault, and from then on. */
const BEFORE_S = 720;
const AFTER_S = 600;
/** Before the fault of what is compared with half an hour before: long enough for a rate there. */
const LONG_BEFORE_S = 2_400;
/** Before what is seen by the last minutes. */
const MOMENT_BEFORE_S = 120;
/** Alerts that compare with half an hour before. */
const COMPARED: ReadonlySet<string> = new Set([
	"CorkboardOperationCostlier",
	"CorkboardOperationSlower",
	"CorkboardManyOperationsSlower",
]);
/** The age of a fault at which every alert of it has to fire. */
const NOTICED_S = 480;

/** The values of a series before a fault and from then on: a gauge's, or what a counter gains in a second. */
type Change = readonly [before: number, after: number];
type Fault = Readonly<Record<string, Change>>;

const JOB = 'job="corkboard",instance="a"';
const HOST = 'host="db1:3306"';
const FAST = 'host="db1:3306",le=';
const STATEMENT = "corkboard_database_statement_duration_seconds_bucket";
const REQUEST = "corkboard_request_duration_seconds_bucket";
const LAG = "corkboard_invalidation_lag_seconds_bucket";
const QUEUE = 'queue="feedItem"';
const PAUSED = 'queue="digest"';
const MOVE = 'operation="move-20261122011301-5f1c"';
const LEFT_BY_CACHES =
	'corkboard_outbox_left_entry_age_seconds{destination="shared caches"}';
const DOCUMENT = 'document="0123456789ab",operation="Home"';

/** A fleet without a fault. */
const HEALTHY: Fault = {
	[`up{${JOB}}`]: [1, 1],
	'up{job="corkboard",instance="b"}': [1, 1],
	'corkboard_requests_total{outcome="ok"}': [100, 100],
	'corkboard_requests_total{outcome="rejected"}': [5, 5],
	'corkboard_requests_total{outcome="failed"}': [0.02, 0.02],
	[`${REQUEST}{le="0.1"}`]: [100, 100],
	[`${REQUEST}{le="2.5"}`]: [100, 100],
	[`${REQUEST}{le="+Inf"}`]: [100, 100],
	'corkboard_refused_total{limit="requests"}': [0, 0],
	'corkboard_refused_total{limit="rate"}': [20, 20],
	[`corkboard_document_requests_total{${DOCUMENT}}`]: [10, 10],
	[`corkboard_document_cost_points_total{${DOCUMENT}}`]: [1_000, 1_000],
	[`corkboard_document_duration_seconds_total{${DOCUMENT}}`]: [0.1, 0.1],
	[`corkboard_database_up{${HOST},instance="a"}`]: [1, 1],
	[`corkboard_database_up{${HOST},instance="b"}`]: [1, 1],
	[`corkboard_database_failures_total{${HOST},kind="timeout"}`]: [0, 0],
	[`corkboard_database_failures_total{${HOST},kind="conflict"}`]: [1, 1],
	[`corkboard_database_table_cache_overflows_total{${HOST},instance="a"}`]: [
		1, 1,
	],
	'corkboard_feed_push_lag_seconds_bucket{le="60"}': [10, 10],
	'corkboard_feed_push_lag_seconds_bucket{le="300"}': [10, 10],
	'corkboard_feed_push_lag_seconds_bucket{le="+Inf"}': [10, 10],
	corkboard_feed_push_lag_seconds_count: [10, 10],
	corkboard_feed_look_seconds_count: [20, 20],
	'corkboard_feed_ranker_fallbacks_total{call="arrange",reason="late"}': [0, 0],
	[`${STATEMENT}{${FAST}"0.01"}`]: [500, 500],
	[`${STATEMENT}{${FAST}"0.25"}`]: [500, 500],
	[`${STATEMENT}{${FAST}"+Inf"}`]: [500, 500],
	[`corkboard_database_connection_wait_seconds_total{${HOST},purpose="read"}`]:
		[0.1, 0.1],
	[`corkboard_database_retries_total{${HOST},reason="deadlock"}`]: [1, 1],
	'corkboard_topology_file_rejected{instance="a"}': [0, 0],
	'corkboard_topology_version{instance="a"}': [3, 3],
	'corkboard_topology_version{instance="b"}': [3, 3],
	// The clock of the rules begins at 0.
	'corkboard_dump_failed_timestamp_seconds{purpose="restore"}': [-3e5, -3e5],
	'corkboard_dump_finished_timestamp_seconds{purpose="restore"}': [0, 0],
	[`corkboard_changes_lag_seconds{${HOST},instance="f"}`]: [0.1, 0.1],
	[`corkboard_move_held{${MOVE}}`]: [1, 1],
	[`corkboard_move_waiting_seconds{${MOVE}}`]: [60, 60],
	[`corkboard_move_lag_seconds{${MOVE}}`]: [0.1, 0.1],
	[`corkboard_move_differences{${MOVE}}`]: [0, 0],
	[`corkboard_move_way_open_seconds{${MOVE}}`]: [86_400, 86_400],
	'corkboard_cache_up{layer="redis",host="r:6379",instance="a"}': [1, 1],
	'corkboard_cache_bypassed{reason="channel",instance="a"}': [0, 0],
	[`${LAG}{instance="a",le="0.005"}`]: [4, 4],
	[`${LAG}{instance="a",le="2.5"}`]: [4, 4],
	[`${LAG}{instance="a",le="+Inf"}`]: [4, 4],
	'corkboard_invalidation_gaps_total{instance="a",reason="gap"}': [0, 0],
	[`corkboard_outbox_oldest_entry_age_seconds{${HOST}}`]: [1, 1],
	'corkboard_outbox_failures_total{destination="db2:3306"}': [0, 0],
	'corkboard_outbox_left_entry_age_seconds{destination="db2:3306"}': [0, 0],
	'corkboard_outbox_left_entry_age_seconds{destination="r:6379"}': [0, 0],
	'corkboard_outbox_entries_total{by="worker",result="unreadable"}': [0, 0],
	[`corkboard_queue_oldest_due_age_seconds{${QUEUE}}`]: [2, 2],
	[`corkboard_queue_paused{${QUEUE}}`]: [0, 0],
	[`corkboard_queue_oldest_due_age_seconds{${PAUSED}}`]: [600, 600],
	[`corkboard_queue_paused{${PAUSED}}`]: [1, 1],
	[`corkboard_queue_depth_jobs{${PAUSED},state="ready"}`]: [0, 0],
	[`corkboard_queue_jobs_total{${QUEUE},outcome="succeeded"}`]: [10, 10],
	[`corkboard_queue_jobs_total{${QUEUE},outcome="failed"}`]: [0.05, 0.05],
	[`corkboard_queue_jobs_total{${QUEUE},outcome="lost"}`]: [0, 0],
	[`corkboard_queue_expired_total{${QUEUE},result="again"}`]: [0.001, 0.001],
	[`corkboard_queue_refused_total{${QUEUE}}`]: [0, 0],
	'corkboard_worker_problem{instance="w",kind="shard"}': [0, 0],
	[`corkboard_queue_rotation_refused_seconds{${QUEUE},shard="3"}`]: [60, 60],
	[`corkboard_heap_live_bytes{${JOB}}`]: [1e9, 1e9],
	[`nodejs_heap_size_used_bytes{${JOB}}`]: [1e9, 1e9],
	[`corkboard_heap_limit_bytes{${JOB}}`]: [4e9, 4e9],
	[`process_resident_memory_bytes{${JOB}}`]: [2e9, 2e9],
	[`corkboard_memory_limit_bytes{${JOB}}`]: [8e9, 8e9],
	[`nodejs_gc_duration_seconds_sum{${JOB},kind="minor"}`]: [0.02, 0.02],
	[`corkboard_processes{${JOB}}`]: [2, 2],
	[`corkboard_event_loop_busy_seconds_total{${JOB}}`]: [0.8, 0.8],
	[`process_cpu_seconds_total{${JOB}}`]: [0.7, 0.7],
	[`corkboard_started_timestamp_seconds{${JOB}}`]: [1e9, 1e9],
};

/** What shows each fault, and nothing besides. */
const FAULTS: Readonly<Record<string, Fault>> = {
	CorkboardStarved: {
		[`corkboard_event_loop_busy_seconds_total{${JOB}}`]: [0.8, 1.7],
		[`process_cpu_seconds_total{${JOB}}`]: [0.7, 0.1],
	},
	CorkboardDown: { [`up{${JOB}}`]: [1, 0] },
	CorkboardRequestsFail: {
		'corkboard_requests_total{outcome="failed"}': [0.02, 3],
	},
	CorkboardRequestsSlow: { [`${REQUEST}{le="0.1"}`]: [100, 90] },
	CorkboardRefuses: { 'corkboard_refused_total{limit="requests"}': [0, 2] },
	CorkboardOperationCostlier: {
		[`corkboard_document_cost_points_total{${DOCUMENT}}`]: [1_000, 10_000],
	},
	CorkboardOperationSlower: {
		[`corkboard_document_duration_seconds_total{${DOCUMENT}}`]: [0.1, 1],
	},
	CorkboardDatabaseDown: {
		[`corkboard_database_up{${HOST},instance="b"}`]: [1, 0],
	},
	CorkboardDatabaseFails: {
		[`corkboard_database_failures_total{${HOST},kind="timeout"}`]: [0, 1],
	},
	CorkboardTableCacheSmall: {
		[`corkboard_database_table_cache_overflows_total{${HOST},instance="a"}`]: [
			1, 100,
		],
	},
	CorkboardDatabaseReadOnly: {
		[`corkboard_database_retries_total{${HOST},reason="readOnly"}`]: [0, 5],
	},
	CorkboardFailoverLostWrites: {
		[`corkboard_database_writes_stopped{${HOST}}`]: [0, 1],
	},
	CorkboardFeedsOnStandby: { [`corkboard_standby_switched{${HOST}}`]: [0, 1] },
	CorkboardFeedLate: {
		'corkboard_feed_push_lag_seconds_bucket{le="60"}': [10, 8],
	},
	CorkboardRankerFails: {
		'corkboard_feed_ranker_fallbacks_total{call="arrange",reason="late"}': [
			0, 5,
		],
	},
	CorkboardDatabaseSlow: { [`${STATEMENT}{${FAST}"0.01"}`]: [500, 300] },
	CorkboardConnectionsExhausted: {
		[`corkboard_database_connection_wait_seconds_total{${HOST},purpose="read"}`]:
			[0.1, 8],
	},
	CorkboardWritesConflict: {
		[`corkboard_database_retries_total{${HOST},reason="deadlock"}`]: [1, 20],
	},
	CorkboardTopologyRejected: {
		'corkboard_topology_file_rejected{instance="a"}': [0, 1],
	},
	CorkboardTopologyLost: {
		'corkboard_topology_store_lost{instance="a"}': [0, 1],
		'corkboard_topology_age_seconds{instance="a"}': [0, 90],
	},
	CorkboardClockDiffers: {
		[`corkboard_database_clock_difference_seconds{${HOST}}`]: [0, 3_600],
	},
	CorkboardTopologyDiffers: {
		'corkboard_topology_version{instance="b"}': [3, 4],
	},
	CorkboardMoveAbandoned: { [`corkboard_move_held{${MOVE}}`]: [1, 0] },
	CorkboardMoveStuck: {
		[`corkboard_move_waiting_seconds{${MOVE}}`]: [60, 3_600],
	},
	CorkboardDumpFailed: {
		'corkboard_dump_failed_timestamp_seconds{purpose="restore"}': [-3e5, 100],
	},
	CorkboardDumpOld: {
		'corkboard_dump_finished_timestamp_seconds{purpose="restore"}': [0, -2e5],
	},
	CorkboardChangesLate: {
		[`corkboard_changes_lag_seconds{${HOST},instance="f"}`]: [0.1, 90],
	},
	CorkboardMoveLags: { [`corkboard_move_lag_seconds{${MOVE}}`]: [0.1, 90] },
	CorkboardMoveDiffers: { [`corkboard_move_differences{${MOVE}}`]: [0, 1] },
	CorkboardMoveWayCloses: {
		[`corkboard_move_way_open_seconds{${MOVE}}`]: [86_400, 180_000],
	},
	CorkboardCacheDown: {
		'corkboard_cache_up{layer="redis",host="r:6379",instance="a"}': [1, 0],
	},
	CorkboardCacheBypassed: {
		'corkboard_cache_bypassed{reason="channel",instance="a"}': [0, 1],
	},
	CorkboardInvalidationsLate: { [`${LAG}{instance="a",le="0.005"}`]: [4, 2] },
	CorkboardInvalidationsMissed: {
		'corkboard_invalidation_gaps_total{instance="a",reason="gap"}': [0, 0.05],
	},
	CorkboardOutboxBehind: {
		[`corkboard_outbox_oldest_entry_age_seconds{${HOST}}`]: [1, 45],
	},
	CorkboardOutboxBlocked: {
		'corkboard_outbox_failures_total{destination="db2:3306"}': [0, 0.1],
		'corkboard_outbox_left_entry_age_seconds{destination="db2:3306"}': [0, 20],
	},
	CorkboardOutboxUnreadable: {
		'corkboard_outbox_entries_total{by="worker",result="unreadable"}': [0, 0.1],
	},
	CorkboardQueueBehind: {
		[`corkboard_queue_oldest_due_age_seconds{${QUEUE}}`]: [2, 400],
	},
	CorkboardQueuePaused: {
		[`corkboard_queue_depth_jobs{${PAUSED},state="ready"}`]: [0, 5],
	},
	CorkboardJobsFail: {
		[`corkboard_queue_jobs_total{${QUEUE},outcome="failed"}`]: [0.05, 2],
	},
	CorkboardClaimsLost: {
		[`corkboard_queue_expired_total{${QUEUE},result="again"}`]: [0.001, 0.2],
	},
	CorkboardQueueFull: {
		[`corkboard_queue_refused_total{${QUEUE}}`]: [0, 1],
	},
	CorkboardRotationRefused: {
		[`corkboard_queue_rotation_refused_seconds{${QUEUE},shard="3"}`]: [
			60, 30_000,
		],
	},
	CorkboardWorkerBlocked: {
		'corkboard_worker_problem{instance="w",kind="shard"}': [0, 1],
	},
	CorkboardMemoryPressure: {
		[`nodejs_heap_size_used_bytes{${JOB}}`]: [1e9, 3.6e9],
	},
	CorkboardCollectsGarbage: {
		[`nodejs_gc_duration_seconds_sum{${JOB},kind="minor"}`]: [0.02, 0.5],
	},
	CorkboardSaturated: {
		[`corkboard_event_loop_busy_seconds_total{${JOB}}`]: [0.8, 1.95],
		[`process_cpu_seconds_total{${JOB}}`]: [0.7, 1.9],
	},
	CorkboardRestarts: {
		[`corkboard_started_timestamp_seconds{${JOB}}`]: [1e9, Number.NaN],
	},
};

/** Shown by STORMS. */
const NEVER_ALONE = ["CorkboardAllStarved", "CorkboardManyOperationsSlower"];

const OTHER = 'job="corkboard",instance="b"';

function operation(name: string, duration: Change): Fault {
	const labels = `document="${name}",operation="${name}"`;
	return {
		[`corkboard_document_requests_total{${labels}}`]: [10, 10],
		[`corkboard_document_duration_seconds_total{${labels}}`]: duration,
	};
}

/** Known before an Alertmanager that waits for 30 s has sent the page of CorkboardCacheDown. */
const STARVED = {
	name: "no CPU for any server: known within 50 s, with its first consequences",
	...ruleTest(
		{
			[`corkboard_event_loop_busy_seconds_total{${JOB}}`]: [0.3, 1.9],
			[`process_cpu_seconds_total{${JOB}}`]: [0.25, 0.1],
			[`corkboard_processes{${OTHER}}`]: [2, 2],
			[`corkboard_event_loop_busy_seconds_total{${OTHER}}`]: [0.3, 1.7],
			[`process_cpu_seconds_total{${OTHER}}`]: [0.25, 0.1],
			'corkboard_cache_up{layer="redis",host="r:6379",instance="a"}': [1, 0],
			'corkboard_cache_up{layer="redis",host="r:6379",instance="b"}': [1, 1],
		},
		{ CorkboardStarved: 2, CorkboardAllStarved: 1, CorkboardCacheDown: 1 },
		BEFORE_S,
		{ noticedS: 50, stepS: SHORT_STEP_S },
	),
	alert_rule_test: [
		summaryTest(
			"CorkboardCacheDown",
			50,
			{ layer: "redis", host: "r:6379" },
			"redis on r:6379 does not answer 1 of 2 servers",
		),
	],
};

/** One cause, and all that fires. */
const STORMS = [
	{
		name: "three of five operations slower: one alert for all",
		...ruleTest(
			{
				...operation("A", [0.1, 1]),
				...operation("B", [0.1, 1]),
				...operation("C", [0.1, 1]),
				...operation("D", [0.1, 0.1]),
			},
			{ CorkboardManyOperationsSlower: 1 },
			LONG_BEFORE_S,
		),
	},
	{
		name: "two of five operations slower: an alert for each",
		...ruleTest(
			{
				...operation("A", [0.1, 1]),
				...operation("B", [0.1, 1]),
				...operation("C", [0.1, 0.1]),
				...operation("D", [0.1, 0.1]),
			},
			{ CorkboardOperationSlower: 2 },
			LONG_BEFORE_S,
		),
	},
	{
		name: "Redis gone: one alert for its destinations of outbox entries",
		...ruleTest(
			{
				'corkboard_cache_up{layer="redis",host="r:6379",instance="a"}': [1, 0],
				'corkboard_outbox_failures_total{destination="r:6379"}': [0, 0.1],
				'corkboard_outbox_failures_total{destination="shared caches"}': [
					0, 0.1,
				],
				'corkboard_outbox_left_entry_age_seconds{destination="r:6379"}': [
					0, 20,
				],
				[LEFT_BY_CACHES]: [0, 20],
			},
			{ CorkboardCacheDown: 1, CorkboardOutboxBlocked: 1 },
			BEFORE_S,
		),
		alert_rule_test: [
			summaryTest(
				"CorkboardOutboxBlocked",
				NOTICED_S,
				{ destination: "r:6379" },
				"outbox entries for redis r:6379 are not delivered",
			),
		],
	},
	{
		name: "shared caches alone as destination: an alert",
		...ruleTest(
			{
				'corkboard_outbox_failures_total{destination="shared caches"}': [
					0, 0.1,
				],
				[LEFT_BY_CACHES]: [0, 20],
			},
			{ CorkboardOutboxBlocked: 1 },
			BEFORE_S,
		),
	},
	{
		name: "an old entry for one destination: none for another that failed once and took it then",
		...ruleTest(
			{
				'corkboard_outbox_failures_total{destination="db2:3306"}': [0, 0.1],
				'corkboard_outbox_failures_total{destination="db3:3306"}': [0, 0.1],
				'corkboard_outbox_left_entry_age_seconds{destination="db2:3306"}': [
					0, 25,
				],
				'corkboard_outbox_left_entry_age_seconds{destination="db3:3306"}': [
					0, 4,
				],
			},
			{ CorkboardOutboxBlocked: 1 },
			BEFORE_S,
		),
	},
];

/** Scraped as servers are. Each has the fault for some time only, or comes slowly. */
const MOMENTS = [
	{
		name: "an operation that was costlier for 45 s: no alert after it is over, nor before",
		...momentTest(
			{
				[`corkboard_document_cost_points_total{${DOCUMENT}}`]:
					"0+10000x240 2410000+100000x3 2720000+10000x60",
			},
			[60, 70, 80, 90, 100, 120].map((afterS) => [afterS, {}]),
		),
	},
	{
		name: "an operation that stays costlier: known within 90 s, with both costs, and over within 40 s",
		...momentTest(
			{
				[`corkboard_document_cost_points_total{${DOCUMENT}}`]:
					"0+10000x240 2410000+100000x18 4220000+10000x60",
			},
			[
				[90, { CorkboardOperationCostlier: 1 }],
				[180, { CorkboardOperationCostlier: 1 }],
				[230, {}],
			],
		),
		alert_rule_test: [
			{
				alertname: "CorkboardOperationCostlier",
				eval_time: `${LONG_BEFORE_S + 120}s`,
				exp_alerts: [
					{
						exp_labels: { severity: "ticket", operation: "Home" },
						exp_annotations: {
							summary:
								"operation Home costs 1k points, half an hour before 100",
							runbook: `${PAGE}#corkboardoperationcostlier`,
						},
					},
				],
			},
		],
	},
	{
		name: "a heap that fills by 1 % of its limit a second: known while a third is free",
		...momentTest(
			{
				[`corkboard_heap_live_bytes{${JOB}}`]:
					"1000000000x12 1000000000+400000000x7",
			},
			[
				[20, {}],
				[50, { CorkboardMemoryPressure: 1 }],
			],
			MOMENT_BEFORE_S,
		),
	},
	{
		name: "a heap that sawtooths, and one whose cache fills: no alert",
		...momentTest(
			{
				[`nodejs_heap_size_used_bytes{${JOB}}`]: `1000000000x12 ${"3400000000 2400000000 ".repeat(20)}`,
				[`corkboard_heap_live_bytes{${JOB}}`]:
					"1000000000x12 1000000000+100000000x12 2200000000x30",
			},
			[20, 40, 60, 80, 100, 120, 140].map((afterS) => [afterS, {}]),
			MOMENT_BEFORE_S,
		),
	},
];

/** What fires so many seconds after the healthy time, on series in promtool's notation. */
function momentTest(
	fault: Readonly<Record<string, string>>,
	moments: readonly (readonly [
		afterS: number,
		firing: Readonly<Record<string, number>>,
	])[],
	beforeS = LONG_BEFORE_S,
) {
	const healthy = ruleTest({}, {}, beforeS, { stepS: SHORT_STEP_S });
	const [first] = healthy.promql_expr_test;
	return {
		...healthy,
		input_series: healthy.input_series.map(({ series, values }) => ({
			series,
			values: fault[series] ?? values,
		})),
		promql_expr_test: moments.map(([afterS, firing]) => ({
			expr: first?.expr,
			eval_time: `${beforeS + afterS}s`,
			exp_samples: Object.entries(firing).map(([name, value]) => ({
				labels: `{alertname="${name}"}`,
				value,
			})),
		})),
	};
}

/** What one alert says, some seconds after the fault. */
function summaryTest(
	name: string,
	noticedS: number,
	labels: Readonly<Record<string, string>>,
	summary: string,
) {
	return {
		alertname: name,
		eval_time: `${BEFORE_S + noticedS}s`,
		exp_alerts: [
			{
				exp_labels: { severity: "page", ...labels },
				exp_annotations: {
					summary,
					runbook: `${PAGE}#${name.toLowerCase()}`,
				},
			},
		],
	};
}

/** Silent before the fault; some seconds later these fire, so many of each. */
function ruleTest(
	fault: Fault,
	firing: Readonly<Record<string, number>>,
	beforeS: number,
	{ noticedS = NOTICED_S, stepS = STEP_S } = {},
) {
	const expr = 'count by (alertname) (ALERTS{alertstate="firing"}) > 0';
	return {
		interval: `${stepS}s`,
		input_series: Object.entries({ ...HEALTHY, ...fault }).map(
			([series, change]) => ({
				series,
				values: valuesOf(series, change, beforeS, stepS),
			}),
		),
		promql_expr_test: [
			{ expr, eval_time: `${beforeS - stepS}s`, exp_samples: [] },
			{
				expr,
				eval_time: `${beforeS + noticedS}s`,
				exp_samples: Object.entries(firing).map(([name, value]) => ({
					labels: `{alertname="${name}"}`,
					value,
				})),
			},
		],
	};
}

/** In promtool's notation: first value, step, and how many follow. */
function valuesOf(
	series: string,
	[before, after]: Change,
	beforeS: number,
	stepS: number,
): string {
	const samples = beforeS / stepS;
	const left = AFTER_S / stepS;
	// Started again every two minutes.
	if (Number.isNaN(after)) {
		const starts = Array.from(
			{ length: 5 },
			(_, n) => `${before + n + 1}x${120 / stepS - 1}`,
		);
		return [`${before}x${samples - 1}`, ...starts].join(" ");
	}
	if (!/_total|_bucket|_sum|_count/.test(series)) {
		return `${before}x${samples - 1} ${after}x${left}`;
	}
	const reached = before * stepS * samples;
	return `0+${before * stepS}x${samples - 1} ${reached}+${after * stepS}x${left}`;
}
