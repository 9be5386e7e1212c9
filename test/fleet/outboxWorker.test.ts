import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { CHANNELS, type Statement } from "../../src/diagnostics.ts";
import { readDatabaseLease } from "../../src/graph/outbox/databaseLease.ts";
import {
	deliverPending,
	OutboxWorker,
} from "../../src/graph/outbox/outboxWorker.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import { PRESENT, type Storage } from "../../src/storage/storage.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { until } from "../helpers/until.ts";
import { type Fleet, openProcess, startFleet } from "./fleet.ts";
import { makePin } from "./subjects.ts";

const LEASE = { name: "lease", key: "outbox" };

describe("the outbox workers of a fleet", () => {
	let fleet: Fleet;
	before(async () => {
		fleet = await startFleet();
	});
	after(() => fleet[Symbol.asyncDispose]());

	/** An entry that nobody else delivers. */
	async function enqueue(storage: Storage): Promise<() => Promise<boolean>> {
		await using process = await openProcess(fleet.addresses);
		const pin = await makePin(process, {}, 1);
		const mapping = process.mapping("repin");
		const edge = { mapping, from: pin, to: pin };
		await process.storage.transact({
			shard: 0,
			decide: () => ({
				result: null,
				outboxEntry: {
					edges: [
						{
							mapping: mapping.name,
							from: pin,
							to: pin,
							state: PRESENT,
							version: 1,
							sequence: 1,
						},
					],
				},
			}),
		});
		return async () => (await storage.readEdges([edge]))[0] !== null;
	}

	/** A process that counts how often it reads pending entries. */
	async function counting() {
		let looks = 0;
		const process = await openProcess(fleet.addresses, {
			overrides: {
				storage: (storage) =>
					Object.assign(Object.create(storage), {
						pendingEntries: (
							...asked: Parameters<Storage["pendingEntries"]>
						) => {
							looks++;
							return storage.pendingEntries(...asked);
						},
					}),
			},
		});
		return { process, looks: () => looks };
	}

	it("run one at a time, and another takes over when it ends", async () => {
		const [a, b] = [await counting(), await counting()];
		await using _a = a.process;
		await using _b = b.process;
		const first = new OutboxWorker(new WritePipeline(a.process.store));
		await until("the first to run a pass", () => a.looks() > 0);
		const second = new OutboxWorker(new WritePipeline(b.process.store));
		try {
			const before = a.looks();
			await until("further passes", () => a.looks() > before + 3);
			assert.equal(b.looks(), 0);
			const isDelivered = await enqueue(b.process.storage);
			await first[Symbol.asyncDispose]();
			await until("the second to deliver", isDelivered);
			assert.ok(b.looks() > 0);
		} finally {
			await second[Symbol.asyncDispose]();
		}
		assert.equal(await readDatabaseLease(b.process.storage, LEASE), null);
	});

	it("activate many users in as many statements as two", async () => {
		await using process = await openProcess(fleet.addresses);
		const { storage, store } = process;
		const statements = async (count: number) => {
			for (let n = 0; n < count; n++) {
				const username = `waits_${count}_${n}`;
				const tokens = { username: "n" };
				const data = { username, tokens, state: "pending", version: 1 };
				await storage.transact({
					shard: 0,
					creates: [{ type: "User", data }],
					decide: ({ created }) => ({
						result: null,
						outboxEntry: { pendingObjects: created },
					}),
				});
			}
			const statementsSent = await publishedDuring<Statement>(
				CHANNELS.statement,
				async () => {
					assert.deepEqual(await deliverPending(new WritePipeline(store), 0), {
						delivered: count,
						undelivered: 0,
					});
				},
			);
			return statementsSent.map(({ name }) => name);
		};
		await deliverPending(new WritePipeline(store), 0);
		const many = await statements(50);
		assert.deepEqual(many, await statements(2));
	});

	it("deliver also when the lease's own shard does not answer", async () => {
		await using process = await openProcess(fleet.addresses);
		const isDelivered = await enqueue(process.storage);
		const down: Pick<Storage, "readLookups"> = {
			readLookups: async () => {
				throw new Error("the mod shard does not answer");
			},
		};
		const storage = Object.assign(Object.create(process.storage), down);
		await using worker = new OutboxWorker(
			new WritePipeline({ ...process.store, storage }),
		);
		assert.ok(worker);
		await until("delivery", isDelivered);
	});
});
