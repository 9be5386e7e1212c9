import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { HealthReport } from "../../../src/server/http/health.ts";
import { ADA, startToy, tokens } from "../../helpers/toyServer.ts";

const REPORT: HealthReport = {
	topologyVersion: 7,
	topologyStore: {
		name: "zk://zk1:2181/corkboard",
		state: "down",
		error: "no answer",
	},
	hosts: [
		{ host: "db1:3306", state: "up", shards: 8, modShards: 4 },
		{
			host: "db2:3306",
			state: "down",
			shards: 8,
			modShards: 0,
			error: "connect ECONNREFUSED",
		},
	],
	caches: [{ layer: "redis", host: "redis:6379", state: "up" }],
};

async function startWith(isReady: () => Promise<boolean>) {
	const toy = await startToy({
		operators: { ids: new Set([ADA]), claims: [] },
		health: { isReady, report: async () => REPORT },
	});
	return {
		post: toy.post,
		async get(path: string, headers: Readonly<Record<string, string>> = {}) {
			const response = await fetch(`${toy.server.url}/health/${path}`, {
				headers,
			});
			return [response.status, await response.json()];
		},
		[Symbol.asyncDispose]: () => toy.server.close(),
	};
}

/** As a proxy on this machine sends what somebody asked it. */
const PROXIED = { "x-forwarded-for": "203.0.113.7" };

const NONE = { short: 0, reused: 0, long: 0 };
const IDLE = { requests: 0, waiting: 0, limit: null };

suite("/health/live", () => {
	test("is 200 while the process runs, ready or not", async () => {
		await using server = await startWith(async () => false);
		assert.deepEqual(await server.get("live"), [200, { status: "live" }]);
	});
});

suite("/health/ready", () => {
	test("is 200 while the process can serve, and 503 while it cannot", async () => {
		let isReady = true;
		await using server = await startWith(async () => isReady);
		assert.deepEqual(await server.get("ready"), [200, { status: "ready" }]);
		isReady = false;
		assert.deepEqual(await server.get("ready"), [503, { status: "not ready" }]);
	});

	test("is 503, without the error, where the check itself fails", async () => {
		await using server = await startWith(() =>
			Promise.reject(new Error("secret")),
		);
		assert.deepEqual(await server.get("ready"), [503, { status: "not ready" }]);
	});
});

suite("/health/ready?verbose", () => {
	test("reports each host over loopback, and the requests that each way answered", async () => {
		await using server = await startWith(async () => true);
		assert.deepEqual(await server.get("ready?verbose"), [
			200,
			{ status: "ready", ...REPORT, requests: NONE, inProgress: IDLE },
		]);
		for (let n = 0; n < 4; n++) await server.post({ query: "{ hello }" });
		assert.deepEqual(await server.get("ready?verbose"), [
			200,
			{
				status: "ready",
				...REPORT,
				requests: { ...NONE, short: 2, long: 2 },
				inProgress: IDLE,
			},
		]);
	});

	test("reports each host also while the process is not ready", async () => {
		await using server = await startWith(async () => false);
		assert.deepEqual(await server.get("ready?verbose"), [
			503,
			{ status: "not ready", ...REPORT, requests: NONE, inProgress: IDLE },
		]);
	});

	test("reports each host to an operator behind a proxy", async () => {
		await using server = await startWith(async () => true);
		const authorization = `Bearer ${await tokens.sign(ADA)}`;
		assert.deepEqual(
			await server.get("ready?verbose", { ...PROXIED, authorization }),
			[200, { status: "ready", ...REPORT, requests: NONE, inProgress: IDLE }],
		);
	});

	test("names no host to anybody else behind a proxy", async () => {
		await using server = await startWith(async () => true);
		for (const headers of [
			PROXIED,
			{ forwarded: "for=203.0.113.7" },
			{ ...PROXIED, authorization: "Bearer forged" },
		]) {
			assert.deepEqual(await server.get("ready?verbose", headers), [
				200,
				{ status: "ready" },
			]);
		}
	});
});
