import assert from "node:assert/strict";
import { once } from "node:events";
import { suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import {
	type AdminPages,
	answerFrom,
} from "../../../src/server/admin/adminPages.ts";
import type {
	AdminResponse,
	AskAdmin,
} from "../../../src/server/admin/adminServer.ts";
import {
	ADMIN_RESPONSE_LIMITS,
	type AdminResponseLimits,
	keepAdminResponses,
} from "../../../src/server/admin/keepAdminResponses.ts";
import { startAdminThread } from "../../../src/server/admin/startAdminThread.ts";
import type { Readiness } from "../../../src/server/http/health.ts";
import { until } from "../../helpers/until.ts";
import type { Asked, AskerStart } from "./askerThread.ts";

const ANY_PORT = { host: "127.0.0.1", port: 0 };
/** Longer than any test is paused. */
const STILL_MS = 20_000;

const PAGES: AdminPages = {
	metrics: async () => ({ contentType: "text/plain", text: "counted 1\n" }),
	readiness: async () => "ready",
	findRequest: async (id) => (id === "known" ? '{"at":1}' : null),
};

/** However busy the machine is. */
const PATIENT = {
	...ADMIN_RESPONSE_LIMITS,
	patienceMs: STILL_MS,
	deadlineMs: STILL_MS,
};

function start(pages: Partial<AdminPages>, limits?: AdminResponseLimits) {
	return startAdminThread(ANY_PORT, answerFrom({ ...PAGES, ...pages }), {
		...(limits && { limits }),
		onEnd: assert.ifError,
	});
}

/** What is answered while this thread runs, and then while it is paused until all is answered. */
async function askStandingStill(
	urls: readonly string[],
	afterMs = 0,
): Promise<{ readonly before: readonly Asked[]; readonly still: Asked[] }> {
	const state = new Int32Array(new SharedArrayBuffer(8));
	const asker = new Worker(new URL("./askerThread.ts", import.meta.url), {
		workerData: { urls, afterMs, state } satisfies AskerStart,
	});
	const [before] = await once(asker, "message");
	const answered = once(asker, "message");
	Atomics.store(state, 0, 1);
	Atomics.notify(state, 0);
	const ended = Atomics.wait(state, 1, 0, STILL_MS);
	const [still] = await answered;
	assert.equal(ended, "ok", JSON.stringify(still));
	return { before, still };
}

async function get(url: string, init?: RequestInit) {
	const response = await fetch(url, init);
	return [response.status, await response.text()];
}

suite("the admin address of a process whose main thread is paused", () => {
	test("answers live, ready and metrics within a tenth of a second, and says how old that is", async () => {
		await using server = await start({});
		const paths = ["/health/live", "/health/ready", "/metrics"];
		// The best of a few: the machine may be busy.
		const urls = [...paths, ...paths, ...paths, ...paths].map(
			(path) => server.url + path,
		);
		const { before, still } = await askStandingStill(urls, 1_500);
		assert.deepEqual(
			before.map(({ status }) => status),
			urls.map(() => 200),
		);
		const texts = ['{"status":"live"}', '{"status":"ready"}', "counted 1\n"];
		for (const [n, text] of texts.entries()) {
			const asked = still.filter((_, at) => at % texts.length === n);
			const what = JSON.stringify(asked);
			assert.ok(
				asked.every((answer) => answer.status === 200 && answer.text === text),
				what,
			);
			assert.ok(
				asked.every(({ age }) => age !== null && Number(age) >= 1),
				what,
			);
			assert.ok(Math.min(...asked.map(({ ms }) => ms)) < 100, what);
		}
	});

	test("does not call it live, nor ready, once it has been paused for too long", async () => {
		const kept = { oldestMs: 300, everyMs: 50 };
		await using server = await start(
			{},
			{
				patienceMs: 10,
				deadlineMs: 100,
				kept: { "/health/live": kept, "/health/ready": kept },
			},
		);
		const { still } = await askStandingStill(
			[`${server.url}/health/live`, `${server.url}/health/ready`],
			400,
		);
		for (const { status, age, text } of still) {
			assert.deepEqual([status, age], [503, null]);
			assert.equal(
				text,
				"The process is busy, or is paused: no answer in 100 ms.\n",
			);
		}
		await until(
			"it goes on",
			async () => (await fetch(`${server.url}/health/live`)).ok,
		);
	});

	test("keeps no request: who asks for one learns that nobody answers", async () => {
		await using server = await start(
			{},
			{ ...ADMIN_RESPONSE_LIMITS, deadlineMs: 1_000 },
		);
		const { before, still } = await askStandingStill([
			`${server.url}/requests/known`,
		]);
		assert.deepEqual(
			[before, still].map(([asked]) => asked?.status),
			[200, 503],
		);
	});
});

suite("the admin address", () => {
	test("answers what the main thread says now, without an age", async () => {
		let status: Readiness = "not ready";
		let count = 0;
		const pages: Partial<AdminPages> = {
			readiness: async () => status,
			metrics: async () => ({ contentType: "a/b", text: `n ${++count}\n` }),
		};
		await using server = await start(pages, PATIENT);
		for (const said of ["not ready", "ready", "draining"] as const) {
			status = said;
			assert.deepEqual(await get(`${server.url}/health/ready?verbose`), [
				said === "ready" ? 200 : 503,
				JSON.stringify({ status }),
			]);
		}
		const before = count;
		const response = await fetch(`${server.url}/metrics`);
		assert.equal(await response.text(), `n ${before + 1}\n`);
		assert.equal(response.headers.get("content-type"), "a/b");
		assert.equal(response.headers.get("age"), null);
		assert.equal(response.headers.get("cache-control"), "no-store");
	});

	test("has requests by their id, and says what there is and what fails", async () => {
		const metrics = () => Promise.reject(new Error("Too slow."));
		await using server = await start({ metrics }, PATIENT);
		const at = (path: string, init?: RequestInit) =>
			get(server.url + path, init);
		assert.deepEqual(await at("/requests/kn%6fwn"), [200, '{"at":1}']);
		assert.deepEqual(await at("/requests/other"), [404, "Not kept.\n"]);
		assert.deepEqual(await at("/requests/%E0%A4%A"), [404, "Not kept.\n"]);
		assert.deepEqual(await at("/metrics"), [503, "Too slow.\n"]);
		assert.deepEqual(await at("/"), [
			404,
			"There are /metrics, /health/live, /health/ready and /requests/ID.\n",
		]);
		assert.deepEqual(await at("/health/live", { method: "POST" }), [
			405,
			"Only GET is accepted.\n",
		]);
		assert.deepEqual(await at("/health/live", { method: "HEAD" }), [200, ""]);
	});

	test("is refused in a sentence where its port is taken, or is not of this machine", async () => {
		await using server = await start({});
		const port = Number(new URL(server.url).port);
		const answer = answerFrom(PAGES);
		const onEnd = assert.ifError;
		await assert.rejects(
			startAdminThread({ host: "127.0.0.1", port }, answer, { onEnd }),
			{
				name: "CorkboardError",
				code: "IN_USE",
				message: `Port ${port} on 127.0.0.1, for CORKBOARD_ADMIN, is used by another program. Set another one.`,
			},
		);
		await assert.rejects(
			startAdminThread({ host: "203.0.113.1", port }, answer, { onEnd }),
			{
				code: "BAD_CONFIG",
				message: `Cannot listen on 203.0.113.1 port ${port} for CORKBOARD_ADMIN: EADDRNOTAVAIL.`,
			},
		);
	});

	test("is free once it is disposed of", async () => {
		const server = await start({});
		const port = Number(new URL(server.url).port);
		await fetch(`${server.url}/metrics`);
		await server[Symbol.asyncDispose]();
		await using again = await startAdminThread(
			{ host: "127.0.0.1", port },
			answerFrom(PAGES),
			{ onEnd: assert.ifError },
		);
		assert.equal(again.url, server.url);
	});

	test("is served anew, on the same port, after its thread has ended by an error", async () => {
		const errors: unknown[] = [];
		let isBroken = true;
		await using server = await startAdminThread(
			ANY_PORT,
			async () =>
				// It has no length, which ends the thread.
				(isBroken
					? { status: 200 }
					: await answerFrom(PAGES)("/metrics")) as AdminResponse,
			{ onEnd: (error) => errors.push(error) },
		);
		await assert.rejects(fetch(`${server.url}/metrics`));
		isBroken = false;
		await until("an answer", () =>
			fetch(`${server.url}/metrics`).then(
				({ status }) => status === 200,
				() => false,
			),
		);
		assert.equal(errors.length, 1);
		assert.match(String(errors[0]), /ERR_INVALID_ARG_TYPE|TypeError/);
	});
});

suite("kept answers", () => {
	const page = (text: string): AdminResponse => ({
		status: 200,
		contentType: "text/plain",
		text,
	});
	const LIMITS: AdminResponseLimits = {
		patienceMs: 5,
		deadlineMs: 30_000,
		kept: { "/a": { oldestMs: 30_000, everyMs: null } },
	};

	test("take a late answer for the next time, and ask one question at a time", async () => {
		const questions: ((answer: AdminResponse) => void)[] = [];
		const answer: AskAdmin = keepAdminResponses(
			() => new Promise((resolve) => questions.push(resolve)),
			LIMITS,
		);
		assert.equal(questions.length, 1);
		// There is none of before: the first is waited for.
		const waiting = answer("/a");
		questions[0]?.(page("1"));
		assert.deepEqual(await waiting, page("1"));
		for (let n = 0; n < 3; n++) {
			assert.deepEqual(await answer("/a"), { ...page("1"), age: 0 });
		}
		assert.equal(questions.length, 2);
		questions[1]?.(page("2"));
		await setImmediate();
		assert.deepEqual(await answer("/a"), { ...page("2"), age: 0 });
		const fresh = answer("/a", true);
		questions[2]?.(page("3"));
		assert.deepEqual(await fresh, page("3"));
	});

	test("ask again where a question was lost", async () => {
		let questions = 0;
		const answer = keepAdminResponses(
			async () =>
				++questions === 1 ? new Promise<never>(() => {}) : page(`${questions}`),
			{ ...LIMITS, deadlineMs: 20 },
		);
		assert.equal((await answer("/a")).status, 503);
		await until("an answer", async () => (await answer("/a")).status === 200);
	});
});
