import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { deliverEntries } from "../../../src/graph/outbox/deliver.ts";
import { createWrites } from "../../../src/graph/write/createWrites.ts";
import { WritePipeline } from "../../../src/graph/write/pipeline.ts";
import type { Id } from "../../../src/id/ids.ts";
import { purgeEdges } from "../../../src/ops/jobs/purgeEdges.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import type { StartedJob } from "../../../src/queue/job.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { Death } from "../../helpers/death.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import {
	ada,
	board,
	bob,
	idOf,
	like,
	pin,
} from "../../helpers/importedGraph.ts";
import { importAll, sqlOn } from "../../helpers/importing.ts";

const folders = mkdtempSync(join(tmpdir(), "corkboard-purge-"));
const IMPORTED = join(folders, "imported");
let opened = 0;
before(async () => {
	mkdirSync(IMPORTED);
	await using graph = await openEmbedded({ folder: IMPORTED });
	const { bad } = await importAll(graph, [
		ada,
		bob,
		board,
		...[1, 2, 3].map((n) => pin(n)),
		...[1, 2, 3].map((n) => like("u:bob", `p:${n}`)),
	]);
	assert.deepEqual(bad, []);
	// Removed long ago: two likes and a pin of its board.
	await unlike(graph, 1);
	await unlike(graph, 2);
	await graph.writes.remove(await idIn(graph, "p:2"));
	await graph.store.outboxDeletions.flush();
	backdate(graph, DAYS_US(8));
	// And just now.
	await unlike(graph, 3);
});
after(() => rmSync(folders, { recursive: true, force: true }));

async function world(options: Parameters<typeof openEmbedded>[0] = {}) {
	const folder = join(folders, String(opened++));
	cpSync(IMPORTED, folder, { recursive: true });
	return openEmbedded({ folder, ...options });
}

const DAYS_US = (days: number) => (Date.now() - days * 86_400_000) * 1_000;

async function idIn(graph: Embedded, key: string): Promise<Id> {
	return (await idOf(graph, key)) as Id;
}

async function setLike(graph: Embedded, n: number, present: boolean) {
	await createWrites(graph.store).setEdge(
		graph.mapping("likePin"),
		await idIn(graph, "u:bob"),
		await idIn(graph, `p:${n}`),
		present,
	);
}

const unlike = (graph: Embedded, n: number) => setLike(graph, n, false);

/** As if all edges that are removed had been so at that time. */
function backdate({ folder, store }: Embedded, us: number): void {
	for (const { table } of store.model.mappings.values()) {
		sqlOn(
			folder,
			/^db/,
			`UPDATE "${table}" SET sequence = ${us} WHERE state = 1`,
		);
	}
}

/** Rows of removed edges, by mapping. */
async function removed({ store, storage }: Embedded) {
	const found: Record<string, number> = {};
	for (const mapping of store.model.mappings.values()) {
		for (const shard of storage.map.shards) {
			for await (const edges of storage.walk("edges", shard, mapping)) {
				const count = edges.filter(({ state }) => state === 1).length;
				if (count > 0) found[mapping.name] = (found[mapping.name] ?? 0) + count;
			}
		}
	}
	return found;
}

async function purgeAll(graph: Pick<Embedded, "store" | "storage">) {
	for (const shard of graph.storage.map.shards) {
		await purgeEdges.start(started({ shard }), {
			store: graph.store,
			jobs: { enqueueAll: () => assert.fail("it plans nothing") },
		});
	}
}

function started(
	body: JsonObject,
	checkpoint: StartedJob["checkpoint"] = async () => {},
): StartedJob {
	return {
		id: "",
		body: JSON.stringify(body),
		attempt: 1,
		allowed: 1,
		signal: new AbortController().signal,
		checkpoint,
	};
}

const YOUNG = { likePin: 1, "likePin.inverse": 1 };

describe("the purge of removed edges", () => {
	it("deletes those that were removed more than a week ago, on both sides, and no others", async () => {
		await using graph = await world();
		assert.deepEqual(await removed(graph), {
			likePin: 3,
			"likePin.inverse": 3,
			placePin: 1,
			ownPin: 1,
		});
		await purgeAll(graph);
		assert.deepEqual(await removed(graph), YOUNG);
		assert.ok((await verify(graph.cold())).clean);
	});

	it("is clean wherever between two writes its process dies, and ends the same", async () => {
		let deaths = 0;
		for (;;) {
			const death = new Death(deaths + 1);
			await using graph = await world({
				wrap: (storage) => death.of(storage),
			});
			death.isNear = true;
			await purgeAll(graph).catch((error) =>
				assert.match(String(error), /died here/),
			);
			if (!death.hasCome) break;
			deaths++;
			death.isNear = false;
			assert.deepEqual((await verify(graph.cold())).damage, []);
			await purgeAll({ ...graph, store: graph.cold() });
			assert.deepEqual(await removed(graph), YOUNG);
		}
		assert.ok(deaths >= 6, `expected many deaths but got: ${deaths}`);
	});

	it("leaves an edge that can be made and removed again, also if a process died between its two sides", async () => {
		for (const nth of [3, 1_000]) {
			const death = new Death(nth);
			await using graph = await world({
				wrap: (storage) => death.of(storage),
			});
			death.isNear = true;
			await purgeAll(graph).catch(() => {});
			death.isNear = false;
			const store = graph.cold();
			for (const n of [1, 2, 3]) await setLike({ ...graph, store }, n, true);
			assert.ok((await verify(graph.cold())).clean);
			for (const n of [1, 2, 3]) await setLike({ ...graph, store }, n, false);
			assert.ok((await verify(graph.cold())).clean);
		}
	});

	it("waits for entries that were written before the edge was removed", async () => {
		await using graph = await world();
		await graph.storage.transact({
			shard: 1,
			decide: () => ({ result: null, outboxEntry: { edges: [] } }),
		});
		sqlOn(graph.folder, /^db00001/, `UPDATE outbox SET ts = ${DAYS_US(9)}`);
		const before = await removed(graph);
		await purgeAll(graph);
		assert.deepEqual(await removed(graph), before);
	});

	it("is planned each day: a job for each shard, and the next plan, each under a key", async () => {
		await using graph = await world();
		const keys: unknown[] = [];
		const unlisted: boolean[] = [];
		await purgeEdges.start(started({}), {
			store: graph.store,
			jobs: {
				async enqueueAll(_, jobs) {
					keys.push(...jobs.map(({ key }) => key));
					unlisted.push(
						...jobs.map(({ body }) => Object(body).unlisted === true),
					);
				},
			},
		});
		assert.deepEqual(keys, [
			"shard 0",
			"shard 1",
			"shard 2",
			"shard 3",
			"plan",
		]);
		// At most one of the four shards has its turn today: each has its day of the week.
		assert.ok(unlisted.filter(Boolean).length <= 1, `${unlisted}`);
	});

	it("is not undone by a process that was paused with an entry since before", async (t) => {
		await using graph = await world();
		const [from, to] = [await idIn(graph, "u:bob"), await idIn(graph, "p:1")];
		const late = new WritePipeline(
			graph.store.with({
				storage: new Proxy(graph.storage, {
					get(target, name) {
						const value: unknown = Reflect.get(target, name, target);
						if (typeof value !== "function") return value;
						return (...given: unknown[]) => {
							// It is paused here, for eight days.
							if (name === "transact") t.mock.timers.tick(8 * 86_400_000);
							return value.apply(target, given);
						};
					},
				}),
			}),
		);
		await purgeAll(graph);
		t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
		const { failures } = await deliverEntries(late, [
			{
				shard: 0,
				local: 999,
				entry: {
					edges: [
						{
							mapping: "likePin.inverse",
							from: to,
							to: from,
							state: 0,
							version: 1,
							sequence: 5,
						},
					],
				},
			},
		]);
		assert.match(String([...failures.values()]), /was paused/);
		t.mock.timers.reset();
		assert.deepEqual(await removed(graph), YOUNG);
		assert.ok((await verify(graph.cold())).clean);
	});
});
