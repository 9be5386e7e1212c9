import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Host } from "../../../src/storage/mysql/driver/host.ts";
import { MergedReads } from "../../../src/storage/mysql/mergedReads.ts";
import { StorageFailure } from "../../../src/storage/storageFailure.ts";
import { deadlineIn } from "../../../src/util/deadline.ts";

const HOST = { name: "a:1", leastAnswerMs: 0, isFree: true } as Host;
const MAX_KEYS = 100;

/** Merged reads whose statements end when the test says so. A key is its own result. */
function heldReads(rowsOf: (key: number) => number = () => 1) {
	const sent: {
		readonly keys: readonly number[];
		readonly signal: AbortSignal | undefined;
		readonly end: (failure?: Error) => void;
	}[] = [];
	const reads = new MergedReads<number, number>({
		maxKeys: MAX_KEYS,
		rowsOf,
		read(_, placed, { deadline }) {
			const keys = placed.map(({ key }) => key);
			const { promise, resolve, reject } =
				Promise.withResolvers<readonly number[]>();
			sent.push({
				keys,
				signal: deadline.signal,
				end: (failure) => (failure ? reject(failure) : resolve(keys)),
			});
			return promise;
		},
	});
	return {
		sent,
		keys: () => sent.map(({ keys }) => keys),
		read(keys: readonly number[], signal?: AbortSignal) {
			const shard = { number: 7, database: "db00007", host: HOST };
			return reads.read(
				HOST,
				keys.map((key) => ({ key, shard })),
				{ shard: 7, deadline: deadlineIn(60_000, signal) },
			);
		},
		/** Reads that are sent, one by one, and not answered: until the next one waits. */
		async fill() {
			for (let n = 1; sent.length === n - 1; n++) {
				this.read([-n]).catch(() => {});
				await turn();
				await turn();
				if (sent.length > 20) throw new Error("Nothing ever waits.");
			}
			return sent.length;
		},
	};
}

function refusal(errno?: number): StorageFailure {
	return new StorageFailure("failed", "refused", {
		host: HOST.name,
		statement: "test",
		...(errno && { errno }),
	});
}

describe("reads of several callers", () => {
	it("in one turn of the event loop are one statement, and each gets its own results", async () => {
		const { read, sent, keys } = heldReads();
		const reads = Promise.all([read([1, 2]), read([3]), read([2, 4])]);
		await turn();
		assert.deepEqual(keys(), [[1, 2, 3, 2, 4]]);
		sent[0]?.end();
		assert.deepEqual(await reads, [[1, 2], [3], [2, 4]]);
	});

	it("that meet a busy host wait for one of its statements, and are sent together", async ({
		mock,
	}) => {
		// However slow this machine is, they do not wait for too long.
		mock.timers.enable({ apis: ["setTimeout"] });
		const held = heldReads();
		const running = await held.fill();
		const reads = Promise.all([held.read([1]), held.read([2])]);
		held.sent[0]?.end();
		await turn();
		await turn();
		assert.deepEqual(held.keys().slice(running), [[-running - 1, 1, 2]]);
		held.sent[running]?.end();
		assert.deepEqual(await reads, [[1], [2]]);
	});

	it("that meet slow statements are sent all the same, after milliseconds", async () => {
		const held = heldReads();
		const running = await held.fill();
		const reads = held.read([1]);
		while (held.sent.length === running) await turn();
		held.sent[running]?.end();
		assert.deepEqual(await reads, [1]);
	});

	it("of a slow host without an idle connection wait for a statement that runs, though few run", async ({
		mock,
	}) => {
		mock.timers.enable({ apis: ["setTimeout"] });
		const held = heldReads();
		Object.assign(HOST, { leastAnswerMs: 3_000, isFree: false });
		try {
			const first = held.read([1]);
			await turn();
			const others = Promise.all([held.read([2]), held.read([3])]);
			await turn();
			assert.deepEqual(held.keys(), [[1]]);
			held.sent[0]?.end();
			await first;
			await turn();
			await turn();
			assert.deepEqual(held.keys(), [[1], [2, 3]]);
			held.sent[1]?.end();
			await others;
			await turn();
			held.read([4]);
			await turn();
			await turn();
			held.read([5]);
			await turn();
			mock.timers.tick(750);
			assert.deepEqual(held.keys().slice(2), [[4], [5]]);
		} finally {
			Object.assign(HOST, { leastAnswerMs: 0, isFree: true });
		}
	});

	it("are several statements where one would have too many keys or rows", async () => {
		const many = heldReads();
		const keys = Array.from({ length: MAX_KEYS - 1 }, (_, n) => n);
		many.read(keys);
		many.read([1, 2]);
		many.read([3]);
		const long = heldReads((key) => key);
		long.read([1_500]);
		long.read([600]);
		long.read([3_000]);
		await turn();
		assert.deepEqual(many.keys(), [keys, [1, 2, 3]]);
		assert.deepEqual(long.keys(), [[1_500], [600], [3_000]]);
	});

	it("are repeated one by one where the server refuses them together", async () => {
		const { read, sent, keys } = heldReads();
		const reads = Promise.allSettled([read([1]), read([2])]);
		await turn();
		sent[0]?.end(refusal(1146));
		while (sent.length < 3) await turn();
		assert.deepEqual(keys(), [[1, 2], [1], [2]]);
		sent[1]?.end();
		sent[2]?.end(refusal(1146));
		const [one, other] = await reads;
		assert.deepEqual(one, { status: "fulfilled", value: [1] });
		assert.equal(other?.status, "rejected");
	});

	it("all fail, without another try, where the host gives no answer", async () => {
		const { read, sent } = heldReads();
		const reads = Promise.allSettled([read([1]), read([2])]);
		await turn();
		sent[0]?.end(refusal());
		const statuses = (await reads).map(({ status }) => status);
		assert.deepEqual(statuses, ["rejected", "rejected"]);
		assert.equal(sent.length, 1);
	});

	it("end at once for a caller that gives up, and for the server when all have", async () => {
		const { read, sent } = heldReads();
		const [one, other] = [new AbortController(), new AbortController()];
		const reads = [read([1], one.signal), read([2], other.signal)];
		for (const each of reads) each.catch(() => {});
		await turn();
		one.abort(new Error("one gave up"));
		await assert.rejects(reads[0] as Promise<unknown>, /one gave up/);
		assert.equal(sent[0]?.signal?.aborted, false);
		other.abort(new Error("the other gave up"));
		await assert.rejects(reads[1] as Promise<unknown>, /the other gave up/);
		assert.equal(sent[0]?.signal?.aborted, true);
	});

	it("that gave up before they were sent are not sent", async () => {
		const { read, keys } = heldReads();
		const gone = new AbortController();
		const reads = [read([1], gone.signal), read([2])];
		gone.abort(new Error("gone"));
		await assert.rejects(reads[0] as Promise<unknown>, /gone/);
		await turn();
		assert.deepEqual(keys(), [[2]]);
	});
});
