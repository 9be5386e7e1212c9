import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import { openPools } from "../../src/feed/pools/openPools.ts";
import { packId } from "../../src/id/ids.ts";
import { createQueue } from "../../src/queue/admin/queueAdmin.ts";
import { hourOf } from "../../src/queue/bucket.ts";
import { newLocalId } from "../../src/queue/jobId.ts";
import { openJobs } from "../../src/queue/openJobs.ts";
import { topologyOn } from "../helpers/storageModel.ts";
import { startMysql } from "../services/mysql.ts";
import type { Server } from "../services/server.ts";

let server: Server;
before(async () => {
	server = await startMysql();
});
after(() => server[Symbol.asyncDispose]());

describe("queues and pools of home feeds", () => {
	it("refuse a write where the topology names another primary, and store nothing", async () => {
		await using resources = new AsyncDisposableStack();
		const range = [{ range: [0, 0] as const, primary: server.url }];
		const topology = {
			...topologyOn(server.url),
			queues: range,
			pools: range,
		};
		let reason: string | null = null;
		const asked: string[] = [];
		const writeGuard = {
			begin() {},
			refusal(host: string) {
				asked.push(host);
				return reason;
			},
		};
		const queues = await openJobs(
			{ topology, redis: null, queues: [], writeGuard },
			resources,
		);
		const pools = await openPools(topology, true, { writeGuard });
		assert.ok(queues && pools);
		resources.use(pools);
		await queues.store.createTables();
		await createQueue(queues.store, "guarded");
		await pools.createTables();

		const place = { queue: "guarded", shard: 0 };
		const now = Date.now() * 1_000;
		const times = { due: now, createdAt: now, bucket: hourOf(now) };
		const enqueue = () =>
			queues.store.enqueue(place, [
				{
					...times,
					local: newLocalId(),
					priority: 3,
					allowed: 1,
					key: null,
					body: "{}",
				},
			]);
		const user = packId({ shard: 0, type: 3, local: 2 ** 30 + 1 });
		const visit = () => pools.noteVisit(user, { visitedAt: 2 });
		await enqueue();
		reason = "Version 2 of the topology names no such primary.";
		const refused = (thrown: unknown) =>
			thrown instanceof CorkboardError && thrown.details.kind === "readOnly";
		await assert.rejects(enqueue(), refused);
		await assert.rejects(visit(), refused);
		reason = null;
		const { jobs } = await queues.store.scan(place, {
			state: "pending",
			priority: 3,
			limit: 10,
		});
		assert.equal(jobs.length, 1);
		await visit();
		assert.deepEqual(new Set(asked), new Set([new URL(server.url).host]));
	});
});
