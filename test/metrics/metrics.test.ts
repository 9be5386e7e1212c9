import assert from "node:assert/strict";
import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PerformanceObserver } from "node:perf_hooks";
import { test } from "node:test";
import {
	CACHE_CHANNELS,
	SHARED_CACHE_LEVELS,
	type SharedCacheLevel,
} from "../../src/cache/diagnostics.ts";
import { FEED_CHANNELS } from "../../src/feed/diagnostics.ts";
import {
	FRESHNESS_CHANNELS,
	type Invalidation,
} from "../../src/freshness/diagnostics.ts";
import { OUTBOX_CHANNELS } from "../../src/graph/outbox/diagnostics.ts";
import { OutboxLevels } from "../../src/graph/outbox/outboxLevels.ts";
import { openMetrics } from "../../src/metrics/metrics.ts";
import { MAX_SERIES } from "../../src/metrics/series.ts";
import { openWorkersMetrics } from "../../src/metrics/workers.ts";
import { PLAN_CHANNELS } from "../../src/plan/diagnostics.ts";
import { QUEUE_CHANNELS, QUEUE_LEVELS } from "../../src/queue/diagnostics.ts";
import { SERVER_CHANNELS } from "../../src/server/diagnostics.ts";
import { findInWorkers } from "../../src/server/requests/questionsToWorkers.ts";
import {
	POOL_LEVELS,
	STORAGE_CHANNELS,
} from "../../src/storage/diagnostics.ts";
import type { OutboxSizeQuery } from "../../src/storage/rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { TOPOLOGY_CHANNELS } from "../../src/topology/diagnostics.ts";
import { TRACE_CHANNELS } from "../../src/traces/diagnostics.ts";
import { WORKER_CHANNELS } from "../../src/worker/diagnostics.ts";
import { startWhole } from "../helpers/wholeServer.ts";

const PAGE = readFileSync(
	join(import.meta.dirname, "../../docs/reference/metrics.md"),
	"utf8",
);
const DOCUMENTS = 2;

const REQUEST = {
	uses: null,
	client: "test",
	requestId: "r",
	traceId: null,
	errorIds: [],
	record: null,
} as const;

/** The value of one line of a scrape. */
function lineOf(text: string, line: string): number {
	const found = text.split("\n").find((one) => one.startsWith(`${line} `));
	return found === undefined ? 0 : Number(found.slice(line.length + 1));
}

/** The sum over all lines that match. */
function sumOf(text: string, line: RegExp): number {
	return [...text.matchAll(line)].reduce(
		(sum, [, value]) => sum + Number(value),
		0,
	);
}

test("metrics count what clients and shards did, and the documentation names each", async () => {
	using metrics = openMetrics({ documents: DOCUMENTS });
	await using server = await startWhole();
	const { registry } = metrics;

	const query = "query One { interests(first: 1) { nodes { slug } } }";
	for (let n = 0; n < 5; n++) await server.ask({ query });
	await server.ask({ query: "query Bad { nothing }" });
	await server.ask({
		query: 'query Missing { node(id: "1") { id } }',
	});
	for (const name of ["A", "B", "C"]) {
		await server.ask({ query: `query ${name} { __typename }` });
	}
	// As MySQL's storage reports a transaction that it starts again.
	const { storage } = server;
	const transact = storage.transact.bind(storage) as Storage["transact"];
	Object.assign(storage, {
		transact(transaction, trace) {
			trace?.retry("deadlock");
			return transact(transaction, trace);
		},
	} satisfies Pick<Storage, "transact">);
	const username = "metered_1";
	for (let n = 0; n < 2; n++) {
		await server.ask({
			query: `mutation { createUser(input: {username: "${username}", name: "Metered"}) { user { id } } }`,
		});
	}
	await server.ask({
		query: `{ ${"a".repeat(40_000)} }`,
	});
	const text = await registry.metrics();

	const requests = (way: string, status: number, type = "query") =>
		sumOf(
			text,
			new RegExp(
				`^corkboard_requests_total\\{way="${way}",document="\\w+",operation_type="${type}",outcome="\\w+",status="${status}"\\} (.*)$`,
				"gm",
			),
		);
	const executed =
		requests("long", 200) + requests("short", 200) + requests("reused", 200);
	// A document that is not valid has no operation.
	assert.equal(executed, 9);
	assert.ok(requests("short", 200) + requests("reused", 200) >= 2);
	assert.equal(
		lineOf(text, 'corkboard_errors_total{code="GRAPHQL_VALIDATION_FAILED"}'),
		1,
	);
	assert.ok(
		lineOf(text, 'corkboard_storage_calls_total{verb="scanLists"}') > 0,
	);
	assert.ok(
		lineOf(text, 'corkboard_local_cache_hits_total{cache="heads"}') > 0,
	);
	assert.equal(
		lineOf(text, 'corkboard_request_duration_seconds_count{way="long"}'),
		sumOf(text, /^corkboard_requests_total\{way="long",.*\} (.*)$/gm),
	);
	assert.equal(
		lineOf(
			text,
			'corkboard_mutations_total{mutation="createUser",result="ok"}',
		),
		1,
	);
	assert.equal(
		sumOf(
			text,
			/^corkboard_mutations_total\{mutation="createUser",result="[A-Z_]+"\} (.*)$/gm,
		),
		1,
	);
	const retries = (reason: string) =>
		lineOf(
			text,
			`corkboard_mutation_retries_total{mutation="createUser",reason="${reason}"}`,
		);
	assert.ok(retries("deadlock") >= 1, `${retries("deadlock")}`);
	// From the start, so that the first one has a rate.
	assert.match(text, /createUser",reason="lockWait"\} 0$/m);
	assert.equal(lineOf(text, 'corkboard_refused_total{limit="request"}'), 1);
	assert.ok(
		lineOf(text, 'corkboard_local_cache_hits_total{cache="answers"}') > 0,
	);
	assert.ok(
		lineOf(text, 'corkboard_plan_cache_requests_total{result="miss"}') >= 3,
	);
	// An outbox for each shard, all of them empty.
	assert.match(text, /^corkboard_outbox_pending_entries\{host=".+"\} 0$/m);
	assert.match(
		text,
		/^corkboard_outbox_oldest_entry_age_seconds\{host=".+"\} 0$/m,
	);

	// Labels that clients choose are bounded.
	const documents = text.match(/^corkboard_document_requests_total\{.*$/gm);
	assert.equal(documents?.length, DOCUMENTS + 1);
	assert.match(documents.join("\n"), /document="other",operation="other"/);

	const names = registry
		.getMetricsAsArray()
		.map(({ name }) => name)
		.filter((name) => name.startsWith("corkboard_"));
	const documented = new Set(PAGE.match(/`corkboard_\w+`/g));
	assert.deepEqual(
		names.map((name) => `\`${name}\``).sort(),
		[...documented].sort(),
	);

	const lines = server.lines.filter(({ msg }) => msg === "request completed");
	assert.deepEqual(
		lines.map(({ operation, codes }) => [operation, codes]).slice(4, 6),
		[
			["One", undefined],
			[undefined, ["GRAPHQL_VALIDATION_FAILED"]],
		],
	);
});

test("metrics count what caches, hosts and the outbox worker report, in seconds", async () => {
	using metrics = openMetrics({ documents: DOCUMENTS });
	const host = "db1:3306";
	const invalidations: readonly Invalidation[] = [
		{ kind: "subscription", lost: 32 },
		{ kind: "proof", ms: 3 },
		{ kind: "subscription", lost: 0 },
		{ kind: "sent", messages: 2, keys: 150, ok: true },
		{ kind: "sent", messages: 1, keys: 5, ok: false },
		{ kind: "received", keys: 7 },
		{ kind: "missed", reason: "gap" },
	];
	for (const event of invalidations)
		FRESHNESS_CHANNELS.invalidation.publish(event);
	FRESHNESS_CHANNELS.unreadOutboxes.publish({ shards: [1, 2] });
	const read = { hits: 5, misses: 3, busy: 2, down: 1 };
	CACHE_CHANNELS.sharedRead.publish({ layer: "redis", ...read });
	CACHE_CHANNELS.sharedFill.publish({
		layer: "redis",
		keys: 2,
		result: "refused",
	});
	STORAGE_CHANNELS.writeRetry.publish({ host, reason: "deadlock" });
	const wait = { host, purpose: "single", ms: 250, ok: false };
	STORAGE_CHANNELS.poolWait.publish(wait);
	OUTBOX_CHANNELS.outboxDelivery.publish({
		by: "worker",
		delivered: 4,
		undelivered: 3,
		unreadable: 1,
		destinations: new Map([
			[host, { entries: 2, oldestAt: Date.now() - 40_000 }],
			[null, { entries: 1, oldestAt: Date.now() }],
		]),
	});
	const refused = { path: "t", state: "rejected", version: 7 } as const;
	TOPOLOGY_CHANNELS.topology.publish({ ...refused, state: "loaded" });
	TOPOLOGY_CHANNELS.topology.publish(refused);
	await new Promise((resolve) => setTimeout(resolve, 5));
	const text = await metrics.registry.metrics();
	for (const [line, value] of [
		["corkboard_invalidation_lag_seconds_count", 1],
		["corkboard_invalidation_lag_seconds_sum", 0.003],
		['corkboard_invalidation_lag_seconds_bucket{le="0.0025"}', 0],
		['corkboard_invalidation_lag_seconds_bucket{le="0.005"}', 1],
		['corkboard_invalidation_messages_total{direction="sent"}', 2],
		['corkboard_invalidation_keys_total{direction="sent"}', 150],
		["corkboard_invalidation_failed_sends_total", 1],
		['corkboard_invalidation_keys_total{direction="received"}', 7],
		['corkboard_invalidation_gaps_total{reason="gap"}', 1],
		['corkboard_cache_bypassed{reason="channel"}', 0],
		['corkboard_cache_bypassed{reason="outboxes"}', 1],
		["corkboard_cache_bypassed_shards", 2],
		['corkboard_cache_reads_total{layer="redis",result="hit"}', 5],
		['corkboard_cache_reads_total{layer="redis",result="busy"}', 2],
		['corkboard_cache_fills_total{layer="redis",result="refused"}', 2],
		[`corkboard_database_retries_total{host="${host}",reason="deadlock"}`, 1],
		[
			`corkboard_database_connection_waits_total{host="${host}",purpose="single",result="none"}`,
			1,
		],
		[
			`corkboard_database_connection_wait_seconds_total{host="${host}",purpose="single"}`,
			0.25,
		],
		['corkboard_outbox_entries_total{by="worker",result="delivered"}', 4],
		['corkboard_outbox_entries_total{by="worker",result="undelivered"}', 2],
		['corkboard_outbox_entries_total{by="worker",result="unreadable"}', 1],
		[`corkboard_outbox_failures_total{destination="${host}"}`, 2],
		['corkboard_outbox_failures_total{destination="none"}', 1],
		["corkboard_topology_version", 7],
		["corkboard_topology_file_rejected", 1],
	] as const) {
		assert.equal(lineOf(text, line), value, line);
	}
	// It continues while the shards are bypassed.
	const outboxes = 'corkboard_cache_bypassed_seconds_total{reason="outboxes"}';
	assert.ok(lineOf(text, outboxes) > 0);
	const age =
		Date.now() / 1_000 -
		lineOf(text, "corkboard_topology_loaded_timestamp_seconds");
	assert.ok(age >= 0 && age < 60, `${age} s`);
	const left = (destination: string) =>
		lineOf(
			text,
			`corkboard_outbox_left_entry_age_seconds{destination="${destination}"}`,
		);
	assert.ok(left(host) >= 40 && left(host) < 100, `${left(host)} s`);
	assert.ok(left("none") < 40, `${left("none")} s`);
});

test("metrics count jobs by queue and outcome, and what waits as the shards say", async () => {
	using metrics = openMetrics({ documents: DOCUMENTS });
	const at = { queue: "bake", shard: 3 };
	QUEUE_CHANNELS.jobsEnqueued.publish({ ...at, added: 5, merged: 2 });
	QUEUE_CHANNELS.jobsRefused.publish({ queue: "bake", jobs: 4 });
	QUEUE_CHANNELS.jobsClaimed.publish({ ...at, jobs: 3, ms: 2 });
	QUEUE_CHANNELS.jobsClaimed.publish({ ...at, jobs: 0, ms: 1 });
	const ended = { queue: "bake", id: "bake.3.1.a", waitMs: 20, error: null };
	for (const outcome of ["succeeded", "succeeded", "failed", "lost"] as const) {
		WORKER_CHANNELS.jobEnded.publish({ ...ended, outcome, runMs: 400 });
	}
	WORKER_CHANNELS.jobEnded.publish({
		...ended,
		outcome: "released",
		runMs: null,
	});
	WORKER_CHANNELS.jobsExpired.publish({ ...at, again: 6, failed: 1 });
	WORKER_CHANNELS.workerProblem.publish({
		kind: "shard",
		shard: 3,
		error: "late",
	});
	WORKER_CHANNELS.workerProblem.publish({
		kind: "shard",
		shard: 4,
		error: null,
	});
	const jobs = { ready: 7, delayed: 8, running: 9, failed: 10 };
	const level = { queue: "bake", jobs, oldestMs: 1_500, isPaused: true };
	using _ = QUEUE_LEVELS.add(async () => [level]);
	const text = await metrics.registry.metrics();
	for (const [line, value] of [
		['corkboard_queue_enqueued_total{queue="bake",result="added"}', 5],
		['corkboard_queue_enqueued_total{queue="bake",result="merged"}', 2],
		['corkboard_queue_refused_total{queue="bake"}', 4],
		['corkboard_queue_claims_total{queue="bake",result="claimed"}', 1],
		['corkboard_queue_claims_total{queue="bake",result="empty"}', 1],
		['corkboard_queue_jobs_total{queue="bake",outcome="succeeded"}', 2],
		['corkboard_queue_jobs_total{queue="bake",outcome="lost"}', 1],
		['corkboard_queue_jobs_total{queue="bake",outcome="released"}', 1],
		['corkboard_queue_expired_total{queue="bake",result="again"}', 6],
		['corkboard_queue_wait_seconds_count{queue="bake"}', 4],
		['corkboard_queue_wait_seconds_bucket{le="0.01",queue="bake"}', 0],
		['corkboard_queue_wait_seconds_bucket{le="0.025",queue="bake"}', 4],
		['corkboard_queue_run_seconds_sum{queue="bake"}', 1.6],
		['corkboard_worker_problem{kind="shard"}', 1],
		['corkboard_worker_problem{kind="renewals"}', 0],
		['corkboard_queue_depth_jobs{queue="bake",state="ready"}', 7],
		['corkboard_queue_depth_jobs{queue="bake",state="failed"}', 10],
		['corkboard_queue_oldest_due_age_seconds{queue="bake"}', 1.5],
		['corkboard_queue_paused{queue="bake"}', 1],
	] as const) {
		assert.equal(lineOf(text, line), value, line);
	}
	WORKER_CHANNELS.workerProblem.publish({
		kind: "shard",
		shard: 3,
		error: null,
	});
	const later = await metrics.registry.metrics();
	assert.equal(lineOf(later, 'corkboard_worker_problem{kind="shard"}'), 0);
});

test("metrics say what rotation freed, moved and kept waiting, and for how long it has been refused", async () => {
	using metrics = openMetrics({ documents: DOCUMENTS });
	const at = { queue: "bake", shard: 3, host: "db1:3306" };
	const step = { ...at, kind: "step", step: "exchange", isDone: true } as const;
	QUEUE_CHANNELS.queueRotation.publish({ ...step, stallMs: 40 });
	QUEUE_CHANNELS.queueRotation.publish({ ...step, stallMs: null });
	const round = { ...at, kind: "round", ms: 90, refused: null } as const;
	QUEUE_CHANNELS.queueRotation.publish({
		...round,
		bytes: 2_000_000,
		moved: 12,
		heldBytes: 0,
		refusedForMs: 0,
	});
	QUEUE_CHANNELS.queueRotation.publish({
		...round,
		bytes: 0,
		moved: 3,
		heldBytes: 5_000,
		refused: "a dump has the table",
		refusedForMs: 60_000,
		error: new Error("late"),
	});
	const text = await metrics.registry.metrics();
	for (const [line, value] of [
		['corkboard_queue_ddl_stall_seconds_count{queue="bake"}', 1],
		['corkboard_queue_ddl_stall_seconds_sum{queue="bake"}', 0.04],
		['corkboard_queue_rotation_freed_bytes_total{queue="bake"}', 2_000_000],
		['corkboard_queue_rotation_moved_jobs_total{queue="bake"}', 15],
		['corkboard_queue_rotation_failures_total{queue="bake"}', 1],
		['corkboard_queue_held_bytes{queue="bake",shard="3"}', 5_000],
		['corkboard_queue_rotation_refused_seconds{queue="bake",shard="3"}', 60],
	] as const) {
		assert.equal(lineOf(text, line), value, line);
	}
});

test("a host is reported as down until it answers, or no topology has it any more", async () => {
	using metrics = openMetrics({ documents: DOCUMENTS });
	const upOf = async (host: string) =>
		new RegExp(`^corkboard_database_up\\{host="${host}"\\} (.*)$`, "m").exec(
			await metrics.registry.metrics(),
		)?.[1];
	const level = { purpose: "read", used: 0, idle: 0, waiting: 0 };
	const [old] = ["old:3306", "kept:3306"].map((host) =>
		POOL_LEVELS.add(() => ({ host, ...level })),
	);
	for (const host of ["old:3306", "kept:3306"]) {
		TOPOLOGY_CHANNELS.databaseHost.publish({ host, state: "down" });
		assert.equal(await upOf(host), "0");
	}
	// Its replica was promoted.
	old?.[Symbol.dispose]();
	assert.equal(await upOf("old:3306"), undefined);
	const statement = { name: "objects", shard: 1, rows: 1, ms: 1 };
	STORAGE_CHANNELS.statement.publish({ ...statement, host: "kept:3306" });
	assert.equal(await upOf("kept:3306"), "1");
	const loss = { state: "stopped", server: "b", missing: "a:1" } as const;
	for (const host of ["old:3306", "kept:3306"]) {
		TOPOLOGY_CHANNELS.databaseLoss.publish({ ...loss, host, reason: "lost" });
	}
	assert.deepEqual(
		(await metrics.registry.metrics()).match(
			/^corkboard_database_writes_stopped\{.*$/gm,
		),
		['corkboard_database_writes_stopped{host="kept:3306"} 1'],
	);
	// It came and left between two scrapes, as by a map that was taken back.
	TOPOLOGY_CHANNELS.databaseHost.publish({
		host: "wrong:3306",
		state: "down",
	});
	assert.equal(await upOf("wrong:3306"), undefined);
});

test("what shared caches say of themselves is asked once for each scrape, and nothing is left of a host that is silent", async () => {
	using metrics = openMetrics({ documents: DOCUMENTS });
	const redis = {
		layer: "redis",
		host: "cache1:6379",
		entries: 5,
		bytes: 2_000,
		maxBytes: null,
		evictions: 3,
	} as const;
	let levels: readonly SharedCacheLevel[] = [redis];
	let asked = 0;
	using _ = SHARED_CACHE_LEVELS.add(async () => {
		asked++;
		return levels;
	});
	const lines = async () =>
		(await metrics.registry.metrics()).match(/^corkboard_shared_cache_.*$/gm);
	const labels = 'layer="redis",host="cache1:6379"';
	assert.deepEqual(await lines(), [
		`corkboard_shared_cache_bytes{${labels}} 2000`,
		`corkboard_shared_cache_entries{${labels}} 5`,
		`corkboard_shared_cache_evictions_total{${labels}} 3`,
	]);
	assert.equal(asked, 1);
	levels = [{ ...redis, maxBytes: 9_000 }];
	assert.match(
		(await lines())?.join("\n") ?? "",
		/^corkboard_shared_cache_limit_bytes\{.*\} 9000$/m,
	);
	levels = [];
	assert.equal(await lines(), null);

	// With workers, each of them asks, and Redis may have been started again.
	levels = [redis];
	const answers = new Map([[1, await metrics.registry.getMetricsAsJSON()]]);
	levels = [{ ...redis, evictions: 4 }];
	answers.set(2, await metrics.registry.getMetricsAsJSON());
	let answer: (id: number, message: unknown) => void = () => {};
	let end: (id: number) => void = () => {};
	const scrape = openWorkersMetrics({
		ids: () => [...answers.keys()],
		ask: (id, { number }) =>
			answer(id, {
				kind: "corkboard metrics",
				number,
				metrics: answers.get(id),
			}),
		onAnswer(listener) {
			answer = listener;
		},
		onEnd(listener) {
			end = listener;
		},
	});
	const evictions = async () =>
		lineOf(
			(await scrape()).text,
			`corkboard_shared_cache_evictions_total{${labels}}`,
		);
	assert.equal(await evictions(), 4);
	answers.delete(2);
	end(2);
	assert.equal(await evictions(), 3);
});

test("a metric has a bounded number of series, whatever its labels are taken from", async () => {
	using metrics = openMetrics({ documents: DOCUMENTS });
	for (let n = 0; n < MAX_SERIES + 50; n++) {
		STORAGE_CHANNELS.databaseFailure.publish({
			host: `h${n}`,
			kind: "timeout",
		});
	}
	SERVER_CHANNELS.request.publish({
		...REQUEST,
		way: "long",
		isText: true,
		type: "query",
		operation: "x".repeat(30_000),
		sha256: "ab".repeat(32),
		status: 200,
		codes: [],
		ms: 1,
		cost: 1,
	});
	const text = await metrics.registry.metrics();
	for (const line of text.split("\n")) assert.ok(line.length < 1_000, line);
	const lines = text.match(/^corkboard_database_failures_total\{.*$/gm);
	assert.equal(lines?.length, MAX_SERIES + 1);
	assert.equal(
		lineOf(
			text,
			'corkboard_database_failures_total{host="other",kind="other"}',
		),
		50,
	);
});

test("the operations that are sent most have labels of their own, and a label that is given up stays as it is for a while", async () => {
	let now = 0;
	using metrics = openMetrics({ documents: DOCUMENTS, now: () => now });
	const send = (name: string, times: number) => {
		for (let n = 0; n < times; n++) {
			SERVER_CHANNELS.request.publish({
				...REQUEST,
				way: "short",
				isText: false,
				type: "query",
				operation: name,
				sha256: Buffer.from(name.padEnd(32)).toString("hex"),
				status: 200,
				codes: [],
				ms: 1,
				cost: 1,
			});
		}
	};
	const shown = async () => {
		const text = await metrics.registry.metrics();
		const of = (metric: string) =>
			Object.fromEntries(
				[
					...text.matchAll(
						new RegExp(`^${metric}\\{.*operation="(\\w+)"\\} (.*)$`, "gm"),
					),
				].map(([, name, value]) => [name, Number(value)]),
			);
		const requests = of("corkboard_document_requests_total");
		assert.deepEqual(of("corkboard_document_cost_points_total"), requests);
		return requests;
	};
	const minute = () => {
		now += 60_000;
	};
	send("First", 30);
	send("Second", 1);
	send("Often", 40);
	send("Seldom", 5);
	// Known from the start, so it holds until somebody scrapes a minute later.
	assert.deepEqual(await shown(), { First: 30, Second: 1, other: 45 });
	minute();
	assert.deepEqual(await shown(), {
		First: 30,
		Second: 1,
		other: 45,
		Often: 0,
	});
	send("Often", 3);
	send("Second", 3);
	assert.deepEqual(await shown(), {
		First: 30,
		Second: 1,
		other: 48,
		Often: 3,
	});
	// What it took before it had labels of its own counts for less and less.
	for (let n = 0; n < 8; n++) {
		minute();
		await shown();
	}
	send("Second", 20);
	minute();
	await shown();
	send("Second", 1);
	// It continues where it stood; `First` was given up.
	const back = await shown();
	assert.equal(back.Second, 2);
	assert.equal(Object.keys(back).length, 4);

	// Whatever is sent, there are at most twice as many, and the others.
	for (let round = 0; round < 20; round++) {
		for (let n = 0; n < 100; n++) send(`Flood${round}x${n}`, 1);
		send(`Peak${round}`, 5_000);
		minute();
		const names = Object.keys(await shown());
		assert.ok(names.length <= 2 * DOCUMENTS + 1, names.join());
		assert.ok(names.includes(`Peak${round}`), names.join());
	}
	// More kinds than are counted at once hide nothing that is frequent.
	for (let n = 0; n < 6_000; n++) {
		send(`Once${n}`, 1);
		if (n % 4 === 0) send("Hidden", 40);
	}
	minute();
	assert.ok("Hidden" in (await shown()));
});

test("nothing is computed for metrics once they are closed", () => {
	const listening = () =>
		[
			CACHE_CHANNELS,
			FEED_CHANNELS,
			FRESHNESS_CHANNELS,
			OUTBOX_CHANNELS,
			PLAN_CHANNELS,
			QUEUE_CHANNELS,
			SERVER_CHANNELS,
			STORAGE_CHANNELS,
			TOPOLOGY_CHANNELS,
			TRACE_CHANNELS,
			WORKER_CHANNELS,
		].flatMap((channels) =>
			Object.entries<{ readonly hasSubscribers: boolean }>(channels).flatMap(
				([name, { hasSubscribers }]) => (hasSubscribers ? [name] : []),
			),
		);
	assert.deepEqual(listening(), []);
	let observers = 0;
	const { observe } = PerformanceObserver.prototype;
	PerformanceObserver.prototype.observe = function (options) {
		observers++;
		observe.call(this, options);
	};
	try {
		for (let n = 0; n < 3; n++) {
			openMetrics({ documents: DOCUMENTS })[Symbol.dispose]();
		}
	} finally {
		PerformanceObserver.prototype.observe = observe;
	}
	assert.deepEqual(listening(), []);
	// One for the process, whatever is opened in it.
	assert.ok(observers <= 1, `${observers}`);
});

test("outboxes are read at most every five seconds, and a host that does not answer holds nothing up", async () => {
	let now = 0;
	let asked = 0;
	const levels = new OutboxLevels(
		{
			map: {
				outboxes: [
					{ host: "a", shards: [0, 1] },
					{ host: "b", shards: [2] },
				],
			},
			async read(_: string, outboxes: readonly OutboxSizeQuery[]) {
				asked++;
				if (outboxes.some(({ outbox }) => outbox.host === "b"))
					return new Promise(() => {});
				return outboxes.map(() => ({
					entries: 3,
					oldestAt: (Date.now() - 9_000) * 1_000,
				}));
			},
		} as unknown as Storage,
		() => now,
	);
	const [one, two] = await Promise.all([levels.levels(), levels.levels()]);
	assert.deepEqual(
		one.map(({ host, pending }) => [host, pending]),
		[["a", 3]],
	);
	assert.ok((one[0]?.oldestMs ?? 0) >= 9_000);
	assert.equal(two.length, 1);
	assert.equal(asked, 2);
	now = 5_000;
	await levels.levels();
	// The silent host is not asked again while it is still asked.
	assert.equal(asked, 3);
});

test("what workers counted together never falls, whether one ends or does not answer", async () => {
	const counted = async (requests: number) => {
		using metrics = openMetrics({ documents: 1 });
		for (let n = 0; n < requests; n++) {
			PLAN_CHANNELS.refused.publish({ limit: "rate" });
		}
		return metrics.registry.getMetricsAsJSON();
	};
	const answers = new Map([
		[1, await counted(3)],
		[2, await counted(4)],
	]);
	let answer: (id: number, message: unknown) => void = () => {};
	let end: (id: number) => void = () => {};
	const silent = new Set<number>();
	const scrape = openWorkersMetrics(
		{
			ids: () => [...answers.keys()],
			ask(id, { number }) {
				if (silent.has(id)) return;
				const metrics = answers.get(id);
				answer(id, { kind: "corkboard metrics", number, metrics });
			},
			onAnswer(listener) {
				answer = listener;
			},
			onEnd(listener) {
				end = listener;
			},
		},
		50,
	);
	const read = async () => {
		const { text } = await scrape();
		return [
			lineOf(text, 'corkboard_refused_total{limit="rate"}'),
			lineOf(text, "corkboard_processes"),
		];
	};
	assert.deepEqual(await read(), [7, 2]);
	silent.add(2);
	assert.deepEqual(await read(), [7, 1]);
	silent.delete(2);
	answers.delete(2);
	end(2);
	assert.deepEqual(await read(), [7, 1]);
	// Its successor.
	answers.set(3, await counted(1));
	assert.deepEqual(await read(), [8, 2]);
	const late = answers.get(1);
	answers.delete(1);
	end(1);
	assert.deepEqual(await read(), [8, 1]);
	// Read from its channel after its end.
	answer(1, { kind: "corkboard metrics", number: 0, metrics: late });
	assert.deepEqual(await read(), [8, 1]);
});

test("a scrape at the moment in which a worker is killed fails nothing", async () => {
	const { workers } = cluster;
	// As Node.js does it: without a callback the error is an event that nobody hears.
	const killed = {
		id: 1,
		isConnected: () => true,
		send(_: unknown, done?: (error: Error) => void) {
			const error = new Error("write EPIPE");
			if (done === undefined) throw error;
			done(error);
		},
	};
	Object.assign(cluster, { workers: { 1: killed } });
	try {
		const { text } = await openWorkersMetrics(undefined, 50)();
		assert.equal(lineOf(text, "corkboard_processes"), 0);
		assert.equal(await findInWorkers("one"), null);
	} finally {
		Object.assign(cluster, { workers });
	}
});
