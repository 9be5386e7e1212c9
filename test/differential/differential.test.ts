import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, describe, it, mock } from "node:test";
import { type Random, seededRandom } from "../../src/demo/random.ts";
import { CorkboardError } from "../../src/errors.ts";
import type { Store } from "../../src/graph/store/store.ts";
import { type Id, parseId, unpackId } from "../../src/id/ids.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { theModel } from "../helpers/model.ts";
import { difference } from "./compare.ts";
import {
	type Judges,
	judge,
	operations,
	report,
	describe as told,
} from "./judge.ts";
import type { Execute } from "./operation.ts";
import { createOracle } from "./oracle.ts";
import { walk } from "./walk.ts";
import { World } from "./world.ts";
import { made, WRONG } from "./wrong.ts";

const QUERIES = 2_800;
const QUERIES_WHILE_DOWN = 300;
const MUTATIONS_AND_QUERIES = 500;
/** How many operations it may take to catch an executor that is wrong. */
const CAUGHT_WITHIN = 300;
/** Mismatches told before a run gives up. */
const MOST_TOLD = 3;

const SEED = Number(
	process.env.CORKBOARD_DIFFERENTIAL_SEED ?? randomInt(2 ** 31),
);
console.log(`seed ${SEED}, repeated by CORKBOARD_DIFFERENTIAL_SEED=${SEED}`);

describe("random valid operations", () => {
	let world: World;
	let judges: Required<Judges>;
	let random: Random;

	before(async () => {
		world = await World.open();
		judges = {
			reference: world.queries.reference,
			oracle: {
				answer: createOracle(world.schema, world.memory, world.learned),
				learned: world.learned,
			},
		};
	});
	after(() => world[Symbol.asyncDispose]());

	/** Each test draws for itself, so that the seed repeats it alone or among others. */
	function seeded(test: number): void {
		random = seededRandom(SEED + test);
	}

	async function run(
		count: number,
		executor: Execute,
		judges: Judges,
	): Promise<{ readonly byOracle: number; readonly withErrors: number }> {
		const around = world.surroundings();
		const mismatches: string[] = [];
		let byOracle = 0;
		let withErrors = 0;
		for (const operation of operations(random, around, count)) {
			const verdict = await judge(operation, executor, judges);
			if (verdict.mismatch !== null) {
				mismatches.push(
					await report(SEED, operation, executor, judges, around),
				);
				if (mismatches.length === MOST_TOLD) break;
			}
			if (verdict.byOracle) byOracle++;
			if (verdict.answer.errors !== undefined) withErrors++;
		}
		assert.equal(mismatches.length, 0, mismatches.join("\n\n"));
		return { byOracle, withErrors };
	}

	it(`are answered by the plan as by graphql-js and by an oracle in memory, ${QUERIES} of them`, async () => {
		seeded(1);
		const { byOracle, withErrors } = await run(
			QUERIES,
			world.queries.plan,
			judges,
		);
		assert.ok(byOracle > QUERIES * 0.9, `the oracle knew ${byOracle}`);
		assert.ok(withErrors > QUERIES * 0.05, `${withErrors} had errors`);
		const moments = world.learned.moments();
		assert.ok(moments.length > 100, `${moments.length} moments were seen`);
		assert.deepEqual(moments, moments.toSorted(), "later lines, later moments");
	});

	it("are answered as by graphql-js while some hosts do not answer", async () => {
		seeded(2);
		const shards = [3, 9, random.integer(0, 15)];
		const side = world.withDown(shards);
		const { withErrors } = await run(QUERIES_WHILE_DOWN, side.plan, {
			reference: side.reference,
		});
		assert.ok(
			withErrors > QUERIES_WHILE_DOWN * 0.2,
			`${withErrors} had errors`,
		);
	});

	it("are answered as by graphql-js where they change the graph, and leave the same graph", async () => {
		seeded(3);
		const [ours, theirs] = [
			await world.copy("ours"),
			await world.copy("theirs"),
		];
		const around = world.surroundings();
		let changed = 0;
		// What a write numbers by the clock is then the same in both.
		let clock = Date.now();
		const stopped = mock.method(Date, "now", () => clock);
		try {
			for (const operation of operations(
				random,
				around,
				MUTATIONS_AND_QUERIES,
				0.6,
			)) {
				clock += 1_000;
				const answer = await ours.plan(operation);
				const expected = await theirs.reference(operation);
				const mismatch = difference(expected, answer);
				assert.equal(
					mismatch,
					null,
					told(SEED, operation, mismatch ?? "", [answer, expected]),
				);
				for (const id of newIds(answer.data, around.ids)) {
					const type = theModel().model.objectsByNumber.get(unpackId(id).type);
					around.ids.get(type?.name ?? "")?.unshift(id);
				}
				const isMutation = operation.text.includes("mutation ");
				const payloads = isMutation ? Object.values(answer.data ?? {}) : [];
				changed += payloads.filter((payload) => payload !== null).length;
			}
		} finally {
			stopped.mock.restore();
		}
		assert.ok(changed > 80, `${changed} mutations were carried out`);
		assert.deepEqual(
			await everyEdge(ours.store.storage),
			await everyEdge(theirs.store.storage),
		);
	});

	it("can page through any list, both ways, and meet what the viewer may see once, in order", async () => {
		seeded(4);
		const { memory } = world;
		const { viewers } = world.surroundings();
		const lists = random.shuffled(
			memory.lists.filter((list) => memory.list(list).length > 1),
		);
		const hiddenIn = (list: string) =>
			memory.list(list).filter(({ to }) => !memory.sees(null, to)).length;
		const mostHidden = lists.toSorted((a, b) => hiddenIn(b) - hiddenIn(a));
		for (const list of [...mostHidden.slice(0, 12), ...lists.slice(0, 30)]) {
			const owner = memory.byId.get(list.split(" ")[1] as string);
			const viewer = random.pick(viewers);
			if (owner !== undefined && !memory.sees(viewer, owner)) continue;
			const expected = memory
				.list(list)
				.filter(({ to }) => memory.sees(viewer, to))
				.map(({ to }) => to.id);
			const size = random.pick([1, 2, 3, 7]);
			for (const backward of [false, true]) {
				assert.deepEqual(
					await walk(world.queries.plan, viewer, list, size, backward),
					expected,
					`${list} for ${viewer} by ${size}`,
				);
			}
		}
	});

	for (const [what, wrong] of Object.entries(WRONG)) {
		it(`catch an executor that ${what}`, async () => {
			seeded(5);
			const executor = made(wrong, world.queries.plan);
			const { reference } = judges;
			assert.ok(
				await isCaught(executor, { reference }),
				"caught by graphql-js",
			);
		});
	}

	const FAULTS: Readonly<Record<string, (store: Store) => Store>> = {
		"loses the last edge of a list": (store) =>
			withHeads(store, (edges, list) => ({ edges: edges.slice(0, -1), list })),
		"counts one too many": (store) =>
			withHeads(store, (edges, list) => ({
				edges,
				list: { ...list, count: list.count + 1 },
			})),
		"has two edges the wrong way round": (store) =>
			withHeads(store, ([first, second, ...edges], list) => ({
				edges:
					first && second
						? [second, first, ...edges]
						: [first, second].filter((edge) => edge !== undefined),
				list,
			})),
	};
	for (const [what, fault] of Object.entries(FAULTS)) {
		it(`catch a graph that ${what}, of which graphql-js on the same graph knows nothing`, async () => {
			seeded(6);
			const { plan, reference } = world.withStore(fault);
			assert.equal(await isCaught(plan, { reference }), false);
			assert.ok(
				await isCaught(plan, { ...judges, reference }),
				"by the oracle",
			);
		});
	}

	it("catch a graph that shows what is for somebody else's eyes", async () => {
		seeded(7);
		const { viewers } = world.surroundings();
		const viewer = viewers.at(-1) ?? null;
		const peeking =
			(execute: Execute): Execute =>
			(operation) =>
				execute({ ...operation, viewer });
		assert.ok(
			await isCaught(peeking(world.queries.plan), {
				...judges,
				reference: peeking(judges.reference),
			}),
		);
	});

	async function isCaught(executor: Execute, judges: Judges): Promise<boolean> {
		const around = world.surroundings();
		for (const operation of operations(random, around, CAUGHT_WITHIN)) {
			const { mismatch } = await judge(operation, executor, judges);
			if (mismatch !== null) return true;
		}
		return false;
	}
});

type HeadParts = Pick<
	NonNullable<ReturnType<Store["cachedHead"]>>,
	"edges" | "list"
>;

/** A store whose heads were changed. */
function withHeads(
	store: Store,
	change: (edges: HeadParts["edges"], list: HeadParts["list"]) => HeadParts,
): Store {
	return {
		...store,
		cachedHead: () => undefined,
		async readHeads(lists, depth, call) {
			const heads = await store.readHeads(lists, depth, call);
			return heads.map((head) =>
				head instanceof CorkboardError
					? head
					: { ...head, ...change(head.edges, head.list) },
			);
		},
	};
}

/** Ids in an answer that are not known yet, of whatever type. */
function newIds(
	value: unknown,
	known: ReadonlyMap<string, readonly Id[]>,
): readonly Id[] {
	if (typeof value === "object" && value !== null) {
		return Object.values(value).flatMap((each) => newIds(each, known));
	}
	if (typeof value !== "string" || !/^\d{10,}$/.test(value)) return [];
	const id = parseId(value);
	if (id === "malformed" || id === "reserved") return [];
	return [...known.values()].some((ids) => ids.includes(id)) ? [] : [id];
}

/** All edges and list rows of a storage, as text. */
async function everyEdge(storage: Storage): Promise<readonly string[]> {
	const found: string[] = [];
	for (const shard of storage.shards) {
		for (const mapping of theModel().model.mappings.values()) {
			for await (const edges of storage.walkEdges(shard, mapping)) {
				for (const edge of edges) {
					found.push(`${mapping.name} ${JSON.stringify(edge)}`);
				}
			}
			for await (const lists of storage.walkLists(shard, mapping)) {
				for (const list of lists) {
					found.push(`${mapping.name} ${JSON.stringify(list)}`);
				}
			}
		}
	}
	return found;
}
