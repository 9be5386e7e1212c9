import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { serve } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { startMysql } from "../services/mysql.ts";
import { reservePort } from "../services/port.ts";

test("a server is ready while one of two MySQL hosts answers, and not when none does", async () => {
	using folder = temporaryFolder();
	const [one, two] = await Promise.all([startMysql(), startMysql()]);
	await using _one = one;
	await using _two = two;
	const file = join(folder.path, "topology.json");
	writeFileSync(
		file,
		JSON.stringify({
			version: 3,
			shards: [
				{ range: [0, 0], primary: one.url, open: true },
				{ range: [1, 1], primary: two.url, open: true },
			],
			// All of them on the host that goes down.
			lookups: [{ range: [0, 1], primary: one.url }],
		}),
	);
	// Nobody listens there: a cache that is down does not keep a server from serving.
	await using unused = await reservePort();
	const cache = `127.0.0.1:${unused.port}`;
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_SECRET: "of the readiness tests 32 bytes or more",
		CORKBOARD_MEMCACHED: cache,
		HOST: "127.0.0.1",
	};
	const init = await runHere(["init"], { env });
	assert.equal(init.code, 0, init.err);
	await using server = await serve(env);
	const ready = async (query = "") => {
		const response = await fetch(`${server.url}/health/ready${query}`);
		return [response.status, await response.json()] as const;
	};
	const up = { state: "up" } as const;

	assert.deepEqual(await ready(), [200, { status: "ready" }]);
	const [status, report] = await ready("?verbose");
	assert.equal(status, 200);
	assert.deepEqual(report.hosts, [
		{ host: one.address, ...up, shards: 1, modShards: 2 },
		{ host: two.address, ...up, shards: 1, modShards: 0 },
	]);
	assert.equal(report.topologyVersion, 3);
	assert.deepEqual(
		report.caches.map(({ layer, host }: Record<string, unknown>) => [
			layer,
			host,
		]),
		[["memcached", cache]],
	);

	await one.stop();
	assert.deepEqual(await ready(), [200, { status: "ready" }]);
	const [, degraded] = await ready("?verbose");
	assert.deepEqual(
		degraded.hosts.map(({ host, state }: Record<string, unknown>) => [
			host,
			state,
		]),
		[
			[one.address, "down"],
			[two.address, "up"],
		],
	);
	assert.equal(typeof degraded.hosts[0].error, "string");

	await two.stop();
	assert.deepEqual(await ready(), [503, { status: "not ready" }]);
});
