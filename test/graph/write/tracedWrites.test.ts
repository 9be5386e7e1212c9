import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import { createWrites } from "../../../src/graph/write/createWrites.ts";
import { type Id, unpackId } from "../../../src/id/ids.ts";
import { STORAGE_CHANNELS } from "../../../src/storage/diagnostics.ts";
import type { Statement } from "../../../src/trace.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { publishedDuring } from "../../helpers/publishedDuring.ts";
import { type RecordedWrite, recordWrites } from "../../helpers/writeTrace.ts";

const summary = ({ description: begun, ended, delivered }: RecordedWrite) => ({
	...begun,
	...ended,
	delivered,
});

async function twoShards({ writes }: Embedded): Promise<readonly [Id, Id]> {
	const create = (n: number) =>
		writes.create({ type: "User", data: { username: `user_${n}` } });
	const one = await create(0);
	for (let n = 1; ; n++) {
		const two = await create(n);
		if (unpackId(two).shard !== unpackId(one).shard) return [one, two];
	}
}

describe("traced writes", () => {
	it("record each transaction, what it wrote and enqueued, and its delivery; each statement is recorded once", async () => {
		await using graph = await openEmbedded();
		const [one, two] = await twoShards(graph);
		const { writes: traced, reads, trace } = recordWrites();
		const writes = createWrites(graph.store, () => {}, { trace });
		const sent = await publishedDuring<Statement>(
			STORAGE_CHANNELS.statement,
			() => writes.setEdge(graph.mapping("followUser"), one, two, true),
		);
		const [here, there] = [unpackId(one).shard, unpackId(two).shard];
		assert.deepEqual(traced.map(summary), [
			{
				verb: "transaction",
				changes: ["followUser"],
				shards: [here],
				rowsWritten: 1,
				outbox: { edges: 1 },
				delivered: true,
			},
			{
				verb: "transaction",
				changes: ["followUser.inverse"],
				shards: [there],
				rowsWritten: 1,
				outbox: {},
				delivered: false,
			},
			{
				verb: "outbox",
				changes: ["outbox"],
				shards: [here],
				rowsWritten: 0,
				outbox: {},
				delivered: false,
			},
		]);
		assert.deepEqual(reads, []);
		assert.deepEqual(
			traced.flatMap(({ statements }) => statements),
			sent,
		);
	});

	it("record reserved keys, and give reads to the step itself", async () => {
		await using graph = await openEmbedded();
		const { writes: traced, reads, trace } = recordWrites();
		const writes = createWrites(graph.store, () => {}, { trace });
		const id = await writes.create({
			type: "User",
			data: { username: "ada_made_up" },
		});
		assert.deepEqual(
			traced.map(({ description: begun, ended }) => [
				begun.verb,
				begun.changes,
				ended?.outbox,
			]),
			[
				["transaction", ["User"], { edges: 10, pendingObjects: 1 }],
				["reservation", ["username"], {}],
				["transaction", ["User"], {}],
				["transaction", ["prefixUser"], {}],
				["outbox", ["outbox"], {}],
			],
		);
		assert.ok(reads.length > 0);
		traced.length = 0;
		await writes.modify(id, (data) => ({ ...data, bio: "new" }));
		assert.deepEqual(
			traced.map(({ description: begun, ended }) => [
				begun.changes,
				ended?.rowsWritten,
			]),
			[[["User"], 1]],
		);
	});

	it("record what failed, and that its entry stays undelivered", async () => {
		let down = -1;
		await using graph = await openEmbedded({
			wrap: (storage) =>
				new Proxy(storage, {
					get(target, name) {
						if (name === "transact") {
							return async (...args: Parameters<typeof target.transact>) => {
								if (args[0].shard !== down) return target.transact(...args);
								throw new CorkboardError("UNAVAILABLE", "down");
							};
						}
						const value = Reflect.get(target, name, target);
						return typeof value === "function" ? value.bind(target) : value;
					},
				}),
		});
		const [one, two] = await twoShards(graph);
		down = unpackId(two).shard;
		const { writes: traced, trace } = recordWrites();
		const writes = createWrites(graph.store, () => {}, { trace });
		await writes.setEdge(graph.mapping("followUser"), one, two, true);
		assert.deepEqual(
			traced.map(({ description: begun, failed, delivered }) => [
				begun.changes,
				(failed as CorkboardError | null)?.code,
				delivered,
			]),
			[
				[["followUser"], undefined, false],
				[["followUser.inverse"], "UNAVAILABLE", false],
			],
		);
	});
});
