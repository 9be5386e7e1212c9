import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import { deliver } from "../../src/graph/outbox/deliver.ts";
import { deliverPending } from "../../src/graph/outbox/outboxWorker.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import type { Id } from "../../src/id/ids.ts";
import { PRESENT, REMOVED } from "../../src/storage/storage.ts";
import { BreakableProxy } from "../helpers/breakableProxy.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { until } from "../helpers/until.ts";
import {
	type Addresses,
	type Fleet,
	openProcess,
	type Process,
	startFleet,
	topologyOf,
} from "./fleet.ts";
import { startRemote } from "./remote.ts";
import { makePin, makeUser } from "./subjects.ts";

/** docs/consistency.md "2. Writes and the outbox": an entry is delivered after a crash and after a COMMIT without an answer. */
describe("a writer that does not get to the end of its write", () => {
	let fleet: Fleet;
	/** Keeps nothing itself: sees what the shards and the shared layers have. */
	let reader: Process;
	/** Likes a pin on the other shard: the inverse goes through the outbox. */
	let user: Id;
	before(async () => {
		fleet = await startFleet();
		reader = await openProcess(fleet.addresses, { cacheBytes: 0 });
		user = await makeUser(reader, "liker", 0);
	});
	after(async () => {
		await reader[Symbol.asyncDispose]();
		await fleet[Symbol.asyncDispose]();
	});

	const newPin = () => makePin(reader, {}, 1);
	const pending = () =>
		reader.storage.pendingEntries({ olderThanMs: 0, limit: 100 });

	/** How many like the pin, and whether the user's own list has it, each as read through the shared layers. */
	async function seen(pin: Id): Promise<{ mine: boolean; counted: number }> {
		const [mine, likedBy] = await Promise.all([
			reader.head("likePin", user),
			reader.head("likePin.inverse", pin),
		]);
		return {
			mine: mine.edges.some(({ to }) => to === pin),
			counted: likedBy.list.count,
		};
	}

	/** Until both lists are in Redis, as they are now. */
	async function warm(pin: Id): Promise<void> {
		const filled = reader.pauses.hold("filled redis");
		await seen(pin);
		await filled.reached;
		filled.release();
		await seen(pin);
	}

	async function killedAfterCommit(
		as: "ours" | "naive" | "unreachable",
	): Promise<Id> {
		const pin = await newPin();
		await warm(pin);
		assert.deepEqual(await seen(pin), { mine: false, counted: 0 });
		await using writer = await startRemote({
			addresses: fleet.addresses,
			as,
			channel: false,
		});
		const committed = writer.tell({ do: "reach", step: "committed" });
		void writer.tell({
			do: "edge",
			mapping: "likePin",
			from: user,
			to: pin,
			present: true,
		});
		await committed;
		await writer.kill();
		return pin;
	}

	it("leaves no old head when it is killed between COMMIT and invalidation: a tombstone covers it, and its entry is delivered", async () => {
		const stale = await killedAfterCommit("naive");
		assert.deepEqual(await seen(stale), { mine: false, counted: 0 });
		await deliverPending(new WritePipeline(reader.store), 0);
		assert.deepEqual(
			await seen(stale),
			{ mine: false, counted: 1 },
			"an old head for as long as Redis keeps it, though all is delivered",
		);

		const pin = await killedAfterCommit("ours");
		assert.deepEqual(
			await seen(pin),
			{ mine: true, counted: 0 },
			"half of it: the inverse is pending",
		);
		assert.equal((await pending()).length, 1);
		assert.deepEqual(await deliverPending(new WritePipeline(reader.store), 0), {
			delivered: 1,
			undelivered: 0,
		});
		assert.deepEqual(await seen(pin), { mine: true, counted: 1 });
	});

	it("has its invalidation delivered too when it could not reach the cache before it was killed", async () => {
		const pin = await killedAfterCommit("unreachable");
		assert.deepEqual(await seen(pin), { mine: false, counted: 0 }, "old");
		assert.deepEqual(await deliverPending(new WritePipeline(reader.store), 0), {
			delivered: 1,
			undelivered: 0,
		});
		assert.deepEqual(await seen(pin), { mine: true, counted: 1 });
	});

	/** A writer with MySQL behind another port. */
	function behind(port: number): Addresses {
		const url = new URL(fleet.mysql[0]?.url ?? "");
		url.port = String(port);
		return { ...fleet.addresses, topology: topologyOf([url.href]) };
	}

	async function failing(writing: Promise<unknown>): Promise<void> {
		await assert.rejects(
			writing,
			(error) =>
				error instanceof CorkboardError && error.code === "UNAVAILABLE",
		);
	}

	/** What is seen right after a write whose COMMIT was done and not answered. */
	async function unanswered(naive: boolean): Promise<Id> {
		await using link = await BreakableProxy.before(fleet.mysql[0]?.port ?? 0);
		await using writer = await openProcess(behind(link.port), {
			meddle: naive
				? {
						// An error is taken to mean that nothing happened.
						layers: (layers) => ({
							...layers,
							heads: { ...layers.heads, putTombstones: async () => true },
						}),
					}
				: {},
		});
		const pin = await newPin();
		const mapping = writer.mapping("likePin");
		// Its connections are made, with all that is said at their beginning.
		await writer.writes.setEdge(mapping, user, pin, false);
		await warm(pin);
		link.silentAfter = "COMMIT";
		await failing(writer.writes.setEdge(mapping, user, pin, true));
		return pin;
	}

	it("leaves a COMMIT without an answer to the outbox, and covers what it may have changed", async () => {
		const stale = await unanswered(true);
		assert.deepEqual(await seen(stale), { mine: false, counted: 0 });
		assert.equal((await pending()).length, 1, "although it was done");
		await deliverPending(new WritePipeline(reader.store), 0);

		const pin = await unanswered(false);
		assert.deepEqual(await seen(pin), { mine: true, counted: 0 });
		assert.deepEqual(await deliverPending(new WritePipeline(reader.store), 0), {
			delivered: 1,
			undelivered: 0,
		});
		assert.deepEqual(await seen(pin), { mine: true, counted: 1 });
		// A client tries again after UNAVAILABLE.
		await reader.writes.setEdge(reader.mapping("likePin"), user, pin, true);
		assert.deepEqual(await seen(pin), { mine: true, counted: 1 });
		assert.deepEqual(await pending(), []);
	});

	/** Until the COMMIT that was held up on its link has arrived, after everyone had given it up. */
	/** On a busy machine a write may be given up before its COMMIT is sent: that shows nothing, so it is tried again. */
	async function arrivedLate(naive: boolean): Promise<Id> {
		for (let attempt = 1; ; attempt++) {
			try {
				return await arrivingLate(naive);
			} catch (error) {
				if (attempt === 3) throw error;
			}
		}
	}

	async function arrivingLate(naive: boolean): Promise<Id> {
		await using link = await TcpProxy.to(fleet.mysql[0]?.port ?? 0);
		await using writer = await openProcess(behind(link.port), {
			meddle: naive
				? {
						// Deletes when it fails, as when it succeeds.
						layers: (layers) => {
							let buried = false;
							const { heads } = layers;
							const bury: typeof heads.putTombstones = (keys) => {
								if (buried) return heads.delete(keys);
								buried = true;
								return heads.putTombstones(keys);
							};
							return { ...layers, heads: { ...heads, putTombstones: bury } };
						},
					}
				: {},
		});
		const pin = await newPin();
		const mapping = writer.mapping("likePin");
		const held = writer.pauses.hold("buried redis");
		const writing = writer.writes.setEdge(mapping, user, pin, true);
		await held.reached;
		link.hold();
		held.release();
		await failing(writing);
		if (naive) await warm(pin);
		assert.deepEqual(await seen(pin), { mine: false, counted: 0 });
		link.release();
		await until("COMMIT to arrive", async () => {
			const [edge] = await reader.storage.readEdges([
				{ mapping, from: user, to: pin },
			]);
			return edge !== null;
		});
		return pin;
	}

	it("leaves no old head when COMMIT arrives after its deadline", async () => {
		const stale = await arrivedLate(true);
		assert.deepEqual(await seen(stale), { mine: false, counted: 0 });
		await deliverPending(new WritePipeline(reader.store), 0);

		const pin = await arrivedLate(false);
		assert.deepEqual(await seen(pin), { mine: true, counted: 0 });
		assert.deepEqual(await deliverPending(new WritePipeline(reader.store), 0), {
			delivered: 1,
			undelivered: 0,
		});
		assert.deepEqual(await seen(pin), { mine: true, counted: 1 });
	});

	/** A like whose entry has been read for delivery, and an unlike that was delivered meanwhile. */
	async function slowDelivery(): Promise<{
		readonly pin: Id;
		readonly entries: Awaited<ReturnType<typeof pending>>;
	}> {
		await using writer = await openProcess(fleet.addresses);
		const pin = await newPin();
		const mapping = writer.mapping("likePin");
		const held = writer.pauses.hold("committed");
		const liking = writer.writes.setEdge(mapping, user, pin, true);
		await held.reached;
		const entries = await pending();
		held.release();
		await liking;
		await writer.writes.setEdge(mapping, user, pin, false);
		assert.deepEqual(await seen(pin), { mine: false, counted: 0 });
		return { pin, entries };
	}

	it("may have its entry delivered late with an old version: that changes nothing", async () => {
		const naive = await slowDelivery();
		const inverse = reader.mapping("likePin.inverse");
		const key = { mapping: inverse, from: naive.pin, to: user };
		// By state: the entry says like, and there is none.
		await new WritePipeline(reader.store).transact({
			shard: 1,
			lists: [key],
			edges: [key],
			decide: ({ edges: [edge] }) => ({
				result: null,
				edges:
					edge?.state === REMOVED
						? [{ ...edge, mapping: inverse, state: PRESENT }]
						: [],
			}),
		});
		assert.deepEqual(
			await seen(naive.pin),
			{ mine: false, counted: 1 },
			"the two sides differ, for ever",
		);

		const ours = await slowDelivery();
		assert.equal(ours.entries.length, 1);
		await deliver(new WritePipeline(reader.store), ours.entries);
		await deliver(new WritePipeline(reader.store), ours.entries);
		assert.deepEqual(await seen(ours.pin), { mine: false, counted: 0 });
		const [edge] = await reader.storage.readEdges([
			{ mapping: inverse, from: ours.pin, to: user },
		]);
		assert.equal((edge as { version: number }).version, 2);
	});
});
