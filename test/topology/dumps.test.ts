import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { dumpMetrics } from "../../src/metrics/dumpMetrics.ts";
import { DumpWatch, recordDump } from "../../src/topology/dumps.ts";
import { memoryStore } from "../helpers/memoryStore.ts";
import { until } from "../helpers/until.ts";

test("metrics show when a dump was complete last and when one failed, for each purpose", async () => {
	const store = memoryStore();
	const registry = new Registry();
	dumpMetrics(registry);
	await recordDump(store, "restore", { bytes: 500, seconds: 60 }, 1_000);
	await recordDump(store, "restore", "failed", 2_000);
	await recordDump(store, "analytics", "failed", 3_000);
	await using _watch = new DumpWatch(store, 1);
	const shown = async () =>
		(await registry.metrics())
			.split("\n")
			.filter((line) => line.startsWith("corkboard_dump_"))
			.toSorted();
	await until("both purposes", async () => (await shown()).length === 5);
	assert.deepEqual(await shown(), [
		'corkboard_dump_bytes{purpose="restore"} 500',
		'corkboard_dump_failed_timestamp_seconds{purpose="analytics"} 3',
		'corkboard_dump_failed_timestamp_seconds{purpose="restore"} 2',
		'corkboard_dump_finished_timestamp_seconds{purpose="restore"} 1',
		'corkboard_dump_seconds{purpose="restore"} 60',
	]);
	await recordDump(store, "restore", { bytes: 700, seconds: 50 }, 4_000);
	await until("the next dump", async () =>
		(await shown()).includes(
			'corkboard_dump_finished_timestamp_seconds{purpose="restore"} 4',
		),
	);
	assert.ok(
		(await shown()).includes(
			'corkboard_dump_failed_timestamp_seconds{purpose="restore"} 2',
		),
	);
});
