import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { openSocket, postText } from "../../helpers/rawSocket.ts";
import { startToy } from "../../helpers/toyServer.ts";
import { until } from "../../helpers/until.ts";

const HEAD =
	"POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";

function chunked(body: string, size: number): string {
	const chunks: string[] = [];
	for (let at = 0; at < body.length; at += size) {
		const part = body.slice(at, at + size);
		chunks.push(`${part.length.toString(16)}\r\n${part}\r\n`);
	}
	return `${HEAD}transfer-encoding: chunked\r\n\r\n${chunks.join("")}0\r\n\r\n`;
}

const padded = (length: number) =>
	JSON.stringify({ query: "{ hello }", padding: " ".repeat(length) });

suite("a body", () => {
	for (const [which, size, length] of [
		["one chunk", 1_000_000, 100_000],
		["chunks of a kilobyte", 1_024, 900_000],
		["chunks of ten bytes", 10, 30_000],
		["single bytes", 1, 3_000],
	] as const) {
		test(`is read from ${which}`, async () => {
			await using toy = await startToy();
			using socket = await openSocket(toy.server.url);
			socket.write(chunked(padded(length), size));
			await until("a response", () =>
				socket.received().includes('{"data":{"hello":"Hello you"}}'),
			);
		});
	}

	test("in chunks is read whole behind one with a length, on the same connection", async () => {
		await using toy = await startToy();
		using socket = await openSocket(toy.server.url);
		socket.write(postText("{ hello }"));
		await until("the first response", () => socket.statuses().length === 1);
		socket.write(chunked(padded(3_000), 1_000));
		await until("the second response", () => socket.statuses().length === 2);
		assert.deepEqual(socket.statuses(), [200, 200]);
	});

	test("in very many small chunks is 400", async () => {
		await using toy = await startToy();
		using socket = await openSocket(toy.server.url);
		socket.write(chunked(padded(500_000), 1));
		await socket.closed;
		assert.deepEqual(socket.statuses(), [400]);
		assert.match(
			socket.received(),
			/"The body comes in too many small chunks\."/,
		);
	});

	test("that is chunked and over a megabyte is 413", async () => {
		await using toy = await startToy();
		using socket = await openSocket(toy.server.url);
		socket.write(chunked(padded(1_000_000), 50_000));
		await socket.closed;
		assert.deepEqual(socket.statuses(), [413]);
	});
});

suite("large bodies that are arriving", () => {
	test("are 503 beyond the memory for all of them, and small ones are read", async () => {
		await using toy = await startToy({ limits: { bodyBytes: 1_000_000 } });
		const sockets = await Promise.all(
			Array.from({ length: 6 }, () => openSocket(toy.server.url)),
		);
		const body = padded(400_000);
		for (const socket of sockets) {
			socket.write(
				`${HEAD}content-length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
			);
		}
		const refused = () =>
			sockets.filter(({ statuses }) => statuses()[0] === 503).length;
		await until("refusals", () => refused() >= 3);
		const small = await openSocket(toy.server.url);
		small.write(postText("{ hello }"));
		await until("a response", () => small.statuses()[0] === 200);
		small[Symbol.dispose]();
		// Those that were not refused are read, and their memory is free again.
		for (const socket of sockets) socket.write(body.slice(-1));
		await until("all responses", () =>
			sockets.every(({ statuses }) => statuses().length === 1),
		);
		const read = sockets.filter(({ statuses }) => statuses()[0] === 200);
		assert.ok(read.length >= 1);
		assert.equal(read.length + refused(), 6);
		for (const socket of sockets) socket[Symbol.dispose]();
		const response = await toy.post({ query: "{ hello }", padding: body });
		assert.equal(response.status, 200);
	});

	test("take no memory once their clients are gone", async () => {
		await using toy = await startToy({ limits: { bodyBytes: 1_000_000 } });
		const body = padded(900_000);
		for (let n = 0; n < 5; n++) {
			using socket = await openSocket(toy.server.url);
			socket.write(
				`${HEAD}content-length: ${body.length}\r\n\r\n${body.slice(0, 800_000)}`,
			);
			// Once more is read than the first piece, it is being held.
			await fetch(`${toy.server.url}/health/live`);
		}
		await until("a body that is read", async () => {
			const response = await toy.post(body);
			return response.status === 200;
		});
	});
});
