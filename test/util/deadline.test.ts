// Runs in a process of its own: it looks at all timers of the process.
import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
	deadlineIn,
	earlierOf,
	withDeadline,
} from "../../src/util/deadline.ts";
import { busyFor } from "../helpers/busy.ts";

const never = new Promise<never>(() => {});

describe("withDeadline", () => {
	it("settles as the promise does when that is in time", async () => {
		assert.equal(await withDeadline(Promise.resolve(1), deadlineIn(1_000)), 1);
		await assert.rejects(
			withDeadline(Promise.reject(new Error("its own")), deadlineIn(1_000)),
			{ message: "its own" },
		);
		assert.equal(await withDeadline(sleep(5, "late"), {}), "late");
	});

	it("rejects with UNAVAILABLE, or with the caller's error, when time is up", async () => {
		await assert.rejects(withDeadline(never, deadlineIn(5)), {
			code: "UNAVAILABLE",
		});
		await assert.rejects(
			withDeadline(never, deadlineIn(-5), () => new Error("mine")),
			{ message: "mine" },
		);
	});

	it("ignores a rejection after the deadline", async () => {
		const failing = sleep(20).then(() => {
			throw new Error("too late");
		});
		await assert.rejects(withDeadline(failing, deadlineIn(1)), {
			code: "UNAVAILABLE",
		});
		await sleep(30);
	});

	it("rejects with the signal's reason as soon as the signal is aborted", async () => {
		const abort = new AbortController();
		const waiting = withDeadline(never, deadlineIn(60_000, abort.signal));
		abort.abort(new Error("gone"));
		await assert.rejects(waiting, { message: "gone" });
		await assert.rejects(withDeadline(never, { signal: abort.signal }), {
			message: "gone",
		});
	});

	it("gives the promise the grace after the signal to settle", async () => {
		const abort = new AbortController();
		abort.abort(new Error("gone"));
		const { signal } = abort;
		assert.equal(
			await withDeadline(sleep(5, "partial"), { signal, graceMs: 5_000 }),
			"partial",
		);
		await assert.rejects(withDeadline(never, { signal, graceMs: 5 }), {
			message: "gone",
		});
	});

	it("leaves no listener on the signal and no timer", async () => {
		const { signal } = new AbortController();
		let listeners = 0;
		signal.addEventListener = () => {
			listeners += 1;
		};
		signal.removeEventListener = () => {
			listeners -= 1;
		};
		await withDeadline(Promise.resolve(), deadlineIn(60_000, signal));
		await sleep(0);
		assert.equal(listeners, 0);
		assert.ok(!process.getActiveResourcesInfo().includes("Timeout"));
	});

	it("takes an answer that arrived while the process was busy past the deadline", async () => {
		const sockets: Socket[] = [];
		const server = createServer((socket) => {
			sockets.push(socket);
			socket.end("answer");
		}).listen(0, "127.0.0.1");
		await new Promise((done) => server.once("listening", done));
		const { port } = server.address() as { port: number };
		const answer = new Promise<string>((resolve) => {
			connect(port, "127.0.0.1", () => {
				// Busy while the answer travels to the socket's buffer.
				setImmediate(() => busyFor(100));
			}).once("data", (data) => resolve(data.toString()));
		});
		assert.equal(await withDeadline(answer, deadlineIn(50)), "answer");
		for (const socket of sockets) socket.destroy();
		server.close();
	});
});

describe("earlierOf", () => {
	it("is the earlier of two deadlines and keeps the signal", () => {
		const { signal } = new AbortController();
		const near = deadlineIn(10, signal);
		assert.equal(earlierOf(near, 1_000).until, near.until);
		assert.equal(earlierOf(near, 1_000).signal, signal);
		assert.ok(earlierOf(deadlineIn(1_000), 10).until < near.until + 1_000);
	});
});
