import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Store } from "../../../src/graph/store/store.ts";
import { createCursorCodec } from "../../../src/id/cursorCodec.ts";
import { openEmbedded } from "../../helpers/embedded.ts";
import { theModel } from "../../helpers/model.ts";
import { sharedHeads } from "../../helpers/pagingWorld.ts";

/** docs/consistency.md, "In the process", step 4. */
describe("a process that was paused and has not received what it missed", () => {
	it("reads the shards: it may not know which keys a shared cache did not delete", async () => {
		const { model, domain } = theModel();
		await using graph = await openEmbedded();
		let isOverdue = false;
		const store = new Store({
			model,
			domain,
			storage: graph.storage,
			cursors: createCursorCodec(Buffer.alloc(32, 1)),
			cacheBytes: 1_000_000,
			isOverdue: () => isOverdue,
			shared: {
				objects: sharedHeads().cache,
				heads: sharedHeads().cache,
				publish: async () => true,
				publishBehindDeletes: () => null,
				untilPublished: async () => true,
				generationOf: () => 1,
			},
		});
		const user = await graph.writes.create({
			type: "User",
			data: { username: "old" },
		});
		const mapping = model.mappings.get("followUser");
		assert.ok(mapping);
		const read = async () => {
			const [[object], [head]] = await Promise.all([
				store.readObjects([user]),
				store.readHeads([{ mapping, from: user }], 1),
			]);
			assert.ok(object && "node" in object && head && "count" in head);
			return [object.node?.data.about ?? null, head.count];
		};
		assert.deepEqual(await read(), [null, 0]);
		// Another process, whose deletes did not reach the shared caches.
		await graph.writes.modify(user, (data) => ({ ...data, about: "new" }));
		await graph.writes.setEdge(mapping, user, user, true);

		isOverdue = true;
		assert.deepEqual(await read(), ["new", 1]);
		isOverdue = false;
		store.caches.invalidateAll();
		assert.deepEqual(await read(), [null, 0], "what the shared caches hold");
	});
});
