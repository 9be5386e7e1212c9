import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, describe, it, mock } from "node:test";
import { parse } from "graphql";
import { CorkboardError } from "../../src/errors.ts";
import { Head } from "../../src/graph/store/head.ts";
import type { Store } from "../../src/graph/store/store.ts";
import { type Id, parseId, unpackId } from "../../src/id/ids.ts";
import type { Position, ScanResult } from "../../src/storage/rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { type Random, seededRandom } from "../../src/util/random.ts";
import { theModel } from "../helpers/model.ts";
import { IS_SLOW_RUN } from "../helpers/slowRun.ts";
import { difference } from "./compare.ts";
import {
	describeMismatch,
	type Judges,
	judge,
	operations,
	reportMismatch,
} from "./judge.ts";
import { MUTANTS, mutate } from "./mutants.ts";
import type { Execute } from "./operation.ts";
import { createOracle } from "./oracle.ts";
import { readWholeList } from "./readWholeList.ts";
import { World } from "./world.ts";

const QUERIES = IS_SLOW_RUN ? 2_800 : 400;
const QUERIES_WHILE_DOWN = IS_SLOW_RUN ? 300 : 100;
const MUTATIONS_AND_QUERIES = IS_SLOW_RUN ? 500 : 200;
/** Operations within which a wrong executor must be detected. */
const DETECTED_WITHIN = 300;
/** A run ends after this number of mismatches. */
const MAX_MISMATCHES = 3;

const SEED = Number(
	process.env.CORKBOARD_DIFFERENTIAL_SEED ?? randomInt(2 ** 31),
);
console.log(`seed ${SEED}; repeat with CORKBOARD_DIFFERENTIAL_SEED=${SEED}`);

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

	/** Each test has its own sequence, so that a seed repeats it alone or with others. */
	function seeded(test: number): void {
		random = seededRandom(SEED + test);
	}

	async function run(
		count: number,
		executor: Execute,
		judges: Judges,
	): Promise<{ readonly byOracle: number; readonly withErrors: number }> {
		const samples = world.samples();
		const mismatches: string[] = [];
		let byOracle = 0;
		let withErrors = 0;
		for (const operation of operations(random, samples, count)) {
			const verdict = await judge(operation, executor, judges);
			if (verdict.mismatch !== null) {
				mismatches.push(
					await reportMismatch(SEED, operation, executor, judges, samples),
				);
				if (mismatches.length === MAX_MISMATCHES) break;
			}
			if (verdict.byOracle) byOracle++;
			if (verdict.response.errors !== undefined) withErrors++;
		}
		assert.equal(mismatches.length, 0, mismatches.join("\n\n"));
		return { byOracle, withErrors };
	}

	it(`give the same response by the plan, by graphql-js and by an oracle in memory (${QUERIES} queries)`, async () => {
		seeded(1);
		const { byOracle, withErrors } = await run(
			QUERIES,
			world.queries.plan,
			judges,
		);
		assert.ok(byOracle > QUERIES * 0.9, `the oracle answered ${byOracle}`);
		assert.ok(withErrors > QUERIES * 0.05, `${withErrors} had errors`);
		// Random queries ask for the times of few edges.
		const times = `query ($ids: [ID!]!) {
			nodes(ids: $ids) { ... on User { followers(first: 20) { edges { followedAt } } } }
		}`;
		const verdict = await judge(
			{
				text: times,
				document: parse(times),
				operationName: null,
				variables: { ids: world.samples().ids.get("User")?.slice(0, 50) },
				viewer: null,
			},
			world.queries.plan,
			judges,
		);
		assert.equal(verdict.mismatch, null);
		const timestamps = world.learned.timestamps();
		assert.ok(
			timestamps.length > 20,
			`${timestamps.length} timestamps were seen`,
		);
		assert.deepEqual(
			timestamps,
			timestamps.toSorted(),
			"later lines have later timestamps",
		);
	});

	it("give the same response as graphql-js while some hosts do not answer", async () => {
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

	it("that are mutations give the same response and leave the same graph as with graphql-js", async () => {
		seeded(3);
		const [ours, theirs] = [
			await world.copy("ours"),
			await world.copy("theirs"),
		];
		const samples = world.samples();
		let changed = 0;
		// Both graphs then get the same sequence numbers, which come from the clock.
		let clock = Date.now();
		const stopped = mock.method(Date, "now", () => clock);
		try {
			for (const operation of operations(
				random,
				samples,
				MUTATIONS_AND_QUERIES,
				0.6,
			)) {
				clock += 1_000;
				const response = await ours.plan(operation);
				const expected = await theirs.reference(operation);
				const mismatch = difference(expected, response);
				assert.equal(
					mismatch,
					null,
					describeMismatch(SEED, operation, mismatch ?? "", [
						response,
						expected,
					]),
				);
				for (const id of newIds(response.data, samples.ids)) {
					const type = theModel().model.objectsByNumber.get(unpackId(id).type);
					samples.ids.get(type?.name ?? "")?.unshift(id);
				}
				const isMutation = operation.text.includes("mutation ");
				const payloads = isMutation ? Object.values(response.data ?? {}) : [];
				changed += payloads.filter((payload) => payload !== null).length;
			}
		} finally {
			stopped.mock.restore();
		}
		assert.ok(
			changed > MUTATIONS_AND_QUERIES * 0.16,
			`${changed} mutations succeeded`,
		);
		assert.deepEqual(
			await allEdges(ours.store.storage),
			await allEdges(theirs.store.storage),
		);
	});

	it("page through any list in both directions, and return each visible object once, in order", async () => {
		seeded(4);
		const { memory } = world;
		const { viewers } = world.samples();
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
					await readWholeList(world.queries.plan, viewer, list, size, backward),
					expected,
					`${list} for ${viewer} by ${size}`,
				);
			}
		}
	});

	for (const [what, wrong] of Object.entries(MUTANTS)) {
		it(`detect an executor that ${what}`, async () => {
			seeded(5);
			const executor = mutate(wrong, world.queries.plan);
			const { reference } = judges;
			assert.ok(
				await isDetected(executor, { reference }),
				"detected by graphql-js",
			);
		});
	}

	const BROKEN_STORES: Readonly<Record<string, (store: Store) => Store>> = {
		"loses the last edge of a list": (store) =>
			withHeads(store, (edges, list) => ({ edges: edges.slice(0, -1), list })),
		"counts one edge too many": (store) =>
			withHeads(store, (edges, list) => ({
				edges,
				list: { ...list, count: list.count + 1 },
			})),
		"swaps two edges": (store) =>
			withHeads(store, ([first, second, ...edges], list) => ({
				edges:
					first && second
						? [second, first, ...edges]
						: [first, second].filter((edge) => edge !== undefined),
				list,
			})),
	};
	for (const [what, breakStore] of Object.entries(BROKEN_STORES)) {
		it(`detect by the oracle a graph that ${what}, which graphql-js on the same graph cannot`, async () => {
			seeded(6);
			const { plan, reference } = world.withStore(breakStore);
			assert.equal(await isDetected(plan, { reference }), false);
			assert.ok(
				await isDetected(plan, { ...judges, reference }),
				"detected by the oracle",
			);
		});
	}

	it("detect a graph that shows objects visible only to another viewer", async () => {
		seeded(7);
		const { viewers } = world.samples();
		const viewer = viewers.at(-1) ?? null;
		const asOtherViewer =
			(execute: Execute): Execute =>
			(operation) =>
				execute({ ...operation, viewer });
		assert.ok(
			await isDetected(asOtherViewer(world.queries.plan), {
				...judges,
				reference: asOtherViewer(judges.reference),
			}),
		);
	});

	async function isDetected(
		executor: Execute,
		judges: Judges,
	): Promise<boolean> {
		const samples = world.samples();
		for (const operation of operations(random, samples, DETECTED_WITHIN)) {
			const { mismatch } = await judge(operation, executor, judges);
			if (mismatch !== null) return true;
		}
		return false;
	}
});

interface HeadParts {
	readonly edges: readonly Position[];
	readonly list: Pick<Head, "from" | "count" | "epoch" | "complete">;
}

/** A store that alters the list heads it reads. */
function withHeads(
	store: Store,
	change: (edges: HeadParts["edges"], list: HeadParts["list"]) => HeadParts,
): Store {
	return store.with({
		// A page that continues behind a head is read here: its list has the same count.
		storage: withLists(store.storage, (list) => ({
			...list,
			count: change([], { complete: true, ...list }).list.count,
		})),
		cachedHead: () => undefined,
		async readHeads(lists, depth, call) {
			const heads = await store.readHeads(lists, depth, call);
			return heads.map((head) => {
				if (head instanceof CorkboardError) return head;
				const { from, count, epoch, complete } = head;
				const list = { from, count, epoch, complete };
				const changed = change(head.slice(), list);
				return Head.of(changed.list, changed.edges);
			});
		},
	});
}

/** A storage that alters the rows of the lists it scans. */
function withLists(
	storage: Storage,
	change: (list: ScanResult["list"]) => ScanResult["list"],
): Storage {
	const read: Storage["read"] = async (kind, keys, call) => {
		const results = await storage.read(kind, keys, call);
		if (kind !== "lists") return results;
		return results.map((result) =>
			result !== null && typeof result === "object" && "list" in result
				? { ...result, list: change(result.list) }
				: result,
		);
	};
	return Object.assign(Object.create(storage), { read });
}

/** Ids in a value that are not known yet. */
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
async function allEdges(storage: Storage): Promise<readonly string[]> {
	const found: string[] = [];
	for (const shard of storage.map.shards) {
		for (const mapping of theModel().model.mappings.values()) {
			for await (const edges of storage.walk("edges", shard, mapping)) {
				for (const edge of edges) {
					found.push(`${mapping.name} ${JSON.stringify(edge)}`);
				}
			}
			for await (const lists of storage.walk("lists", shard, mapping)) {
				for (const list of lists) {
					found.push(`${mapping.name} ${JSON.stringify(list)}`);
				}
			}
		}
	}
	return found;
}
