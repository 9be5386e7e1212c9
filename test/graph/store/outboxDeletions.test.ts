import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OutboxDeletions } from "../../../src/graph/store/outboxDeletions.ts";
import type { OutboxKey } from "../../../src/storage/rows.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { until } from "../../helpers/until.ts";

/** Storage that only deletes outbox entries: the first calls fail. */
function deletingStorage(failures = 0) {
	const calls: (readonly number[])[] = [];
	const hosts = new Map<number, string>();
	const storage = {
		map: { hostOf: (shard: number) => hosts.get(shard) ?? "first" },
		async deleteOutboxEntries(keys: readonly OutboxKey[]) {
			calls.push(keys.map(({ local }) => local));
			if (calls.length <= failures) throw new Error("down");
		},
	} as unknown as Storage;
	return { calls, hosts, storage };
}

const key = (local: number): OutboxKey => ({ shard: 1, local });

describe("deletions of delivered outbox entries", () => {
	it("of several writes are one call, soon", async () => {
		const { calls, storage } = deletingStorage();
		const deletions = new OutboxDeletions(storage);
		deletions.add([key(1)]);
		deletions.add([key(2), key(3)]);
		assert.deepEqual(calls, []);
		await until("the call", () => calls.length > 0);
		await deletions.flush();
		assert.deepEqual(calls, [[1, 2, 3]]);
	});

	it("that fail are tried again, with those that came meanwhile", async () => {
		const { calls, storage } = deletingStorage(1);
		const deletions = new OutboxDeletions(storage);
		deletions.add([key(1)]);
		await deletions.flush();
		deletions.add([key(2)]);
		await until("the second call", () => calls.length === 2);
		assert.deepEqual(calls, [[1], [1, 2]]);
	});

	it("do not reach another primary of the shard, which may have given the ids to other entries", async () => {
		const { calls, hosts, storage } = deletingStorage(1);
		await using deletions = new OutboxDeletions(storage);
		deletions.add([key(1), { shard: 2, local: 1 }]);
		await deletions.flush();
		hosts.set(1, "promoted");
		deletions.add([key(2)]);
		await deletions.flush();
		// The second call deletes the entry of shard 1 that was delivered after the promotion, and that of shard 2.
		assert.deepEqual(calls, [
			[1, 1],
			[1, 2],
		]);
	});

	it("are carried out at once when the process ends", async () => {
		const { calls, storage } = deletingStorage();
		{
			await using deletions = new OutboxDeletions(storage);
			deletions.add([key(1)]);
		}
		assert.deepEqual(calls, [[1]]);
	});

	it("are left to outbox workers after that, and where the last call fails", async () => {
		const { calls, storage } = deletingStorage(1);
		const deletions = new OutboxDeletions(storage);
		deletions.add([key(1)]);
		await deletions[Symbol.asyncDispose]();
		deletions.add([key(2)]);
		await deletions.flush();
		assert.deepEqual(calls, [[1]]);
	});
});
