import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { openSocket, postText } from "../../helpers/rawSocket.ts";
import { startToy } from "../../helpers/toyServer.ts";
import { until } from "../../helpers/until.ts";

suite("a process with as many requests in progress as allowed", () => {
	async function startHolding(limit = 3, operations = limit) {
		const held: (() => void)[] = [];
		const toy = await startToy({
			maxRequestsInProgress: limit,
			async execute() {
				await new Promise<void>((resolve) => held.push(resolve));
				return { data: { hello: "" } };
			},
		});
		const running = Array.from({ length: operations }, () =>
			toy.post({ query: "{ hello }" }),
		);
		await until("the operations", () => held.length === operations);
		return {
			toy,
			running,
			held: () => held.length,
			release() {
				for (const end of held.splice(0)) end();
			},
			[Symbol.asyncDispose]: () => toy.server.close(),
		};
	}

	test("answers 503 with Retry-After to others, and its health checks as ever", async () => {
		await using full = await startHolding();
		const { toy } = full;
		const response = await toy.post(
			{ query: "{ hello }" },
			{ accept: "application/graphql-response+json" },
		);
		assert.equal(response.status, 503);
		assert.equal(response.headers.get("retry-after"), "1");
		assert.equal(
			response.headers.get("content-type"),
			"application/graphql-response+json; charset=utf-8",
		);
		assert.deepEqual(await response.json(), {
			errors: [
				{
					message:
						"The server has as many requests in progress as it may. Retry in 1 s.",
					extensions: { code: "UNAVAILABLE" },
				},
			],
		});
		for (const path of ["live", "ready"]) {
			const health = await fetch(`${toy.server.url}/health/${path}`);
			assert.equal(health.status, 200);
		}
		full.release();
		for (const answer of full.running) {
			assert.equal((await answer).status, 200);
		}
	});

	test("takes an eighth of them, and at least 64, while its event loop is busy, and all while they wait", async () => {
		await using full = await startHolding(500, 64);
		const { toy } = full;
		let isBusy = true;
		const work = () => {
			const began = performance.now();
			while (performance.now() - began < 20);
			if (isBusy) setImmediate(work);
		};
		work();
		const state = async () => {
			const url = `${toy.server.url}/health/ready?verbose`;
			const { inProgress } = (await (await fetch(url)).json()) as {
				inProgress: unknown;
			};
			return JSON.stringify(inProgress);
		};
		await until("a busy process", async () =>
			(await state()).includes('"requests":64,"limit":64'),
		);
		const refused = await toy.post({ query: "{ hello }" });
		assert.equal(refused.status, 503);
		isBusy = false;
		await until("one that has time", async () =>
			(await state()).includes('"requests":64,"limit":500'),
		);
		const taken = toy.post({ query: "{ hello }" });
		await until("another operation", () => full.held() === 65);
		full.release();
		for (const answer of [...full.running, taken]) {
			assert.equal((await answer).status, 200);
		}
	});

	test("has places again when they end, also by errors and disconnects", async () => {
		await using full = await startHolding();
		const { toy } = full;
		full.release();
		await Promise.all(full.running);
		for (let round = 0; round < 4; round++) {
			const invalid = await toy.post({ query: "{ nothing }" });
			assert.equal(invalid.status, 200);
			const denied = await toy.post(
				{ query: "{ hello }" },
				{ authorization: "Bearer none" },
			);
			assert.equal(denied.status, 401);
			const unknown = await toy.post({ documentId: "none" });
			assert.equal(unknown.status, 400);
		}
		for (let n = 0; n < 3; n++) {
			using socket = await openSocket(toy.server.url);
			socket.write(postText("{ hello }"));
			await until("its operation", () => full.held() === n + 1);
		}
		// Once the operations are aborted, whether or not they end by themselves.
		await until("three places", async () => {
			const statuses = await Promise.all(
				["{ a }", "{ b }", "{ c }"].map(
					async (query) => (await toy.post({ query })).status,
				),
			);
			return statuses.every((status) => status === 200);
		});
	});

	test("is not filled by clients that send or read slowly", async () => {
		await using toy = await startToy({ maxRequestsInProgress: 1 });
		const slow = await Promise.all(
			Array.from({ length: 3 }, () => openSocket(toy.server.url)),
		);
		for (const socket of slow) socket.write(postText("{ hello }").slice(0, -1));
		await fetch(`${toy.server.url}/health/live`);
		const response = await toy.post({ query: "{ hello }" });
		assert.equal(response.status, 200);
		for (const socket of slow) {
			socket.write("}");
			await until("a response", () => socket.statuses()[0] === 200);
			socket[Symbol.dispose]();
		}
	});

	test("says so in the log once a second at most", async () => {
		await using full = await startHolding();
		const { toy } = full;
		const began = performance.now();
		for (let n = 0; n < 50; n++) await toy.post({ query: "{ hello }" });
		const overloads = () => toy.lines.filter(({ msg }) => msg === "overload");
		const counted = () =>
			overloads().reduce((sum, { requests }) => sum + Number(requests), 0);
		await until("all counted", () => counted() === 50);
		const seconds = (performance.now() - began) / 1_000;
		assert.ok(overloads().length <= seconds + 1);
		full.release();
		await Promise.all(full.running);
	});
});
