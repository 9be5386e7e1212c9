import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, mock, test } from "node:test";
import { PendingDeletes } from "../../src/cache/pendingDeletes.ts";

const MAX_AGE_MS = 3_600_000;

/** A host that can be down, and what it was sent. */
class Host {
	isUp = false;
	readonly sent: { keys: readonly string[]; isProbe: boolean }[] = [];
	readonly deletes: PendingDeletes;

	constructor(maxKeys = 1_000) {
		this.deletes = new PendingDeletes({
			maxKeys,
			maxAgeMs: MAX_AGE_MS,
			send: async (keys, isProbe) => {
				this.sent.push({ keys, isProbe });
				return this.isUp;
			},
		});
	}

	/** The keys of what was sent since the last call. */
	take(): readonly (readonly string[])[] {
		return this.sent.splice(0).map(({ keys }) => keys);
	}
}

/** Lets everything that is due happen. */
async function pass(ms: number): Promise<void> {
	for (let passed = 0; passed < ms; passed += 10) {
		mock.timers.tick(10);
		await settle();
	}
}

async function settle(): Promise<void> {
	for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

describe("PendingDeletes", () => {
	beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
	afterEach(() => mock.timers.reset());

	test("forget an acknowledged delete, and send it once", async () => {
		const host = new Host();
		host.isUp = true;
		const deleting = host.deletes.delete(["a"]);
		assert.ok(host.deletes.has("a"), "pending from the call on");
		assert.equal(await deleting, true);
		assert.ok(host.deletes.isEmpty);
		await pass(2_000);
		assert.deepEqual(host.take(), [["a"]]);
	});

	test("are retried after 50 ms, doubled up to a second, as probes, until the host acknowledges", async () => {
		using host = disposable(new Host());
		assert.equal(await host.deletes.delete(["a"]), false);
		host.take();
		const pauses: number[] = [];
		for (let waited = 0; pauses.length < 7; ) {
			await pass(10);
			waited += 10;
			if (host.sent.length === 0) continue;
			assert.deepEqual(host.sent, [{ keys: ["a"], isProbe: true }]);
			host.take();
			pauses.push(waited);
			waited = 0;
		}
		assert.deepEqual(pauses, [50, 100, 200, 400, 800, 1_000, 1_000]);
		assert.ok(host.deletes.has("a"));
		host.isUp = true;
		await pass(1_000);
		assert.deepEqual(host.take(), [["a"]]);
		assert.ok(host.deletes.isEmpty);
		await pass(5_000);
		assert.deepEqual(host.take(), []);
	});

	test("are retried at once, in batches, when the host is reached or acknowledges another delete", async () => {
		for (const reach of [
			(deletes: PendingDeletes) => deletes.retry(),
			(deletes: PendingDeletes) => void deletes.delete(["other"]),
		]) {
			using host = disposable(new Host());
			const keys = Array.from({ length: 700 }, (_, at) => `${at}`);
			assert.equal(await host.deletes.delete(keys), false);
			host.take();
			host.isUp = true;
			reach(host.deletes);
			await settle();
			assert.deepEqual(
				host
					.take()
					.filter(([key]) => key !== "other")
					.map(({ length }) => length),
				[500, 200],
			);
			assert.ok(host.deletes.isEmpty);
		}
	});

	test("skip the whole host above their limit", async () => {
		using host = disposable(new Host(10));
		const keys = Array.from({ length: 11 }, (_, at) => `${at}`);
		assert.equal(await host.deletes.delete(keys), false);
		assert.ok(host.deletes.has("any other key"));
		host.isUp = true;
		assert.equal(await host.deletes.delete(["later"]), true);
		await pass(2_000);
		assert.ok(host.deletes.has("any other key"), "which of them is not known");
	});

	test("are not retried after their process closed the cache", async () => {
		const host = new Host();
		await host.deletes.delete(["a"]);
		host.deletes[Symbol.dispose]();
		host.take();
		await pass(2_000);
		assert.equal(await host.deletes.delete(["b"]), false);
		await pass(2_000);
		assert.deepEqual(host.take(), [["b"]]);
	});
});

function disposable(host: Host): Host & Disposable {
	return Object.assign(host, {
		[Symbol.dispose]: () => host.deletes[Symbol.dispose](),
	});
}
