import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import { OutboxWorker } from "../../src/graph/outbox/outboxWorker.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import type { Id } from "../../src/id/ids.ts";
import { storageWith } from "../helpers/storageWith.ts";
import { collect } from "../helpers/storing.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { until } from "../helpers/until.ts";
import {
	type Addresses,
	behindPort,
	type Fleet,
	openProcess,
	type Process,
	type ProcessOptions,
	startFleet,
} from "./fleet.ts";
import { startRemote } from "./remote.ts";
import { keep, makePin, makeUser } from "./subjects.ts";

/** A stopped clock: what is cached in a process leaves only because something says so. */
const now = () => 0;
/** Ten seconds are promised; these cores are busy with other tests. Milliseconds. */
const PROMISED_MS = 60_000;

/** docs/consistency.md "Freshness by protocol". No process here runs an outbox worker, but where a test says so. */
describe("a value that a process may keep for minutes", () => {
	let fleet: Fleet;
	let writer: Process;
	before(async () => {
		fleet = await startFleet({ mysql: 2 });
		writer = await open();
	});
	after(async () => {
		await writer[Symbol.asyncDispose]();
		await fleet[Symbol.asyncDispose]();
	});

	async function open(
		options: ProcessOptions = {},
		addresses: Addresses = fleet.addresses,
	): Promise<Process> {
		const process = await openProcess(addresses, {
			channel: true,
			now,
			limits: { connectMs: 500 },
			...options,
		});
		await until("the channel", () => process.news.at(-1) === "restored");
		return process;
	}

	/** Changes the pin in a process that is killed between COMMIT and everything else. */
	async function changedByKilledWriter(pin: Id): Promise<void> {
		await using killed = await startRemote({
			addresses: fleet.addresses,
			as: "ours",
			channel: true,
		});
		const committed = killed.send({ do: "reach", step: "committed" });
		void killed.send({ do: "modify", id: pin, details: "new" });
		await committed;
		await killed.kill();
	}

	const outboxOf = (shard: number) =>
		collect(writer.storage.walk("outbox", shard));
	const details = async (process: Process, pin: Id) =>
		(await process.object(pin))?.details;

	/** Whether it is kept once it was read: what a process dropped while it was paused is not read again by itself. */
	async function isUsed(process: Process, pin: Id): Promise<boolean> {
		const [node] = await process.store.readObjects([pin]);
		return (
			!(node instanceof CorkboardError) &&
			process.store.cachedObject(pin) !== undefined
		);
	}

	it("is dropped where its writer was killed between COMMIT and the publication", async () => {
		await using reader = await open();
		await using keepsNothing = await openProcess(fleet.addresses, {
			cacheBytes: 0,
		});
		const pin = await makePin(writer, { details: "old" });
		await keep(reader, pin, "old");
		await changedByKilledWriter(pin);
		await until(
			"the change",
			async () => (await details(reader, pin)) === "new",
			PROMISED_MS,
		);
		assert.equal(
			await details(keepsNothing, pin),
			"new",
			"deleted in the shared cache too",
		);
		assert.equal(
			(await outboxOf(0)).length,
			1,
			"found by looking, not published",
		);
		await deliverAll();
	});

	it("is dropped where the process that delivered the change to its shard got no further than COMMIT there", async () => {
		await using reader = await open();
		// On another host: on one host both sides are one transaction.
		const pin = await makePin(writer, {}, 2);
		const user = await makeUser(writer, "liker", 0);
		const mapping = writer.mapping("likePin");
		const likes = async () => (await reader.head("likePin.inverse", pin)).count;
		assert.equal(await likes(), 0);
		await using stack = new AsyncDisposableStack();
		const stuck = stack.use(
			await open({
				overrides: {
					storage: (storage) =>
						storageWith(storage, {
							async transact(transaction, trace) {
								const done = await storage.transact(transaction, trace);
								return transaction.shard === 2 ? new Promise(() => {}) : done;
							},
						}),
				},
			}),
		);
		await stuck.writes.setEdge(mapping, user, pin, true);
		await until("the like", async () => (await likes()) === 1, PROMISED_MS);
		assert.equal((await outboxOf(2)).length, 1, "an entry of its own shard");
		await deliverAll();
	});

	for (const { name, stop } of [
		{
			name: "the host is paused",
			stop: async () => {
				fleet.mysql[1]?.pause();
				return async () => fleet.mysql[1]?.resume();
			},
		},
		{
			name: "the process is cut off from it",
			stop: async (link: TcpProxy) => {
				link.cut();
				return async () => link.restore();
			},
		},
	]) {
		it(`is not used while the outbox of its shard cannot be read, for others it is, and again afterwards: ${name}`, async () => {
			await using link = await TcpProxy.to(fleet.mysql[1]?.port ?? 0);
			await using reader = await open({}, behindPort(fleet, link.port));
			const [here, there, same] = [
				await makePin(writer, { details: "old" }, 0),
				await makePin(writer, { details: "old" }, 2),
				await makePin(writer, { details: "old" }, 3),
			];
			for (const pin of [here, there, same]) await keep(reader, pin, "old");
			await changedByKilledWriter(there);
			const resume = await stop(link);
			try {
				await until(
					"the shards to be bypassed",
					() => reader.store.cachedObject(same) === undefined,
					PROMISED_MS,
				);
				assert.equal(reader.store.cachedObject(there), undefined);
				assert.equal(await details(reader, here), "old");
				// Not at once if these cores kept the process from reading that outbox, too.
				await until(
					"the shards of the other host to be used",
					() => isUsed(reader, here),
					PROMISED_MS,
				);
				const [read] = await reader.store.readObjects([there]);
				// Nobody can know of the change; a shared cache may have what was before.
				assert.ok(
					read instanceof CorkboardError || read?.node?.data.details === "old",
				);
			} finally {
				await resume();
			}
			await until(
				"the shards to be used again",
				() => isUsed(reader, same),
				PROMISED_MS,
			);
			await until(
				"the change",
				async () => (await details(reader, there)) === "new",
				PROMISED_MS,
			);
			await deliverAll();
		});
	}

	it("is dropped where Redis was restarted while it was changed", async () => {
		await using reader = await open();
		const pin = await makePin(writer, { details: "old" });
		await keep(reader, pin, "old");
		await fleet.redis.kill();
		await writer.writes.modify(pin, (data) => ({ ...data, details: "new" }));
		await fleet.redis.restart();
		await until("the channel", () => reader.news.at(-1) === "restored");
		assert.equal(await details(reader, pin), "new");
		await deliverAll();
	});

	it("leaves the entry of its change in the outbox until Redis took the publication", async () => {
		await using link = await TcpProxy.to(fleet.redis.port);
		await using cutOff = await open({
			redisPort: link.port,
			cacheDeadlineMs: 200,
		});
		const pin = await makePin(writer, { details: "old" });
		await keep(writer, pin, "old");
		link.cut();
		// Only memcached has the object; that acknowledges.
		await cutOff.writes.modify(pin, (data) => ({ ...data, details: "new" }));
		assert.equal((await outboxOf(0)).length, 1);
		const order: string[] = [];
		await using worker = new OutboxWorker(
			new WritePipeline(recording(cutOff, order)),
		);
		await until(
			"the change, which the writer cannot publish",
			async () => (await details(writer, pin)) === "new",
			PROMISED_MS,
		);
		assert.ok(worker);
		assert.ok(!order.includes("taken"), "it was not published");
		assert.equal((await outboxOf(0)).length, 1);
		link.restore();
		await until(
			"delivery",
			async () => (await outboxOf(0)).length === 0,
			PROMISED_MS,
		);
		assert.equal(order.at(-1), "taken");
		assert.equal(order.at(-2), "announced");
	});

	it("is dropped, and ages from then on, where a process without Redis changes it", async () => {
		await using reader = await open();
		await using silent = await openProcess(fleet.addresses, { redis: false });
		const pin = await makePin(writer, { details: "old" });
		await keep(reader, pin, "old");
		await silent.writes.modify(pin, (data) => ({ ...data, details: "new" }));
		await until(
			"the change",
			async () => (await details(reader, pin)) === "new",
			PROMISED_MS,
		);
	});

	/** A store that notes what its outbox worker does with Redis and with entries. */
	function recording({ store }: Process, order: string[]) {
		return store.with({
			invalidator: {
				...store.invalidator,
				async announce(keys: readonly string[]) {
					const isPublished = await store.invalidator.announce(keys);
					order.push(isPublished ? "announced" : "not announced");
					return isPublished;
				},
			},
			storage: storageWith(store.storage, {
				async takeEntries(entries, until, trace) {
					const taken = await store.storage.takeEntries(entries, until, trace);
					if (taken.length > 0) order.push("taken");
					return taken;
				},
			}),
		});
	}

	/** Nothing is left for the next test. */
	async function deliverAll(): Promise<void> {
		await using worker = new OutboxWorker(new WritePipeline(writer.store));
		assert.ok(worker);
		await until(
			"empty outboxes",
			async () => {
				const left = await Promise.all([0, 1, 2, 3].map(outboxOf));
				return left.every(({ length }) => length === 0);
			},
			PROMISED_MS,
		);
	}
});
