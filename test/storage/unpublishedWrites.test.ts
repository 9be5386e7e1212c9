import assert from "node:assert/strict";
import { it } from "node:test";
import {
	areWritesUnpublished,
	markingUnpublishedWrites,
} from "../../src/freshness/unpublishedWrites.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { openEmbedded } from "../helpers/embedded.ts";
import { hookedStorage } from "../helpers/hookedStorage.ts";

/** docs/consistency.md "Freshness by protocol". */
it("a process without Redis says in the database that it writes, takes or deletes entries before it does, and not each time", async () => {
	const actions: Partial<
		Record<keyof Storage, (storage: Storage) => Promise<unknown>>
	> = {
		transact: (storage) =>
			storage.transact({ shard: 0, decide: () => ({ result: null }) }),
		takeEntries: (storage) => storage.takeEntries([], 0),
		deleteOutboxEntries: (storage) => storage.deleteOutboxEntries([]),
	};
	for (const [verb, act] of Object.entries(actions)) {
		await using graph = await openEmbedded();
		let marked = 0;
		let wasMarked: boolean | undefined;
		const storage = markingUnpublishedWrites(
			hookedStorage(graph.storage, {
				compareAndSetLookups: async () => void marked++,
				[verb]: async () => {
					wasMarked ??= await areWritesUnpublished(graph.storage);
				},
			}),
		);
		assert.equal(await areWritesUnpublished(graph.storage), false);
		await act(storage);
		assert.equal(wasMarked, true, verb);
		await act(storage);
		assert.equal(marked, 1, verb);
	}
});
