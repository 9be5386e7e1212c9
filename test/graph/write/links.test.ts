import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import { deliver } from "../../../src/graph/outbox/deliver.ts";
import { deliverPending } from "../../../src/graph/outbox/deliverPending.ts";
import { View } from "../../../src/graph/read/view.ts";
import { createWrites } from "../../../src/graph/write/createWrites.ts";
import { WritePipeline } from "../../../src/graph/write/pipeline.ts";
import { type Id, unpackId } from "../../../src/id/ids.ts";
import { globalListId } from "../../../src/model/types.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import type { Transaction } from "../../../src/storage/rows.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { resolvers } from "../../helpers/resolvers.ts";

/** A storage whose transactions `isDown` says fail as those of a host that does not answer. */
function failing(isDown: (transaction: Transaction<unknown>) => boolean) {
	return (storage: Storage): Storage =>
		new Proxy(storage, {
			get(target, name) {
				if (name === "transact") {
					return async (...args: Parameters<Storage["transact"]>) => {
						if (!isDown(args[0])) return target.transact(...args);
						throw new CorkboardError("UNAVAILABLE", "down");
					};
				}
				const value = Reflect.get(target, name, target);
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
}

const isOfInterest = ({ creates = [], lists = [] }: Transaction<unknown>) =>
	creates.some(({ type }) => type === "Interest") ||
	lists.some(({ mapping }) => mapping.name === "filePin.inverse");

/** The interest may be on the pin's shard: then one transaction is of both. */
const isOfPin = ({ lists = [] }: Transaction<unknown>) =>
	lists.some(({ mapping }) => mapping.name === "filePin");

async function owner(graph: Embedded): Promise<{ user: Id; board: Id }> {
	const user = await graph.writes.create({
		type: "User",
		data: { username: "ada" },
	});
	const board = await graph.writes.create({
		type: "Board",
		data: { name: "b", user_id: user },
	});
	return { user, board };
}

function createPin(
	graph: Embedded,
	viewer: Id,
	input: Readonly<Record<string, unknown>>,
): Promise<Id> {
	return changePin(graph, viewer, "createPin", input);
}

async function changePin(
	graph: Embedded,
	viewer: Id,
	mutation: "createPin" | "updatePin",
	input: Readonly<Record<string, unknown>>,
): Promise<Id> {
	const view = new View(graph.store, viewer);
	const [result] =
		(await resolvers.get(`Mutation.${mutation}`)?.resolve({
			parents: [null],
			args: { input },
			context: {
				graph: view,
				fields: graph.store.domain.fields,
				writes: (call) =>
					createWrites(graph.store, () => view.discardReads(), call),
				viewer,
				signToken: async () => null,
				now: () => new Date(),
			},
			call: {},
		})) ?? [];
	if (result instanceof CorkboardError) throw result;
	return (result as { readonly pin: Id }).pin;
}

/** The targets of a list as it is stored, in its order. */
async function targets(
	{ storage, mapping }: Embedded,
	name: string,
	from: Id,
): Promise<readonly Id[]> {
	const [scanned] = await storage.read("lists", [
		{ mapping: mapping(name), from, backward: false, limit: 100 },
	]);
	if (scanned === undefined || scanned instanceof CorkboardError) throw scanned;
	assert.equal(scanned.list.count, scanned.edges.length);
	return scanned.edges.map(({ to }) => to);
}

async function interest(graph: Embedded, slug: string): Promise<Id | null> {
	const [row] = await graph.storage.read("lookups", [
		{ name: "slug", key: slug },
	]);
	if (row instanceof CorkboardError) throw row;
	return row?.id ?? null;
}

async function isEverythingDelivered(graph: Embedded): Promise<void> {
	const report = await verify(graph.store);
	assert.ok(report.clean, JSON.stringify(report));
	assert.equal(report.pendingEntries, 0);
}

describe("the interests of a new pin", () => {
	it("are there when createPin resolves, on both sides and among all interests", async () => {
		await using graph = await openEmbedded();
		const { user, board } = await owner(graph);
		const pins = [
			await createPin(graph, user, { boardId: board, interests: ["a", "b"] }),
			await createPin(graph, user, { boardId: board, interests: ["b", "c"] }),
		];
		const [a, b, c] = await Promise.all(
			["a", "b", "c"].map((slug) => interest(graph, slug)),
		);
		assert.deepEqual(
			(await targets(graph, "filePin", pins[0] as Id)).toSorted(),
			[a, b].toSorted(),
		);
		assert.deepEqual(
			(await targets(graph, "filePin.inverse", b as Id)).toSorted(),
			[...pins].toSorted(),
		);
		const root = globalListId(graph.store.model, graph.mapping("listInterest"));
		assert.deepEqual(
			(await targets(graph, "listInterest", root)).toSorted(),
			[a, b, c].toSorted(),
		);
		await isEverythingDelivered(graph);
	});

	it("appear after delivery where their shard failed after the commit: createPin returns the pin, and its repeat the same pin", async () => {
		let isDown = true;
		await using graph = await openEmbedded({
			wrap: failing((transaction) => isDown && isOfInterest(transaction)),
		});
		const { user, board } = await owner(graph);
		const input = {
			boardId: board,
			interests: ["bread", "home-decor"],
			idempotencyKey: "k",
		};
		const pin = await createPin(graph, user, input);
		assert.equal(await createPin(graph, user, input), pin);
		assert.deepEqual(await targets(graph, "filePin", pin), []);
		assert.deepEqual(await targets(graph, "placePin", board), [pin]);

		isDown = false;
		await deliverPending(new WritePipeline(graph.store), 0);
		const ids = await targets(graph, "filePin", pin);
		assert.deepEqual(
			ids.toSorted(),
			[
				await interest(graph, "bread"),
				await interest(graph, "home-decor"),
			].toSorted(),
		);
		for (const id of ids) {
			assert.deepEqual(await targets(graph, "filePin.inverse", id), [pin]);
		}
		await isEverythingDelivered(graph);
	});

	it("stay the same when the pin's entry is delivered twice, at once and late", async () => {
		let isDown = true;
		await using graph = await openEmbedded({
			wrap: failing((transaction) => isDown && isOfInterest(transaction)),
		});
		const { user, board } = await owner(graph);
		const input = { boardId: board, interests: ["bread"] };
		const pins = [
			await createPin(graph, user, input),
			await createPin(graph, user, input),
		];
		const entries = await graph.storage.pendingEntries({
			olderThanMs: 0,
			limit: 100,
		});
		isDown = false;
		await Promise.all(
			[entries, entries.toReversed()].map((some) =>
				deliver(new WritePipeline(graph.store), some).catch(() => {}),
			),
		);
		await deliverPending(new WritePipeline(graph.store), 0);
		const bread = (await interest(graph, "bread")) as Id;
		const before = await targets(graph, "filePin.inverse", bread);
		assert.deepEqual(before.toSorted(), pins.toSorted());
		await deliver(new WritePipeline(graph.store), entries);
		assert.deepEqual(await targets(graph, "filePin.inverse", bread), before);
		await isEverythingDelivered(graph);
	});

	it("lead to one interest although the process died after each step of creating it", async () => {
		for (const dies of ["activation", "edges"] as const) {
			let isDown = true;
			await using graph = await openEmbedded({
				shards: 2,
				wrap: failing(
					({ objects = [], lists = [], creates = [] }) =>
						isDown &&
						creates.length === 0 &&
						(dies === "activation"
							? objects.some((id) => unpackId(id).type === 5)
							: lists.some(({ mapping }) =>
									mapping.name.startsWith("filePin"),
								)),
				),
			});
			const { user, board } = await owner(graph);
			const input = { boardId: board, interests: ["bread"] };
			const pin = await createPin(graph, user, input);
			isDown = false;
			await deliverPending(new WritePipeline(graph.store), 0);
			const bread = await interest(graph, "bread");
			assert.deepEqual(await targets(graph, "filePin", pin), [bread]);
			const root = globalListId(
				graph.store.model,
				graph.mapping("listInterest"),
			);
			assert.deepEqual(await targets(graph, "listInterest", root), [bread]);
			await isEverythingDelivered(graph);
		}
	});
});

describe("the interests of a pin that is updated", () => {
	it("are replaced on both sides, on one shard", () => areReplaced(1));
	it("are replaced on both sides, on several shards", () => areReplaced(4));

	async function areReplaced(shards: number) {
		await using graph = await openEmbedded({ shards });
		const { user, board } = await owner(graph);
		const id = await createPin(graph, user, {
			boardId: board,
			interests: ["a", "b"],
		});
		const file = (interests: readonly string[] | null) =>
			changePin(graph, user, "updatePin", { pinId: id, interests });
		const filedUnder = async (...slugs: string[]) => {
			// What a busy machine did not deliver within the writer's two seconds.
			await deliverPending(new WritePipeline(graph.store), 0);
			const ids = await Promise.all(slugs.map((slug) => interest(graph, slug)));
			assert.deepEqual(await targets(graph, "filePin", id), ids);
			for (const slug of ["a", "b", "c", "d"]) {
				const of = await interest(graph, slug);
				if (of === null) continue;
				assert.deepEqual(
					await targets(graph, "filePin.inverse", of),
					slugs.includes(slug) ? [id] : [],
					slug,
				);
			}
		};
		await filedUnder("b", "a");
		await file(["c", "b"]);
		await filedUnder("c", "b");
		await file(["b", "c"]);
		await filedUnder("c", "b");
		// What was removed can come back, beside interests that are new.
		await file(["d", "a"]);
		await filedUnder("a", "d");
		await changePin(graph, user, "updatePin", {
			pinId: id,
			title: "As before",
		});
		await filedUnder("a", "d");
		await file(null);
		await filedUnder();
		await isEverythingDelivered(graph);
	}

	it("are all delivered later, or none is changed", async () => {
		let fails = false;
		await using graph = await openEmbedded({
			wrap: failing(
				(transaction) =>
					fails && isOfInterest(transaction) && !isOfPin(transaction),
			),
		});
		const { user, board } = await owner(graph);
		const id = await createPin(graph, user, {
			boardId: board,
			interests: ["a"],
		});
		fails = true;
		await changePin(graph, user, "updatePin", { pinId: id, interests: ["b"] });
		fails = false;
		await deliverPending(new WritePipeline(graph.store), 0);
		assert.deepEqual(await targets(graph, "filePin", id), [
			await interest(graph, "b"),
		]);
		const a = await interest(graph, "a");
		assert.deepEqual(await targets(graph, "filePin.inverse", a as Id), []);
		await isEverythingDelivered(graph);
	});
});
