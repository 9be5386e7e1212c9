import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type {
	Transaction,
	TransactionWrites,
} from "../../../src/storage/rows.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { seededRandom } from "../../../src/util/random.ts";
import { openEmbedded } from "../../helpers/embedded.ts";
import {
	type Bounds,
	Broken,
	Interleavings,
} from "../../helpers/interleavings.ts";
import { BegunWrites, openWorld, type Story } from "../../helpers/keyWorld.ts";
import { IS_SLOW_RUN, printedSeed } from "../../helpers/slowRun.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

/** How many orders of each story are drawn; keyInterleavings.slow.test.ts follows all. */
const ORDERS = 60;
const random = IS_SLOW_RUN ? null : seededRandom(printedSeed());

/**
 * Natural keys under every interleaving of the storage calls of two or three
 * processes: an active object that has a key is the one that its lookup leads
 * to, at every moment; and no name stays taken that nobody has. If the orders
 * are too many, each actor is interrupted three times at most.
 */
describe("in every interleaving, a natural key has one holder, and its lookup leads there:", () => {
	it("a rename, its release by the outbox worker, and another user who takes the name", async () => {
		const { ends } = await explore(({ ann, rename, worker, create }) => [
			rename("renamer", ann, { username: "want" }),
			worker("change"),
			create("taker", { username: "want" }),
		]);
		assert.deepEqual([...ends].toSorted(), [
			"CONFLICT, done, done",
			"done, done, CONFLICT",
		]);
	});

	it("the same without the fence, which is found to break it", async () => {
		await assert.rejects(
			explore(
				({ ann, rename, worker, create }) => [
					rename("renamer", ann, { username: "want" }),
					worker("change"),
					create("taker", { username: "want" }),
				],
				{ damage: withoutFence },
			),
			(error) =>
				error instanceof Broken && /which leads to/.test(error.message),
		);
	});

	it("two users who take one address, and the outbox worker", async () => {
		await explore(({ ann, rename, worker, create }) => [
			rename("renamer", ann, { username: "want", email: "b@x" }),
			worker("change"),
			create("taker", { email: "b@x" }),
		]);
	});

	it("two renames of one user, and the outbox worker", async () => {
		await explore(({ ann, rename, worker }) => [
			rename("one", ann, { username: "want" }),
			worker("change"),
			rename("other", ann, { username: "more" }),
		]);
	});

	it("two renames of one user to the same name, and the outbox worker, with up to three interruptions", async () => {
		// Each begins again when it is overtaken: all orders are a hundred times as many.
		await explore(
			({ ann, rename, worker }) => [
				rename("one", ann, { username: "want" }),
				worker("change"),
				rename("other", ann, { username: "want" }),
			],
			{ bounds: { interruptions: 3 } },
		);
	});

	it("a rename and back, the outbox worker, and another user who takes the first name", async () => {
		await explore(({ ann, ben, rename, worker }) => [
			rename("renamer", ann, { username: "want" }, { username: "ann" }),
			worker("change"),
			rename("taker", ben, { username: "ann" }),
		]);
	});

	it("a rename whose process may die anywhere, the outbox worker, and another user who takes the name", async () => {
		await explore(({ ann, ben, rename, worker }) => [
			{ ...rename("renamer", ann, { username: "want" }), mayDie: true },
			worker("change"),
			rename("taker", ben, { username: "want" }),
		]);
	});

	it("a rename whose COMMIT may get no answer, the outbox worker, and another user who takes the name", async () => {
		await explore(({ ann, ben, rename, worker }) => [
			{
				...rename("renamer", ann, { username: "want" }),
				losesAnswers: (verb) => verb === "transact",
			},
			worker("change"),
			rename("taker", ben, { username: "want" }),
		]);
	});

	it("a rename whose reservation may get no answer, the outbox worker, and another user who takes the name, with up to three interruptions", async () => {
		await explore(
			({ ann, ben, rename, worker }) => [
				{
					...rename("renamer", ann, { username: "want" }),
					losesAnswers: (verb) => verb === "compareAndSetLookups",
				},
				worker("change"),
				rename("taker", ben, { username: "want" }),
			],
			{ bounds: { interruptions: 3 } },
		);
	});

	it("a creation whose process may die anywhere, the outbox worker, and another user who takes the name", async () => {
		await explore(({ ben, rename, worker, create }) => [
			{ ...create("creator", { username: "want" }), mayDie: true },
			worker("creation"),
			rename("taker", ben, { username: "want" }),
		]);
	});

	it("a rename, a repair that releases its reservation, and another user who takes the name", async () => {
		await explore(({ ann, ben, rename, repair }) => [
			rename("renamer", ann, { username: "want" }),
			repair("repair", "want"),
			rename("taker", ben, { username: "want" }),
		]);
	});
});

async function explore(
	story: Story,
	{
		damage = (storage) => storage,
		bounds = {},
	}: {
		readonly damage?: (storage: Storage) => Storage;
		readonly bounds?: Bounds;
	} = {},
) {
	// All orders of a story take minutes: the runner sees that they go on.
	const interleavings = new Interleavings((orders) => {
		if (orders % 2_000 === 0) console.log(`${orders} orders`);
	});
	using folder = temporaryFolder();
	const begun = new BegunWrites();
	await using graph = await openEmbedded({
		shards: 1,
		folder: folder.path,
		wrap: (storage) => interleavings.wrap(begun.wrap(damage(storage))),
	});
	return await interleavings.explore(
		() => openWorld(graph, begun, story),
		random === null
			? bounds
			: { ...bounds, sample: { orders: ORDERS, random } },
	);
}

/** Objects lose their fence: releasing is then as it was before there was one. */
function withoutFence(storage: Storage): Storage {
	return new Proxy(storage, {
		get(target, name) {
			if (name === "transact") {
				return <T>(transaction: Transaction<T>) =>
					target.transact({
						...transaction,
						decide(reads): TransactionWrites<T> {
							const writes = transaction.decide(reads);
							return {
								...writes,
								objects: (writes.objects ?? []).map(({ id, data }) => {
									const { fence: _, ...rest } = data;
									return { id, data: rest };
								}),
							};
						},
					});
			}
			const value = Reflect.get(target, name, target);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}
