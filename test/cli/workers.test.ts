import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, test } from "node:test";
import type { CommandContext } from "../../src/cli/commandContext.ts";
import { runWorkers, type WorkerProcess } from "../../src/cli/workers.ts";

/** A worker that never ends by itself. */
const SERVES = 'console.log("listening"); setInterval(() => {}, 1000);';
const IGNORES_SIGTERM = `process.on("SIGTERM", () => {}); ${SERVES}`;
const CANNOT_START = "process.exit(1);";
const CRASHES =
	'console.log("listening"); setTimeout(() => process.exit(3), 20);';

/** Short enough for a test; no worker of a test is stable. */
const LIMITS = { restartDelayMs: 20, stopMs: 300 };

interface Workers {
	readonly started: readonly ChildProcess[];
	/** A promise for each worker, which resolves when it serves. */
	readonly listening: readonly Promise<unknown>[];
	readonly messages: string[];
	interrupt(): void;
	run(count: number): Promise<number>;
}

/** Runs workers that are small programs of these sources, in the order of their starts; the last for all further ones. */
function workers(...sources: readonly string[]): Workers {
	const started: ChildProcess[] = [];
	const listening: Promise<unknown>[] = [];
	const messages: string[] = [];
	const interruption = new AbortController();
	const fork = (): WorkerProcess => {
		const source = sources[Math.min(started.length, sources.length - 1)] ?? "";
		const child = spawn(process.execPath, ["-e", source]);
		started.push(child);
		const data = once(child.stdout, "data");
		listening.push(data);
		return {
			pid: child.pid,
			listening: data,
			exited: once(child, "exit").then(([code, signal]) => ({ code, signal })),
			kill: (signal) => void child.kill(signal),
		};
	};
	const context = {
		interruptSignal: () => interruption.signal,
		stderr: (text: string) => void messages.push(text),
	} as CommandContext;
	return {
		started,
		listening,
		messages,
		interrupt: () => interruption.abort(),
		run: (count) => runWorkers(count, context, { fork, limits: LIMITS }),
	};
}

function haveEnded(started: readonly ChildProcess[]): boolean {
	return started.every(
		({ exitCode, signalCode }) => exitCode !== null || signalCode !== null,
	);
}

describe("runWorkers", () => {
	test("ends all workers with SIGTERM when it is interrupted", async () => {
		const subject = workers(SERVES);
		const ended = subject.run(2);
		await Promise.all(subject.listening);
		subject.interrupt();
		assert.equal(await ended, 0);
		assert.deepEqual(
			subject.started.map(({ signalCode }) => signalCode),
			["SIGTERM", "SIGTERM"],
		);
		assert.deepEqual(subject.messages, []);
	});

	test("kills a worker that ignores SIGTERM", async () => {
		const subject = workers(SERVES, IGNORES_SIGTERM);
		const ended = subject.run(2);
		await Promise.all(subject.listening);
		subject.interrupt();
		assert.equal(await ended, 0);
		assert.deepEqual(
			subject.started.map(({ signalCode }) => signalCode),
			["SIGTERM", "SIGKILL"],
		);
	});

	test("kills a worker that ignores SIGTERM also when it gives up because of another", async () => {
		const subject = workers(IGNORES_SIGTERM, CRASHES);
		await assert.rejects(subject.run(2), {
			message: /^A worker ended 5 times in a row\./,
		});
		assert.equal(subject.started[0]?.signalCode, "SIGKILL");
		assert.ok(haveEnded(subject.started));
	});

	test("fails at once, without a restart, when a first worker cannot start", async () => {
		const subject = workers(CANNOT_START);
		await assert.rejects(subject.run(1), {
			code: "UNAVAILABLE",
			message:
				"A worker could not start: it ended with exit code 1 before it served. Its messages are above.",
		});
		assert.equal(subject.started.length, 1);
	});

	test("replaces a worker that ends", async () => {
		const subject = workers(CRASHES, SERVES);
		const ended = subject.run(1);
		while (subject.started.length < 2) {
			await new Promise((resolve) => setTimeout(resolve, 10));
		}
		await subject.listening[1];
		assert.deepEqual(subject.messages, [
			`worker ${subject.started[0]?.pid} ended (exit code 3)`,
		]);
		subject.interrupt();
		assert.equal(await ended, 0);
	});

	test("waits longer before each replacement of a worker that keeps ending, then gives up", async () => {
		const subject = workers(CRASHES);
		const began = performance.now();
		await assert.rejects(subject.run(1), {
			code: "UNAVAILABLE",
			message: "A worker ended 5 times in a row. Its messages are above.",
		});
		assert.equal(subject.started.length, 5);
		assert.equal(subject.messages.length, 5);
		// 20 + 40 + 80 + 160 ms between the five starts.
		assert.ok(performance.now() - began >= 300);
	});
});
