import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { deliverPending } from "../../../src/graph/outbox/deliverPending.ts";
import {
	type EntryOfJobs,
	JobDeliveries,
} from "../../../src/graph/store/jobDeliveries.ts";
import type { OutboxDeletions } from "../../../src/graph/store/outboxDeletions.ts";
import { WritePipeline } from "../../../src/graph/write/pipeline.ts";
import type { Id } from "../../../src/id/ids.ts";
import { archive } from "../../../src/ops/jobs/archive.ts";
import { purgeEdges } from "../../../src/ops/jobs/purgeEdges.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import { Death } from "../../helpers/death.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import {
	ada,
	board,
	bob,
	contentOf,
	idOf,
	like,
	listOf,
	pin,
} from "../../helpers/importedGraph.ts";
import { importAll } from "../../helpers/importing.ts";
import { MemoryQueue } from "../../helpers/memoryQueue.ts";
import { until } from "../../helpers/until.ts";

const cid = {
	type: "User",
	key: "u:cid",
	fields: { username: "cid", name: "Cid" },
};
const comment = (key: string, author: string, pin: string) => ({
	type: "Comment",
	key,
	fields: { author, pin, text: "Nice" },
});

/** Ada's board b:1 with three pins, of which others have likes, a comment and a repin on Bob's board b:2. */
const LINES = [
	{ type: "Interest", key: "i:1", fields: { slug: "art", name: "Art" } },
	ada,
	bob,
	cid,
	board,
	{ ...board, key: "b:2", fields: { owner: "u:bob", name: "Two" } },
	{ type: "Section", key: "s:1", fields: { board: "b:1", name: "Part" } },
	pin(1),
	pin(2, { section: "s:1" }),
	pin(3),
	pin(4, { board: "b:2", origin: "p:1", owner: "u:bob" }),
	comment("c:1", "u:bob", "p:1"),
	comment("c:2", "u:ada", "p:4"),
	{ edge: "filePin", from: "p:1", to: "i:1" },
	{ edge: "filePin", from: "p:4", to: "i:1" },
	like("u:bob", "p:1"),
	like("u:cid", "p:1"),
	like("u:cid", "p:2"),
	like("u:ada", "p:4"),
	{ edge: "followBoard", from: "u:bob", to: "b:1" },
	{ edge: "followBoard", from: "u:cid", to: "b:1" },
	{ edge: "followBoard", from: "u:cid", to: "b:2" },
	{ edge: "followUser", from: "u:ada", to: "u:bob" },
	{ edge: "followUser", from: "u:bob", to: "u:ada" },
	{ edge: "collaborate", from: "b:1", to: "u:cid" },
];

const folders = mkdtempSync(join(tmpdir(), "corkboard-archive-"));
const IMPORTED = join(folders, "imported");
let opened = 0;
before(async () => {
	mkdirSync(IMPORTED);
	await using graph = await openEmbedded({ folder: IMPORTED, shards: 4 });
	const { bad } = await importAll(graph, LINES);
	assert.deepEqual(bad, []);
});
after(() => rmSync(folders, { recursive: true, force: true }));

/** The imported graph, in a folder of its own. */
async function world(options: Parameters<typeof openEmbedded>[0] = {}) {
	const queue = new MemoryQueue();
	const folder = join(folders, String(opened++));
	cpSync(IMPORTED, folder, { recursive: true });
	const graph = await openEmbedded({
		jobQueue: queue,
		folder,
		shards: 4,
		...options,
	});
	return { graph, queue };
}

async function idIn(graph: Embedded, key: string): Promise<Id> {
	return (await idOf(graph, key)) as Id;
}

/** How many edges lists of others count. */
async function counts(graph: Embedded) {
	const of = async (mapping: string, key: string) =>
		(await listOf(graph, mapping, key)).list.count;
	return {
		"boards of Ada": await of("ownBoard", "u:ada"),
		"pins of Ada": await of("ownPin", "u:ada"),
		"pins of Bob": await of("ownPin", "u:bob"),
		"boards Cid follows": await of("followBoard", "u:cid"),
		"boards shared with Cid": await of("collaborate.inverse", "u:cid"),
		"likes of Cid": await of("likePin", "u:cid"),
		"followers of Bob": await of("followUser.inverse", "u:bob"),
		"pins under Art": await of("filePin.inverse", "i:1"),
		"comments on Bob's pin": await of("commentPin", "p:4"),
		"likes of Bob's pin": await of("likePin.inverse", "p:4"),
	};
}

const BEFORE = {
	"boards of Ada": 1,
	"pins of Ada": 3,
	"pins of Bob": 1,
	"boards Cid follows": 2,
	"boards shared with Cid": 1,
	"likes of Cid": 2,
	"followers of Bob": 1,
	"pins under Art": 2,
	"comments on Bob's pin": 1,
	"likes of Bob's pin": 1,
};

/** After b:1 was deleted and archived. */
const WITHOUT_BOARD = {
	...BEFORE,
	"boards of Ada": 0,
	"pins of Ada": 0,
	"boards Cid follows": 1,
	"boards shared with Cid": 0,
	"likes of Cid": 0,
	"pins under Art": 1,
};

async function assertClean(graph: Embedded): Promise<void> {
	const report = await verify(graph.cold());
	assert.deepEqual(report.damage, []);
	assert.ok(report.clean);
}

async function allEnqueued({ store, storage }: Embedded): Promise<void> {
	await store.jobs?.deliveries.flush();
	await store.outboxDeletions.flush();
	const pending = await storage.pendingEntries({ olderThanMs: 0, limit: 10 });
	assert.deepEqual(pending, []);
}

describe("the archive of a deleted board", () => {
	it("removes its edges, its pins and theirs, from the lists of others too, and is clean after each batch", async () => {
		const { graph, queue } = await world();
		await using _ = graph;
		await graph.writes.remove(await idIn(graph, "b:1"));
		assert.deepEqual(await counts(graph), { ...BEFORE, "boards of Ada": 0 });
		await allEnqueued(graph);
		assert.equal(queue.jobs.size, 1);
		await queue.run(archive, graph, async () => assertClean(graph));
		await allEnqueued(graph);
		assert.deepEqual(await counts(graph), WITHOUT_BOARD);
		for (const key of ["p:1", "p:2", "p:3", "s:1"]) {
			assert.equal((await contentOf(graph, key)).active, false, key);
		}
		// Bob's pin still names what it was saved from.
		assert.equal((await contentOf(graph, "p:4")).active, undefined);
		assert.equal((await listOf(graph, "repin", "p:1")).list.count, 1);
		await assertClean(graph);
	});

	it("has deleted what is kept of the objects outside the graph", async () => {
		const { graph, queue } = await world();
		await using _ = graph;
		const gone = await idIn(graph, "b:1");
		await graph.writes.remove(gone);
		await allEnqueued(graph);
		const forgotten: Id[] = [];
		const forget = async (id: Id) => void forgotten.push(id);
		await queue.run(archive, { store: graph.store, forget });
		assert.deepEqual(forgotten.slice(0, 1), [gone]);
	});

	it("leaves a job that is due when writes that began before have ended", async () => {
		const { graph, queue } = await world();
		await using _ = graph;
		const now = Date.now();
		await graph.writes.remove(await idIn(graph, "b:1"));
		await allEnqueued(graph);
		const [job] = [...queue.jobs.values()];
		assert.ok(job !== undefined && job.due >= (now + 10_000) * 1_000);
		// Deleting it again deletes nothing.
		await graph.writes.remove(await idIn(graph, "b:1"));
		await allEnqueued(graph);
		assert.equal(queue.jobs.size, 1);
	});

	it("leaves a pin that was moved to another board", async () => {
		const { graph, queue } = await world();
		await using _ = graph;
		const [from, to, moved] = await Promise.all(
			["b:1", "b:2", "p:1"].map((key) => idIn(graph, key)),
		);
		await graph.writes.remove(from as Id);
		// As a move does that read the pin before its board was deleted.
		await graph.writes.modify(moved as Id, (data) => ({
			...data,
			board_id: to as Id,
		}));
		await allEnqueued(graph);
		await queue.run(archive, graph);
		assert.equal((await contentOf(graph, "p:1")).active, undefined);
		assert.equal((await listOf(graph, "likePin.inverse", "p:1")).list.count, 2);
		await assertClean(graph);
	});

	it("ends in the same graph wherever between two writes its process dies, clean at each death", async () => {
		let deaths = 0;
		for (;;) {
			const death = new Death(deaths + 1);
			const { graph, queue } = await world({
				wrap: (storage) => death.of(storage),
			});
			await using _ = graph;
			const owner = await idIn(graph, "b:1");
			await graph.writes.remove(owner);
			await allEnqueued(graph);
			death.isNear = true;
			await queue.run(archive, graph).catch((error) => {
				assert.match(String(error), /died here/);
			});
			await graph.store.jobs?.deliveries.flush();
			await graph.store.outboxDeletions.flush();
			if (!death.hasCome) break;
			deaths++;
			death.isNear = false;
			death.hasCome = false;
			assert.deepEqual(
				(await verify(graph.cold())).damage,
				[],
				`death ${deaths}`,
			);
			// Another process: its outbox worker, and then the job's next attempt.
			const other = { ...graph, store: graph.cold() };
			await deliverPending(new WritePipeline(other.store), 0);
			await queue.run(archive, other);
			await other.store.jobs?.deliveries.flush();
			await deliverPending(new WritePipeline(other.store), 0);
			await queue.run(archive, other);
			await deliverPending(new WritePipeline(other.store), 0);
			assert.deepEqual(await counts(graph), WITHOUT_BOARD, `death ${deaths}`);
			await assertClean(graph);
		}
		assert.ok(deaths > 7, `expected many deaths but got: ${deaths}`);
	});
});

describe("jobs of writes that were committed", () => {
	const entry = (local: number): EntryOfJobs => ({
		shard: 0,
		local,
		jobs: [{ ...newJob({ queue: "archive", body: "{}", allowed: 1 }) }],
	});
	let newJob: Awaited<ReturnType<MemoryQueue["prepare"]>>;
	before(async () => {
		newJob = await new MemoryQueue().prepare();
	});
	const deletions = { add() {} } as unknown as OutboxDeletions;

	it("are enqueued as a repeat where they waited so long that an outbox worker may have been faster", async () => {
		const repeats: boolean[] = [];
		const first = Promise.withResolvers<void>();
		const queue = new MemoryQueue();
		const { enqueue } = queue;
		queue.enqueue = async (jobs, isRepeat) => {
			repeats.push(isRepeat);
			if (repeats.length === 1) await first.promise;
			return enqueue.call(queue, jobs, isRepeat);
		};
		const deliveries = new JobDeliveries(queue, deletions);
		deliveries.add([entry(1)]);
		await until("the first call", () => repeats.length === 1);
		deliveries.add([entry(2)]);
		const { now } = performance;
		performance.now = () => now.call(performance) + 61_000;
		try {
			first.resolve();
			await deliveries.flush();
		} finally {
			performance.now = now;
		}
		assert.deepEqual(repeats, [false, true]);
	});

	it("do not keep a process from ending whose queue does not answer", async () => {
		const queue = new MemoryQueue();
		const ended = Promise.withResolvers<never>();
		let calls = 0;
		queue.enqueue = () => {
			calls++;
			return ended.promise;
		};
		const deliveries = new JobDeliveries(queue, deletions);
		deliveries.add([entry(1)]);
		await until("a call", () => calls === 1);
		deliveries.add([entry(2)]);
		await deliveries[Symbol.asyncDispose]();
		ended.reject(new Error("no answer"));
		await deliveries.flush();
		assert.equal(calls, 1);
	});
});

describe("the archive of a closed account", () => {
	const DAY_MS = 24 * 3_600_000;

	async function close(graph: Embedded, daysAgo: number) {
		await graph.writes.modify(await idIn(graph, "u:ada"), (data) => ({
			...data,
			deactivated_at: new Date(Date.now() - daysAgo * DAY_MS).toISOString(),
		}));
		await allEnqueued(graph);
	}

	it("waits for thirty days, in which it can be opened again as it was", async () => {
		const { graph, queue } = await world();
		await using _ = graph;
		await close(graph, 0);
		const [job] = [...queue.jobs.values()];
		const dueInDays = ((job?.due ?? 0) / 1_000 - Date.now()) / DAY_MS;
		assert.ok(dueInDays > 29.9 && dueInDays < 30.1, `got ${dueInDays}`);
		await queue.run(archive, graph);
		assert.deepEqual(await counts(graph), BEFORE);
	});

	it("leaves an account that was opened again", async () => {
		const { graph, queue } = await world();
		await using _ = graph;
		await close(graph, 31);
		await graph.writes.modify(await idIn(graph, "u:ada"), (data) => ({
			...data,
			deactivated_at: null,
		}));
		await queue.run(archive, graph);
		assert.deepEqual(await counts(graph), BEFORE);
	});

	it("removes its edges, boards and pins afterwards", async () => {
		const { graph, queue } = await world();
		await using _ = graph;
		await close(graph, 31);
		await queue.run(archive, graph);
		await allEnqueued(graph);
		await queue.run(archive, graph);
		assert.deepEqual(await counts(graph), {
			...WITHOUT_BOARD,
			"followers of Bob": 0,
			"likes of Bob's pin": 0,
		});
		await assertClean(graph);
	});

	/** As the plan of a week does, shard by shard. */
	async function purge(graph: Embedded, unlisted = true) {
		for (const shard of graph.storage.map.shards) {
			await purgeEdges.start(
				{
					id: "",
					body: JSON.stringify({ shard, unlisted }),
					attempt: 1,
					allowed: 1,
					signal: new AbortController().signal,
					checkpoint: async () => {},
				},
				{
					store: graph.store,
					jobs: { enqueueAll: () => assert.fail("it plans nothing") },
				},
			);
		}
		await allEnqueued(graph);
	}

	it("takes its comments on pins of others along within a week, and no others", async () => {
		const { graph } = await world();
		await using _ = graph;
		await close(graph, 29);
		await purge(graph);
		assert.deepEqual(await counts(graph), BEFORE);
		await close(graph, 31);
		await purge(graph, false);
		assert.deepEqual(await counts(graph), BEFORE);
		await purge(graph);
		// The pins are for the archive.
		assert.deepEqual(await counts(graph), {
			...BEFORE,
			"comments on Bob's pin": 0,
		});
		assert.equal((await contentOf(graph, "c:2")).active, false);
		assert.equal((await contentOf(graph, "c:1")).active, undefined);
		await assertClean(graph);
		await purge(graph);
		await assertClean(graph);
	});
});

describe("a job of a write", () => {
	it("is enqueued by the outbox worker where the queue did not answer, and once although it is delivered twice", async () => {
		const { graph, queue } = await world();
		await using _ = graph;
		queue.failure = new Error("not now");
		await graph.writes.remove(await idIn(graph, "b:1"));
		await graph.store.jobs?.deliveries.flush();
		assert.equal(queue.jobs.size, 0);
		const [entry] = await graph.storage.pendingEntries({
			olderThanMs: 0,
			limit: 1,
		});
		assert.deepEqual(Object.keys(entry?.entry ?? {}), ["jobs"]);
		assert.equal(
			(await deliverPending(new WritePipeline(graph.store), 0)).undelivered,
			1,
		);
		queue.failure = null;
		await until("the delivery", async () => {
			await deliverPending(new WritePipeline(graph.store), 0);
			return queue.jobs.size === 1;
		});
		await allEnqueued(graph);
		assert.deepEqual([...queue.jobs.keys()], [...new Set(queue.enqueued)]);
	});

	it("is not enqueued without a queue, and its entry waits for one that is configured later", async () => {
		const { graph, queue } = await world();
		await using _ = graph;
		queue.failure = new Error("not now");
		await graph.writes.remove(await idIn(graph, "b:1"));
		await graph.store.jobs?.deliveries.flush();
		const without = new WritePipeline(graph.cold().with({ jobs: null }));
		assert.equal((await deliverPending(without, 0)).undelivered, 1);
		queue.failure = null;
		await deliverPending(new WritePipeline(graph.store), 0);
		assert.equal(queue.jobs.size, 1);
	});
});
