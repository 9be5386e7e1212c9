import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import {
	type ConnectionLimits,
	Connections,
} from "../../../src/server/http/connections.ts";
import { Refusals } from "../../../src/server/http/refusals.ts";
import { openSocket, postText } from "../../helpers/rawSocket.ts";
import {
	ADA,
	startToy,
	type Toy,
	tokens,
	toySchema,
} from "../../helpers/toyServer.ts";
import { until } from "../../helpers/until.ts";

/** Counts operations, and leaves them running until they are released. */
function holding() {
	const held: (() => void)[] = [];
	let count = 0;
	return {
		started: () => count,
		release() {
			for (const end of held.splice(0)) end();
		},
		async execute() {
			count++;
			await new Promise<void>((resolve) => held.push(resolve));
			return { data: { hello: String(count) } };
		},
	};
}

function overloads({ lines }: Toy) {
	return lines.filter(({ msg }) => msg === "overload");
}

test("a connection is free as soon as its response is done, unless others wait on it", async () => {
	const limits = { pipelined: 3 } as ConnectionLimits;
	const log = { warn() {} } as unknown as FastifyBaseLogger;
	const connections = new Connections(limits, new Refusals(log));
	const socket = new Socket();
	const send = () => {
		const response = new EventEmitter();
		const started = { response, is: false };
		connections.admit(
			socket,
			response as ServerResponse,
			() => {
				started.is = true;
			},
			() => assert.fail("refused"),
		);
		return started;
	};
	const first = send();
	assert.ok(first.is && !connections.isFree(socket));
	first.response.emit("close");
	assert.ok(connections.isFree(socket));
	const [second, third] = [send(), send()];
	second.response.emit("close");
	assert.ok(!connections.isFree(socket), "it is the third one's");
	assert.ok(!third.is, "in the next turn");
	await new Promise((resolve) => setImmediate(resolve));
	assert.ok(third.is);
	socket.destroy();
});

suite("pipelined requests", () => {
	test("are carried out one after the other, and answered in order", async () => {
		const running = holding();
		await using toy = await startToy({ execute: running.execute });
		using socket = await openSocket(toy.server.url);
		socket.write(postText("{ hello }").repeat(5));
		for (let n = 1; n <= 5; n++) {
			await until(`operation ${n}`, () => running.started() === n);
			// Others come between, so a second one would have started by now.
			await fetch(`${toy.server.url}/health/live`);
			assert.equal(running.started(), n);
			assert.equal(socket.statuses().length, n - 1);
			running.release();
			await until(`response ${n}`, () => socket.statuses().length === n);
		}
		const names = [...socket.received().matchAll(/"hello":"(\d)"/g)];
		assert.deepEqual(
			names.map(([, name]) => name),
			["1", "2", "3", "4", "5"],
		);
	});

	test("beyond the limit are 503 with Retry-After, and the connection closes", async () => {
		const running = holding();
		await using toy = await startToy({
			execute: running.execute,
			limits: { pipelined: 3 },
		});
		using socket = await openSocket(toy.server.url);
		socket.write(postText("{ hello }").repeat(200));
		await until("the refusal", () => overloads(toy).length === 1);
		for (let n = 1; n <= 3; n++) {
			await until(`operation ${n}`, () => running.started() === n);
			running.release();
		}
		await socket.closed;
		assert.deepEqual(socket.statuses(), [200, 200, 200, 503]);
		const [head = "", body] = socket.received().split("\r\n\r\n").slice(-2);
		assert.match(head, /^retry-after: 1$/m);
		assert.match(head, /^connection: close$/m);
		assert.deepEqual(JSON.parse(body ?? ""), {
			errors: [
				{
					message:
						"More than 3 requests are waiting on this connection. Retry on another one.",
					extensions: { code: "UNAVAILABLE" },
				},
			],
		});
		assert.equal(running.started(), 3);
		assert.equal(overloads(toy)[0]?.pipelined, 1);
	});

	test("of a client that is gone are not carried out", async () => {
		const running = holding();
		await using toy = await startToy({ execute: running.execute });
		{
			using socket = await openSocket(toy.server.url);
			socket.write(postText("{ hello }").repeat(5));
			await until("an operation", () => running.started() === 1);
		}
		running.release();
		// Takes as many turns as the others would have taken.
		for (let n = 0; n < 10; n++) await fetch(`${toy.server.url}/health/live`);
		assert.equal(running.started(), 1);
	});

	test("that wait do not keep a server from closing, which answers the running one", async () => {
		const running = holding();
		await using toy = await startToy({ execute: running.execute });
		using socket = await openSocket(toy.server.url);
		socket.write(postText("{ hello }").repeat(20));
		await until("an operation", () => running.started() === 1);
		const closing = toy.server.close();
		running.release();
		await Promise.all([closing, socket.closed]);
		assert.deepEqual(socket.statuses(), [200]);
		assert.match(socket.received(), /^connection: close$/im);
		assert.equal(running.started(), 1);
	});

	test("are each as good as alone: also by GET, of any route, and with `Expect`", async () => {
		await using toy = await startToy();
		using socket = await openSocket(toy.server.url);
		const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
		socket.write(
			[
				get("/health/live"),
				postText("{ hello }"),
				get("/%zz"),
				get("/nothing"),
				postText("{ hello }").replace("\r\n", "\r\nexpect: 100-continue\r\n"),
				get("/graphql?query={hello}"),
				`${get("/health/ready").slice(0, -2)}connection: close\r\n\r\n`,
			].join(""),
		);
		await socket.closed;
		assert.deepEqual(
			socket.statuses(),
			[200, 200, 400, 404, 100, 200, 400, 200],
		);
	});

	test("before one that is malformed never get the response to that one", async () => {
		const running = holding();
		await using toy = await startToy({ execute: running.execute });
		using socket = await openSocket(toy.server.url);
		socket.write(`${postText("{ hello }")}no request\r\n\r\n`);
		await socket.closed;
		assert.deepEqual(socket.statuses(), []);
	});
});

suite("a client that does not read its response", () => {
	/** More than the buffers of both systems take. */
	const long = "x".repeat(15_000_000);
	const startLong = (limits: Parameters<typeof startToy>[0]) =>
		startToy({
			schema: toySchema,
			execute: async () => ({ data: { hello: long } }),
			compression: false,
			...limits,
		});

	test("is disconnected after a time, whatever it sends meanwhile", async () => {
		await using toy = await startLong({ limits: { sendMs: 300, checkMs: 50 } });
		using socket = await openSocket(toy.server.url);
		socket.pause();
		socket.write(postText("{ hello }"));
		const sends = setInterval(() => socket.write(postText("{ hello }")), 50);
		try {
			await until("a line of the log", () => overloads(toy).length > 0);
			assert.equal(overloads(toy).at(-1)?.unread, 1);
		} finally {
			clearInterval(sends);
		}
	});

	test("is counted apart from those who hung up while the server awaited their body or who they are", async () => {
		const asked = Promise.withResolvers<void>();
		const known = Promise.withResolvers<boolean>();
		await using toy = await startLong({
			limits: { sendMs: 0, checkMs: 50 },
			isUser() {
				asked.resolve();
				return known.promise;
			},
		});
		{
			using sendsHalf = await openSocket(toy.server.url);
			using asks = await openSocket(toy.server.url);
			sendsHalf.write(postText("{ hello }").slice(0, -5));
			const authorization = `authorization: Bearer ${await tokens.sign(ADA)}`;
			asks.write(
				postText("{ hello }").replace("\r\n", `\r\n${authorization}\r\n`),
			);
			await asked.promise;
		}
		using unread = await openSocket(toy.server.url);
		unread.pause();
		unread.write(postText("{ hello }"));
		// Gone by now: the server has read what came later.
		await toy.firstOperation;
		known.resolve(true);
		await until("a line of the log", () => overloads(toy).length > 0);
		assert.equal(overloads(toy)[0]?.unread, 1);
	});

	test("is disconnected sooner where unread responses take too much memory", async () => {
		await using toy = await startLong({
			limits: { unreadBytes: 40_000_000, checkMs: 50 },
		});
		const sockets = await Promise.all(
			Array.from({ length: 6 }, () => openSocket(toy.server.url)),
		);
		for (const socket of sockets) {
			socket.pause();
			socket.write(postText("{ hello }"));
		}
		const disconnected = () =>
			overloads(toy).reduce((sum, { unread }) => sum + Number(unread), 0);
		// Two of them fit.
		await until("four disconnects", () => disconnected() === 4);
		for (const socket of sockets) socket.resume();
		await until(
			"two whole responses",
			() =>
				sockets.filter(({ received }) => received().length > long.length)
					.length === 2,
		);
		for (const socket of sockets) socket[Symbol.dispose]();
	});

	test("who reads slowly gets it", async () => {
		await using toy = await startLong({ limits: { checkMs: 50 } });
		using socket = await openSocket(toy.server.url);
		socket.pause();
		socket.write(postText("{ hello }").repeat(2));
		// Two checks of the connections at least find the first response unread.
		await sleep(250);
		socket.resume();
		await until(
			"both responses",
			() => socket.received().length > 2 * long.length,
		);
		assert.deepEqual(socket.statuses(), [200, 200]);
	});
});

suite("a server with as many connections as allowed", () => {
	test("closes idle ones for others, and drops what is more", async () => {
		await using toy = await startToy({ limits: { connections: 10 } });
		const idle = await Promise.all(
			Array.from({ length: 12 }, () => openSocket(toy.server.url)),
		);
		for (const socket of idle) {
			socket.write("GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n");
		}
		await Promise.all(idle.map(({ closed }) => closed));
		await until("a line of the log", () => overloads(toy).length > 0);
		assert.equal(overloads(toy)[0]?.connections, 2);
		const response = await toy.post({ query: "{ hello }" });
		assert.equal(response.status, 200);
	});
});
