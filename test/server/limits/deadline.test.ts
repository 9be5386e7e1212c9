import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { RequestDeadline } from "../../../src/server/limits/deadline.ts";

const LONG_MS = 600_000;

/** A request whose response is the test's to give. */
async function startRequest() {
	const server = createServer();
	const arrived = once(server, "request");
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	const client = request({ host: "127.0.0.1", port });
	client.on("error", () => {});
	client.end();
	const [, response] = (await arrived) as [unknown, ServerResponse];
	return {
		client,
		response,
		closed: once(response, "close"),
		deadlineIn: (ms: number) =>
			new RequestDeadline(response, ms, performance.now()),
		async [Symbol.asyncDispose]() {
			client.destroy();
			server.close();
			server.closeAllConnections();
			await once(server, "close");
		},
	};
}

describe("the signal of a request", () => {
	it("is not aborted by the normal end of the request, whether it was asked for before or after", async () => {
		await using asked = await startRequest();
		const deadline = asked.deadlineIn(LONG_MS);
		const late = asked.deadlineIn(LONG_MS);
		const before = deadline.signal;
		asked.response.end("answer");
		await asked.closed;
		assert.equal(before.aborted, false);
		assert.equal(late.signal.aborted, false);
		assert.equal(late.isOver, true);
	});

	it("is aborted when the client disconnects, whether it was asked for before or after", async () => {
		await using asked = await startRequest();
		const deadline = asked.deadlineIn(LONG_MS);
		const late = asked.deadlineIn(LONG_MS);
		const before = deadline.signal;
		asked.client.destroy();
		await asked.closed;
		for (const signal of [before, late.signal]) {
			assert.equal(signal.aborted, true);
			assert.match(String(signal.reason), /The client disconnected\./);
		}
	});

	it("is aborted when the request takes too long", async () => {
		await using asked = await startRequest();
		const { signal } = asked.deadlineIn(0);
		await once(signal, "abort");
		assert.match(String(signal.reason), /took longer than 0 s/);
	});
});
