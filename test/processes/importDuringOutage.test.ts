import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deliverPending } from "../../src/graph/outbox/deliverPending.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import type { ImportReport } from "../../src/ops/import/importLines.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import { ada, board, bob, like, pin } from "../helpers/importedGraph.ts";
import { importAll } from "../helpers/importing.ts";
import { type Fleet, openProcess, startFleet } from "./fleet.ts";

/** The deadline of production. */
const CACHE_DEADLINE_MS = 100;
const BATCHES = 3;
const PINS_PER_BATCH = 100;
/** A batch has 6,000 lines, of which empty ones cost nothing. */
const EMPTY_LINES_PER_PIN = 57;
const FOLLOW = { edge: "followUser", from: "u:ada", to: "u:bob" };

/** Three batches, each with a user, and pins and edges on both shards. */
function* lines(onBatch: (nth: number) => void): Generator<unknown> {
	yield* [ada, bob, board, FOLLOW];
	for (let nth = 0; nth < BATCHES; nth++) {
		onBatch(nth);
		// Becomes active when its name is reserved: a change of an object that memcached may hold.
		yield {
			type: "User",
			key: `u:${nth}`,
			fields: { username: `batch_${nth}` },
		};
		for (let n = 0; n < PINS_PER_BATCH; n++) {
			const number = nth * PINS_PER_BATCH + n;
			yield pin(number);
			yield like("u:ada", `p:${number}`);
			yield like("u:bob", `p:${number}`);
			for (let n = 0; n < EMPTY_LINES_PER_PIN; n++) yield "";
		}
	}
}

/** docs/consistency.md "7. Import". */
describe("an import during which a shared cache stops answering", () => {
	for (const [what, serverOf] of [
		["memcached", ({ memcached }: Fleet) => memcached],
		["Redis", ({ redis }: Fleet) => redis],
	] as const) {
		for (const how of ["hangs", "is killed"] as const) {
			it(`goes on when ${what} ${how}, and what is pending is delivered when it is back`, async () => {
				await using fleet = await startFleet();
				await using process = await openProcess(fleet.addresses, {
					channel: true,
					cacheDeadlineMs: CACHE_DEADLINE_MS,
				});
				const server = serverOf(fleet);
				const stop = async () =>
					how === "hangs" ? server.pause() : server.kill();
				let stopping: Promise<unknown> = Promise.resolve();
				const { report, bad } = await importAll(
					process,
					lines((nth) => {
						if (nth === 1) stopping = Promise.resolve(stop());
					}),
				);
				await stopping;
				try {
					assert.deepEqual(bad, []);
					const { status, objects, edges }: ImportReport = report;
					assert.deepEqual(
						{ status, objects, edges },
						{
							status: "finished",
							objects: {
								User: 2 + BATCHES,
								Board: 1,
								Pin: BATCHES * PINS_PER_BATCH,
							},
							edges: {
								followUser: 1,
								likePin: 2 * BATCHES * PINS_PER_BATCH,
							},
						},
					);
					assert.ok(report.pending > 0);
					const again = await importAll(process, [bob, FOLLOW]);
					assert.equal(again.report.existing, 2, "the next run begins too");
				} finally {
					if (how === "hangs") server.resume();
					else await server.restart();
				}
				await using fresh = await openProcess(fleet.addresses);
				const writer = new WritePipeline(fresh.store);
				assert.equal((await deliverPending(writer, 0)).undelivered, 0);
				const { clean, damage, pendingEntries } = await verify(fresh.store);
				assert.deepEqual(
					{ clean, damage, pendingEntries },
					{ clean: true, damage: [], pendingEntries: 0 },
				);
			});
		}
	}
});
