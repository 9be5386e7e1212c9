import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createConnection } from "mysql2/promise";
import { deliverPending } from "../../src/graph/outbox/deliverPending.ts";
import { OutboxWorker } from "../../src/graph/outbox/outboxWorker.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import { type Id, packId } from "../../src/id/ids.ts";
import { STORAGE_CHANNELS } from "../../src/storage/diagnostics.ts";
import { type EdgeKey, PRESENT } from "../../src/storage/rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Statement } from "../../src/trace.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { readsWith, storageWith } from "../helpers/storageWith.ts";
import { collect } from "../helpers/storing.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { until } from "../helpers/until.ts";
import {
	behindPort,
	type Fleet,
	openProcess,
	type Process,
	type ProcessOptions,
	startFleet,
} from "./fleet.ts";
import { both } from "./naive.ts";
import { startRemote } from "./remote.ts";
import { makePin, SUBJECTS } from "./subjects.ts";

/** What an entry takes at most that some process can deliver: its grace period, a pass, and a deadline or two, on a busy machine. Milliseconds. */
const DELIVERED_MS = 30_000;
/** Limits for tests that count statements: none is late on a busy machine. */
const PATIENT_LIMITS = {
	readMs: 60_000,
	writeMs: 60_000,
	rowsMs: 60_000,
} as const;
/** Older than any grace period. Microseconds. */
const LONG_AGO = (Date.now() - 3_600_000) * 1_000;

describe("the outbox workers of a fleet", () => {
	let fleet: Fleet;
	before(async () => {
		fleet = await startFleet({ mysql: 2 });
	});
	after(() => fleet[Symbol.asyncDispose]());

	const worker = (process: Process) =>
		new OutboxWorker(new WritePipeline(process.store));

	/** Resolves when the worker of this process has run a pass: it began before any other worker. */
	async function openWithWorker(
		stack: AsyncDisposableStack,
		options: ProcessOptions = {},
		addresses = fleet.addresses,
	): Promise<Process> {
		let passes = 0;
		const { overrides = {} } = options;
		const process = await openProcess(addresses, {
			limits: { connectMs: 500 },
			...options,
			overrides: {
				...overrides,
				storage: (opened) => {
					const storage = overrides.storage?.(opened) ?? opened;
					return storageWith(storage, {
						read: readsWith(storage, {
							outboxes: (looks) => {
								passes++;
								return storage.read("outboxes", looks);
							},
						}),
					});
				},
			},
		});
		stack.use(process);
		stack.use(worker(process));
		await until("two passes", () => passes >= 2 * fleet.mysql.length);
		return process;
	}

	/** Writes an entry as a writer that ended long ago. */
	async function enqueue(
		storage: Storage,
		shard: number,
		outboxEntry: JsonObject,
	): Promise<{ isDelivered(): Promise<boolean> }> {
		const { outboxKey } = await storage.transact({
			shard,
			decide: () => ({ result: null, outboxEntry }),
		});
		const local = outboxKey?.local ?? 0;
		await sql(
			shard,
			`UPDATE corkboard.outbox SET ts = ts - 60000000 WHERE local_id = ${local}`,
		);
		return {
			async isDelivered() {
				const entries = await outboxOf(storage, shard);
				return entries.every((entry) => entry.local !== local);
			},
		};
	}

	async function sql(shard: number, text: string): Promise<void> {
		const url = fleet.mysql[Math.floor(shard / 2)]?.url ?? "";
		const connection = await createConnection(url);
		try {
			await connection.query(`USE db0000${shard}`);
			await connection.query(text);
		} finally {
			await connection.end();
		}
	}

	const outboxOf = (storage: Storage, shard: number) =>
		collect(storage.walk("outbox", shard));

	/** An edge to apply on a shard, and whether it is there. */
	async function edgeOn(process: Process, shard: number) {
		const pin = await makePin(process, {}, shard);
		const mapping = process.mapping("repin");
		const key: EdgeKey = { mapping, from: pin, to: pin };
		return {
			update: {
				mapping: mapping.name,
				from: pin,
				to: pin,
				state: PRESENT,
				version: 1,
				sequence: 1,
			},
			isApplied: async () =>
				(await process.storage.read("edges", [key]))[0] !== null,
		};
	}

	for (const subject of SUBJECTS) {
		it(`deliver what the process that wrote it and ran first cannot, for as long as it does not reach ${subject.layer}`, async () => {
			await using stack = new AsyncDisposableStack();
			let isCut = false;
			const cutOff = await openWithWorker(stack, {
				overrides: {
					layers: both((cache) =>
						cache.layer === subject.layer
							? {
									...cache,
									delete: async (keys) => !isCut && cache.delete(keys),
								}
							: cache,
					),
				},
			});
			const other = await openWithWorker(stack, { cacheBytes: 0 });
			const id = await subject.make(cutOff);
			const filled = other.pauses.hold(`filled ${subject.layer}`);
			assert.equal(await subject.read(other, id), "old");
			await filled.reached;
			filled.release();
			isCut = true;
			await subject.write(cutOff, id);
			await until(
				"the new value, with the writer still cut off",
				async () => (await subject.read(other, id)) === "new",
				DELIVERED_MS,
			);
			await until(
				"an empty outbox",
				async () => (await outboxOf(other.storage, 0)).length === 0,
				DELIVERED_MS,
			);
		});
	}

	it("deliver what the process that ran first cannot, for as long as it does not reach a MySQL host", async () => {
		await using stack = new AsyncDisposableStack();
		const proxy = stack.use(await TcpProxy.to(fleet.mysql[1]?.port ?? 0));
		const cutOff = await openWithWorker(
			stack,
			{},
			behindPort(fleet, proxy.port),
		);
		const other = await openWithWorker(stack);
		const edge = await edgeOn(other, 2);
		proxy.cut();
		const entry = await enqueue(cutOff.storage, 0, { edges: [edge.update] });
		await until("delivery", entry.isDelivered, DELIVERED_MS);
		assert.ok(await edge.isApplied());
	});

	it("deliver each the part that it can, where no process reaches all hosts of an entry", async () => {
		await using stack = new AsyncDisposableStack();
		const proxy = stack.use(await TcpProxy.to(fleet.mysql[1]?.port ?? 0));
		const reader = stack.use(
			await openProcess(fleet.addresses, { cacheBytes: 0 }),
		);
		const edge = await edgeOn(reader, 2);
		const pin = await makePin(reader, { details: "old" }, 0);
		const filled = reader.pauses.hold("filled memcached");
		await reader.object(pin);
		await filled.reached;
		filled.release();
		// Past the caches: memcached has the old content.
		await reader.storage.transact({
			shard: 0,
			objects: [pin],
			decide: () => ({
				result: null,
				objects: [{ id: pin, data: { details: "new", version: 2 } }],
			}),
		});
		assert.equal((await reader.object(pin))?.details, "old");
		proxy.cut();
		await openWithWorker(stack, {}, behindPort(fleet, proxy.port));
		await openWithWorker(stack, {
			overrides: {
				layers: both((cache) =>
					cache.layer === "memcached"
						? { ...cache, delete: async () => false }
						: cache,
				),
			},
		});
		const entry = await enqueue(reader.storage, 0, {
			edges: [edge.update],
			invalidations: { objects: [pin], lists: [] },
		});
		await until("delivery", entry.isDelivered, DELIVERED_MS);
		assert.ok(await edge.isApplied());
		assert.equal((await reader.object(pin))?.details, "new");
	});

	it("deliver what a process took and froze with, and the process that wakes up later changes nothing", async () => {
		await using stack = new AsyncDisposableStack();
		const frozen = Promise.withResolvers<void>();
		const taken = Promise.withResolvers<void>();
		stack.defer(() => frozen.resolve());
		const reader = stack.use(await openProcess(fleet.addresses));
		const sleeper = await openProcess(fleet.addresses, {
			overrides: {
				storage: (storage) =>
					storageWith(storage, {
						async takeEntries(entries, time) {
							const keys = await storage.takeEntries(entries, time);
							if (keys.length > 0) {
								taken.resolve();
								await frozen.promise;
							}
							return keys;
						},
					}),
			},
		});
		stack.use(sleeper);
		const edge = await edgeOn(reader, 1);
		const entry = await enqueue(reader.storage, 0, { edges: [edge.update] });
		const sleeping = worker(sleeper);
		await taken.promise;
		await openWithWorker(stack);
		await until("delivery by another", entry.isDelivered, DELIVERED_MS);
		assert.ok(await edge.isApplied());
		frozen.resolve();
		await sleeping[Symbol.asyncDispose]();
		assert.ok(await edge.isApplied());
		assert.deepEqual(await outboxOf(reader.storage, 0), []);
	});

	it("deliver what a process took before it was killed", async () => {
		await using stack = new AsyncDisposableStack();
		const reader = stack.use(await openProcess(fleet.addresses));
		const edge = await edgeOn(reader, 1);
		const entry = await enqueue(reader.storage, 0, { edges: [edge.update] });
		const killed = stack.use(
			await startRemote({
				addresses: fleet.addresses,
				as: "ours",
				channel: false,
			}),
		);
		await killed.send({ do: "take" });
		await killed.kill();
		const [row] = await outboxOf(reader.storage, 0);
		assert.ok((row?.nextAttemptAt ?? 0) > 0, "it was taken");
		assert.ok(!(await edge.isApplied()), "and not delivered");
		await openWithWorker(stack);
		await until("delivery", entry.isDelivered, DELIVERED_MS);
		assert.ok(await edge.isApplied());
	});

	it("deliver a thousand entries with about as many statements as one of them", async () => {
		await using stack = new AsyncDisposableStack();
		const workers: Process[] = [];
		for (let n = 0; n < 3; n++) {
			const options = { limits: PATIENT_LIMITS };
			workers.push(stack.use(await openProcess(fleet.addresses, options)));
		}
		const [first] = workers as [Process];
		const deliveredBy = async (count: number, version: number) => {
			const edges: JsonObject[] = [];
			for (let n = 0; n < 1_000; n++) {
				edges.push({
					mapping: "repin",
					from: pinOn(1, n),
					to: pinOn(1, n),
					state: PRESENT,
					version,
					sequence: 1,
				});
			}
			const rows = edges.map(
				(edge) => `('${JSON.stringify({ edges: [edge] })}', ${LONG_AGO}, 0)`,
			);
			await sql(
				0,
				`INSERT INTO corkboard.outbox (entry, ts, shard) VALUES ${rows.join()}`,
			);
			const statements = await publishedDuring<Statement>(
				STORAGE_CHANNELS.statement,
				async () => {
					await using some = new AsyncDisposableStack();
					for (const process of workers.slice(0, count)) {
						some.use(worker(process));
					}
					await until("delivery", async () => {
						const [edge] = await first.storage.read("edges", [
							{
								mapping: first.mapping("repin"),
								from: pinOn(1, 999),
								to: pinOn(1, 999),
							},
						]);
						const left = await outboxOf(first.storage, 0);
						return edge !== null && left.length === 0;
					});
				},
			);
			const names = statements.map(({ name }) => name);
			const isOfDelivery = (name: string) =>
				!/^(pending entries|walk outbox|edges repin)$/.test(name);
			return names.filter(isOfDelivery).length;
		};
		const one = await deliveredBy(1, 1);
		const three = await deliveredBy(3, 2);
		assert.ok(
			three <= 2 * one,
			`${three} statements of three workers, ${one} of one`,
		);
	});

	it("poll with one statement for each host and pass while there is nothing to deliver", async () => {
		await using process = await openProcess(fleet.addresses);
		await deliverPending(new WritePipeline(process.store), 0);
		let begun = 0;
		let passes = 0;
		const storage = storageWith(process.storage, {
			read: readsWith(process.storage, {
				outboxes: async (looks) => {
					begun++;
					const found = await process.storage.read("outboxes", looks);
					passes++;
					return found;
				},
			}),
		});
		const statements = await publishedDuring<Statement>(
			STORAGE_CHANNELS.statement,
			async () => {
				await using idle = new OutboxWorker(
					new WritePipeline(process.store.with({ storage })),
				);
				assert.ok(idle);
				await until("three passes", () => passes >= 3 * fleet.mysql.length);
			},
		);
		const asked = statements
			.map(({ name }) => name)
			// The process itself looks once whether its shards have their tables.
			.filter((name) => !/^(count tables|tables)$/.test(name));
		assert.deepEqual([...new Set(asked)], ["pending entries"]);
		// The last passes may end, with their worker, before they have asked.
		assert.ok(
			passes <= asked.length && asked.length <= begun,
			`${asked.length} statements, ${passes} of ${begun} passes ended`,
		);
	});

	it("activate many users in as many statements as two", async () => {
		await using process = await openProcess(fleet.addresses, {
			limits: PATIENT_LIMITS,
		});
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
				STORAGE_CHANNELS.statement,
				async () => {
					assert.deepEqual(await deliverPending(new WritePipeline(store), 0), {
						delivered: count,
						undelivered: 0,
						unreadable: 0,
					});
				},
			);
			return statementsSent.map(({ name }) => name).toSorted();
		};
		await deliverPending(new WritePipeline(store), 0);
		const many = await statements(50);
		assert.deepEqual(many, await statements(12));
	});
});

function pinOn(shard: number, local: number): Id {
	return packId({ shard, type: 1, local: 1_000 + local });
}
