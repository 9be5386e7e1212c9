import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import { createWrites } from "../../../src/graph/write/createWrites.ts";
import type { Id } from "../../../src/id/ids.ts";
import { unpackId } from "../../../src/id/ids.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import type { Embedded } from "../../helpers/embedded.ts";
import {
	hookedStorage,
	type StorageHooks,
} from "../../helpers/hookedStorage.ts";
import { idOf } from "../../helpers/importedGraph.ts";
import { importAll } from "../../helpers/importing.ts";
import { onShards, smallGraph } from "../../helpers/verifying.ts";

/** Verify with another writer between its steps. */
function verifyWith(graph: Embedded, hooks: StorageHooks) {
	const storage = hookedStorage(graph.storage, hooks);
	return verify(graph.cold().with({ storage }));
}

/** Likes and unlikes in turn. */
async function toggleOf(graph: Embedded, from: string, to: string) {
	const likePin = graph.mapping("likePin");
	const [user, pin] = [
		(await idOf(graph, from)) as Id,
		(await idOf(graph, to)) as Id,
	];
	let isLiked = true;
	return async () => {
		isLiked = !isLiked;
		await graph.writes.setEdge(likePin, user, pin, isLiked);
	};
}

/** Writes that commit, but whose inverse edges on other shards cannot be delivered. */
function withoutDelivery(graph: Embedded, shard: number) {
	let writes = 0;
	const storage = new Proxy(graph.storage, {
		get(target, name) {
			const value: unknown = Reflect.get(target, name, target);
			if (typeof value !== "function") return value;
			if (name !== "transact") return value.bind(target);
			return async (transaction: Parameters<Storage["transact"]>[0]) => {
				if (transaction.shard !== shard) {
					throw new CorkboardError("UNAVAILABLE", "No answer.");
				}
				writes++;
				return target.transact(transaction);
			};
		},
	});
	return {
		writes: createWrites(graph.cold().with({ storage })),
		count: () => writes,
	};
}

describe("verify, beside a writer,", { concurrency: 4 }, () => {
	it("reports nothing where an edge is liked and unliked between the reading of its two sides, in every look", async () => {
		await using graph = await smallGraph();
		const toggle = await toggleOf(graph, "u:bob", "p:1");
		const { damage, clean, changing } = await verifyWith(graph, {
			walkEdges: toggle,
			readEdges: toggle,
		});
		assert.deepEqual(damage, []);
		assert.equal(clean, true);
		assert.ok(changing > 0, "expected a pair that changed in every look");
	});

	it("reports nothing where each look meets another edge half written", async () => {
		await using graph = await smallGraph();
		const toggles = [
			await toggleOf(graph, "u:bob", "p:1"),
			await toggleOf(graph, "u:ada", "p:1"),
		];
		let calls = 0;
		const next = async () => {
			await toggles[calls++ % toggles.length]?.();
		};
		const { damage } = await verifyWith(graph, {
			walkEdges: next,
			readEdges: next,
		});
		assert.deepEqual(damage, []);
	});

	it("reports nothing where a write commits after the outbox was read, and waits for its delivery", async () => {
		await using graph = await smallGraph();
		const bob = (await idOf(graph, "u:bob")) as Id;
		const pin = (await idOf(graph, "p:1")) as Id;
		const { writes, count } = withoutDelivery(graph, unpackId(bob).shard);
		let isLiked = true;
		const { damage } = await verifyWith(graph, {
			async walkOutbox() {
				isLiked = !isLiked;
				await writes.setEdge(graph.mapping("likePin"), bob, pin, isLiked);
			},
		});
		assert.deepEqual(damage, []);
		assert.ok(count() > 0);
	});

	it("counts a long list right while it is written between the reading of its pages", async () => {
		await using graph = await smallGraph();
		const names = Array.from({ length: 1_100 }, (_, n) => `liker${n}`);
		await importAll(
			graph,
			names.flatMap((name) => [
				{ type: "User", key: name, fields: { username: name, name } },
				{ edge: "likePin", from: name, to: "p:1" },
			]),
		);
		// The newest edges, which a page of the newest has: removed ones were counted, new ones were not.
		let next = 0;
		const likePin = graph.mapping("likePin");
		const pin = (await idOf(graph, "p:1")) as Id;
		const likers = await Promise.all(
			names.slice(-100).map((name) => idOf(graph, name)),
		);
		const unlikeOne = async () => {
			const liker = likers[next++];
			if (liker) await graph.writes.setEdge(likePin, liker, pin, false);
		};
		const { damage } = await verifyWith(graph, {
			walkLists: unlikeOne,
			scanLists: unlikeOne,
			countLists: unlikeOne,
		});
		assert.deepEqual(damage, []);
		assert.ok(next > 2, "expected unlikes between the steps");
	});

	it("still reports damage on an edge beside those that change", async () => {
		await using graph = await smallGraph();
		const toggle = await toggleOf(graph, "u:bob", "p:1");
		assert.equal(onShards(graph, "DELETE FROM user_followed_by_users"), 1);
		const { damage } = await verifyWith(graph, {
			walkEdges: toggle,
			readEdges: toggle,
		});
		assert.deepEqual(
			damage.map(({ kind, count }) => [kind, count]),
			[
				["inverse missing", 1],
				["wrong count", 1],
			],
		);
	});

	it("repairs a pair right although it is written between the two sides of the repair", async () => {
		await using graph = await smallGraph();
		const toggle = await toggleOf(graph, "u:bob", "p:1");
		assert.ok(onShards(graph, "UPDATE pin_liked_by_users SET state = 1") > 0);
		let writes = 0;
		const storage = hookedStorage(graph.storage, {
			async transact() {
				if (writes++ < 4) await toggle();
			},
		});
		await verify(graph.cold().with({ storage }), { repair: true });
		const { damage } = await verify(graph.cold());
		assert.deepEqual(damage, []);
	});
});
