import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { deliverPending } from "../../src/graph/outbox/deliverPending.ts";
import { ARCHIVE_QUEUE } from "../../src/graph/write/archiveJobs.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import type { Id } from "../../src/id/ids.ts";
import { archive } from "../../src/ops/jobs/archive.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import { PRIORITIES } from "../../src/queue/jobStore.ts";
import { until } from "../helpers/until.ts";
import {
	type Addresses,
	type Fleet,
	openProcess,
	type Process,
	startFleet,
} from "./fleet.ts";
import { startRemote } from "./remote.ts";
import { makeUser } from "./subjects.ts";

/** docs/consistency.md "Jobs of a write". */
describe("a write that leaves a job, killed", () => {
	let fleet: Fleet;
	let addresses: Addresses;
	let other: Process;
	let owner: Id;
	before(async () => {
		fleet = await startFleet();
		const { topology } = fleet.addresses;
		const primary = topology.shards[0]?.primary as string;
		const queues = [{ range: [0, 1] as const, primary }];
		addresses = { ...fleet.addresses, topology: { ...topology, queues } };
		other = await openProcess(addresses, { cacheBytes: 0 });
		await other.queue?.store.createTables();
		for (const shard of [0, 1]) {
			await other.queue?.store.put(shard, {
				name: ARCHIVE_QUEUE,
				settings: {},
				version: 0,
			});
		}
		owner = await makeUser(other, "owner", 0);
	});
	after(async () => {
		await other[Symbol.asyncDispose]();
		await fleet[Symbol.asyncDispose]();
	});

	const newBoard = () =>
		other.make("Board", { user_id: owner, name: "one", secret: false });

	/** Jobs for that board, on all shards of the queue. */
	async function jobsFor(board: Id): Promise<readonly string[]> {
		const store = other.queue?.store;
		assert.ok(store !== undefined);
		const found: string[] = [];
		for (const shard of store.shards) {
			for (const priority of PRIORITIES) {
				const { jobs } = await store.scan(
					{ queue: ARCHIVE_QUEUE, shard },
					{ state: "pending", priority, matching: board, limit: 1_000 },
				);
				found.push(...jobs.map(({ local }) => local));
			}
		}
		return found;
	}

	async function killAt(
		step: string,
		job: "by outbox" | "before" | "after",
	): Promise<{ isDeleted: boolean; jobs: number }> {
		const board = await newBoard();
		await using writer = await startRemote({
			addresses,
			as: "ours",
			channel: false,
		});
		const reached = writer.send({ do: "reach", step });
		const removing = writer.send({ do: "remove", id: board, job });
		await reached;
		await writer.kill();
		await removing;
		await until("the outbox to be empty", async () => {
			await deliverPending(new WritePipeline(other.store), 0);
			const query = { olderThanMs: 0, includeDelayed: true, limit: 1 };
			return (await other.storage.pendingEntries(query)).length === 0;
		});
		const content = await other.object(board);
		const jobs = await jobsFor(board);
		return { isDeleted: content?.active === false, jobs: jobs.length };
	}

	for (const [step, isCommitted] of [
		["transacting", false],
		["committed", true],
		["enqueuing jobs", true],
		["enqueued jobs", true],
	] as const) {
		it(`has one job if and only if it was committed, at: ${step}`, async () => {
			assert.deepEqual(await killAt(step, "by outbox"), {
				isDeleted: isCommitted,
				jobs: isCommitted ? 1 : 0,
			});
		});
	}

	it("has a job without a write where the job is enqueued before it", async () => {
		assert.deepEqual(await killAt("transacting", "before"), {
			isDeleted: false,
			jobs: 1,
		});
	});

	it("has a write without a job where the job is enqueued after it", async () => {
		assert.deepEqual(await killAt("committed", "after"), {
			isDeleted: true,
			jobs: 0,
		});
	});

	it("is archived from the lists of others too, which shared caches have, and verify finds nothing", async () => {
		const board = await newBoard();
		const fan = await makeUser(other, "fan", 1);
		const pins: Id[] = [];
		for (let n = 0; n < 3; n++) {
			pins.push(await other.make("Pin", { board_id: board, user_id: owner }));
			await other.writes.setEdge(
				other.mapping("likePin"),
				fan,
				pins[n] as Id,
				true,
			);
		}
		await other.writes.setEdge(other.mapping("followBoard"), fan, board, true);
		assert.equal((await other.head("likePin", fan)).count, 3);
		await other.writes.remove(board);
		const context = { store: other.store };
		const run = (ids: readonly Id[]) =>
			archive.start(
				{
					id: "",
					body: JSON.stringify({ ids }),
					attempt: 1,
					allowed: 1,
					signal: new AbortController().signal,
					async checkpoint() {},
				},
				context,
			);
		await run([board]);
		await run(pins);
		await other.store.jobs?.deliveries.flush();
		assert.equal((await other.head("likePin", fan)).count, 0);
		assert.equal((await other.head("followBoard", fan)).count, 0);
		assert.equal((await other.head("placePin", board)).count, 0);
		assert.deepEqual((await verify(other.store)).damage, []);
	});
});
