import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { recount } from "../../../src/ops/jobs/recount.ts";
import { verifyShards } from "../../../src/ops/jobs/verifyShards.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import { GiveUp, type StartedJob } from "../../../src/queue/job.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import type { Embedded } from "../../helpers/embedded.ts";
import { bits, onShards, smallGraph } from "../../helpers/verifying.ts";

/** One start of a job; `bodies` are its checkpoints. `cutAfter`: its claim is lost at that checkpoint. */
function start(body: JsonObject, bodies: JsonObject[] = [], cutAfter = 1_000) {
	return {
		id: "",
		body: JSON.stringify(body),
		attempt: 1,
		allowed: 1,
		signal: new AbortController().signal,
		async checkpoint({ body }) {
			bodies.push(JSON.parse(String(body)));
			if (bodies.length === cutAfter) throw new Error("cut off");
		},
	} satisfies StartedJob;
}

const jobs = { enqueueAll: () => assert.fail("nothing to enqueue") };

async function damageOf(graph: Embedded) {
	return (await verify(graph.cold())).damage.map(({ kind }) => kind);
}

describe("the job that counts lists again", () => {
	it("repairs wrong counts of its shard, also where it goes on after it was cut off", async () => {
		await using graph = await smallGraph();
		onShards(graph, "UPDATE lists SET count = count + 3");
		assert.deepEqual(await damageOf(graph), ["wrong count"]);
		for (const shard of graph.storage.map.shards) {
			const bodies: JsonObject[] = [];
			let body: JsonObject = { shard };
			// Each start is cut off at its first checkpoint.
			for (let starts = 0; starts < 200; starts++) {
				try {
					await recount.start(start(body, bodies, bodies.length + 1), graph);
					break;
				} catch (error) {
					assert.match(String(error), /cut off/);
					body = bodies.at(-1) as JsonObject;
				}
			}
		}
		assert.deepEqual(await damageOf(graph), []);
	});
});

describe("the job that verifies shards", () => {
	const all = ({ storage }: Embedded) => ({
		modShards: Array.from({ length: storage.map.modShards }, (_, n) => n),
		shards: [...storage.map.shards],
	});

	it("finds damage of its shards alone, and fails with what remains", async () => {
		await using graph = await smallGraph();
		const pin = await bits(graph, "p:1");
		onShards(graph, "DELETE FROM pin_liked_by_users WHERE from_id = ?", pin);
		const { shards } = all(graph);
		const failing: number[] = [];
		for (const shard of shards) {
			const body = { modShards: [], shards: [shard], repair: false };
			try {
				await verifyShards.start(start(body), { ...graph, jobs });
			} catch (error) {
				assert.ok(error instanceof GiveUp);
				assert.match(error.message, /without their inverse edge/);
				failing.push(shard);
			}
		}
		assert.ok(failing.length > 0 && failing.length < shards.length);
	});

	it("repairs with the same care as the command, and goes on where it was cut off", async () => {
		await using graph = await smallGraph();
		const pin = await bits(graph, "p:1");
		onShards(graph, "DELETE FROM pin_liked_by_users WHERE from_id = ?", pin);
		onShards(graph, "UPDATE lists SET count = count + 3");
		const bodies: JsonObject[] = [];
		const body = { ...all(graph), repair: true };
		await assert.rejects(
			verifyShards.start(start(body, bodies, 4), { ...graph, jobs }),
			/cut off/,
		);
		const left = bodies.at(-1) as JsonObject;
		assert.deepEqual(left.modShards, body.modShards.slice(4));
		// What a later shard repairs may have been damage of an earlier one.
		await verifyShards.start(start(left, bodies), { ...graph, jobs });
		await verifyShards.start(start(body, bodies), { ...graph, jobs });
		assert.deepEqual(await damageOf(graph), []);
	});
});
