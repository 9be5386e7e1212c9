import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createConnection } from "mysql2/promise";
import { CorkboardError } from "../../src/errors.ts";
import { deliver } from "../../src/graph/outbox/deliver.ts";
import { deliverPending } from "../../src/graph/outbox/deliverPending.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import type { Id } from "../../src/id/ids.ts";
import { PRESENT, REMOVED } from "../../src/storage/rows.ts";
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
import { NAIVE } from "./naive.ts";
import { startRemote } from "./remote.ts";
import { makePin, makeUser } from "./subjects.ts";

/** docs/consistency.md "2. Writes and the outbox": an entry is delivered after a crash and after a COMMIT without an answer. */
describe("a writer that does not get to the end of its write", () => {
	let fleet: Fleet;
	/** Has no local cache: reads what the shards and the shared caches have. */
	let reader: Process;
	/** Likes a pin on the other shard, on another host: the inverse goes through the outbox. */
	let user: Id;
	before(async () => {
		fleet = await startFleet({ apart: true });
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

	/** The pin's count of likes, and whether the user's own list has the pin, read through the shared caches. */
	async function seen(pin: Id): Promise<{ mine: boolean; counted: number }> {
		const [mine, likedBy] = await Promise.all([
			reader.head("likePin", user),
			reader.head("likePin.inverse", pin),
		]);
		return {
			mine: mine.slice().some(({ to }) => to === pin),
			counted: likedBy.count,
		};
	}

	/** Waits until Redis has the current heads of both lists. */
	async function warm(pin: Id): Promise<void> {
		const filled = reader.pauses.hold("filled redis");
		await seen(pin);
		await filled.reached;
		filled.release();
		await seen(pin);
	}

	async function killedAfterCommit(
		as: "ours" | "naive" | "unreachable",
		addresses = fleet.addresses,
	): Promise<Id> {
		const pin = await newPin();
		await warm(pin);
		assert.deepEqual(await seen(pin), { mine: false, counted: 0 });
		await using writer = await startRemote({
			addresses,
			as,
			channel: false,
		});
		const committed = writer.send({ do: "reach", step: "committed" });
		void writer.send({
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

	it("leaves an old head only until its entry is delivered when it is killed between COMMIT and the delete", async () => {
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
			{ mine: false, counted: 0 },
			"nothing was acknowledged",
		);
		assert.equal((await pending()).length, 1);
		assert.deepEqual(await deliverPending(new WritePipeline(reader.store), 0), {
			delivered: 1,
			undelivered: 0,
			unreadable: 0,
		});
		assert.deepEqual(await seen(pin), { mine: true, counted: 1 });
	});

	it("has its invalidation delivered too when it could not reach the cache before it was killed", async () => {
		const pin = await killedAfterCommit("unreachable");
		assert.deepEqual(await seen(pin), { mine: false, counted: 0 }, "old");
		assert.deepEqual(await deliverPending(new WritePipeline(reader.store), 0), {
			delivered: 1,
			undelivered: 0,
			unreadable: 0,
		});
		assert.deepEqual(await seen(pin), { mine: true, counted: 1 });
	});

	/** Addresses of a process that knows the server by one name: both shards are on one host. */
	function onOneHost(): Addresses {
		const url = fleet.mysql[0]?.url ?? "";
		return { ...fleet.addresses, topology: topologyOf([url]) };
	}

	it("leaves an old head of neither side of an edge, once its entries are delivered, when both are on one host: each shard's entry names its own", async () => {
		const stale = await killedAfterCommit("naive", onOneHost());
		assert.deepEqual(await pending(), []);
		assert.deepEqual(
			await seen(stale),
			{ mine: false, counted: 0 },
			"old heads for as long as Redis keeps them, and nothing to deliver",
		);

		const pin = await killedAfterCommit("ours", onOneHost());
		assert.deepEqual(await seen(pin), { mine: false, counted: 0 });
		assert.deepEqual(
			(await pending()).map(({ shard, entry }) => [
				shard,
				Object.keys(entry ?? {}),
			]),
			[
				[0, ["invalidations"]],
				[1, ["invalidations"]],
			],
		);

		assert.deepEqual(await deliverPending(new WritePipeline(reader.store), 0), {
			delivered: 2,
			undelivered: 0,
			unreadable: 0,
		});
		assert.deepEqual(await seen(pin), { mine: true, counted: 1 });
	});

	it("waits for no list of the other shard that somebody keeps locked, also on one host", async () => {
		await using writer = await openProcess(onOneHost());
		const pin = await newPin();
		const mapping = writer.mapping("likePin");
		await writer.writes.setEdge(mapping, user, pin, true);
		await until("both sides", async () => (await pending()).length === 0);
		await using locker = await createConnection(fleet.mysql[0]?.url ?? "");
		await locker.beginTransaction();
		await locker.query(
			"SELECT * FROM db00001.lists WHERE from_id = ? FOR UPDATE",
			[pin],
		);
		await writer.writes.setEdge(mapping, user, pin, false);
		assert.deepEqual(await seen(pin), { mine: false, counted: 1 });
		await locker.rollback();
		await until("the inverse", async () => {
			await deliverPending(new WritePipeline(reader.store), 0);
			return (await seen(pin)).counted === 0;
		});
	});

	it("needs nothing of the other shard for its own side, also on one host", async () => {
		await using writer = await openProcess(onOneHost());
		const pin = await newPin();
		const { table } = writer.mapping("likePin.inverse");
		await using operator = await createConnection(fleet.mysql[0]?.url ?? "");
		await operator.query(`RENAME TABLE db00001.${table} TO db00001.away`);
		try {
			await writer.writes.setEdge(writer.mapping("likePin"), user, pin, true);
			const [edge] = await reader.storage.read("edges", [
				{ mapping: writer.mapping("likePin"), from: user, to: pin },
			]);
			assert.equal((edge as { state: number }).state, PRESENT);
		} finally {
			await operator.query(`RENAME TABLE db00001.away TO db00001.${table}`);
		}
		await until("the inverse", async () => {
			await deliverPending(new WritePipeline(reader.store), 0);
			return (await seen(pin)).counted === 1;
		});
	});

	/** Addresses of a writer that reaches MySQL through another port. */
	function behind(port: number): Addresses {
		const url = new URL(fleet.mysql[0]?.url ?? "");
		url.port = String(port);
		return { ...fleet.addresses, topology: topologyOf([url.href], true) };
	}

	async function isUnavailable(writing: Promise<unknown>): Promise<void> {
		await assert.rejects(
			writing,
			(error) =>
				error instanceof CorkboardError && error.code === "UNAVAILABLE",
		);
	}

	/** Makes a write whose COMMIT is carried out but not answered. */
	async function unansweredCommit(naive: boolean): Promise<Id> {
		await using link = await BreakableProxy.before(fleet.mysql[0]?.port ?? 0);
		await using writer = await openProcess(behind(link.port), {
			overrides: naive
				? {
						// Treats an error as a write that did not happen.
						layers: (layers) => ({
							...layers,
							heads: NAIVE.deletesNothing(layers.heads),
						}),
					}
				: {},
		});
		const pin = await newPin();
		const mapping = writer.mapping("likePin");
		// Opens the connections, so that their handshakes are over.
		await writer.writes.setEdge(mapping, user, pin, false);
		await warm(pin);
		link.silentAfter = "COMMIT";
		await isUnavailable(writer.writes.setEdge(mapping, user, pin, true));
		return pin;
	}

	it("leaves a COMMIT without an answer to the outbox, and deletes what it may have changed", async () => {
		const stale = await unansweredCommit(true);
		assert.deepEqual(await seen(stale), { mine: false, counted: 0 });
		assert.equal((await pending()).length, 1, "although it was done");
		await deliverPending(new WritePipeline(reader.store), 0);

		const pin = await unansweredCommit(false);
		assert.deepEqual(await seen(pin), { mine: true, counted: 0 });
		assert.deepEqual(await deliverPending(new WritePipeline(reader.store), 0), {
			delivered: 1,
			undelivered: 0,
			unreadable: 0,
		});
		assert.deepEqual(await seen(pin), { mine: true, counted: 1 });
		// A client tries again after UNAVAILABLE.
		await reader.writes.setEdge(reader.mapping("likePin"), user, pin, true);
		assert.deepEqual(await seen(pin), { mine: true, counted: 1 });
		assert.deepEqual(await pending(), []);
	});

	/**
	 * Makes a write whose delayed COMMIT arrives after the writer's timeout. On a
	 * busy machine the timeout may come before COMMIT is sent, which proves
	 * nothing: then it tries again.
	 */
	async function lateCommit(naive: boolean): Promise<Id> {
		for (let attempt = 1; attempt <= 20; attempt++) {
			const pin = await tryLateCommit(naive);
			if (pin !== null) return pin;
		}
		throw new Error("expected one of 20 writes to send COMMIT in time");
	}

	/** null: COMMIT was not sent. */
	async function tryLateCommit(naive: boolean): Promise<Id | null> {
		await using link = await TcpProxy.to(fleet.mysql[0]?.port ?? 0);
		const pin = await newPin();
		if (!(await giveUpCommit(link, pin, naive))) return null;
		await warm(pin);
		assert.deepEqual(await seen(pin), { mine: false, counted: 0 });
		link.release();
		await until(
			"COMMIT to arrive",
			async () => {
				const [edge] = await reader.storage.read("edges", [
					{ mapping: reader.mapping("likePin"), from: user, to: pin },
				]);
				return edge !== null;
			},
			30_000,
		);
		return pin;
	}

	/** Whether the link keeps back the COMMIT that a writer has given up. The writer is gone then: it kills no session any more. */
	async function giveUpCommit(
		link: TcpProxy,
		pin: Id,
		naive: boolean,
	): Promise<boolean> {
		await using writer = await openProcess(behind(link.port), {
			// The server ends the transaction 8 s after its last statement: COMMIT has to arrive before.
			limits: { writeMs: 2_500 },
			// Without invalidations in its entry.
			overrides: naive
				? { store: (store) => store.with({ sharesCaches: false }) }
				: {},
		});
		const mapping = writer.mapping("likePin");
		// Opens the connections, so that their handshakes are over.
		await writer.writes.setEdge(mapping, user, pin, false);
		// What is sent from then on is COMMIT, with the last writes.
		writer.pauses.stopAt("decided", () => link.hold());
		await isUnavailable(writer.writes.setEdge(mapping, user, pin, true));
		return link.holds("COMMIT");
	}

	it("leaves an old head only until its entry is delivered when COMMIT arrives after its deadline", async () => {
		const stale = await lateCommit(true);
		await deliverPending(new WritePipeline(reader.store), 0);
		assert.deepEqual(await seen(stale), { mine: false, counted: 1 });

		const pin = await lateCommit(false);
		assert.deepEqual(await seen(pin), { mine: false, counted: 0 });
		assert.deepEqual(await deliverPending(new WritePipeline(reader.store), 0), {
			delivered: 1,
			undelivered: 0,
			unreadable: 0,
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
			"the two directions differ permanently",
		);

		const ours = await slowDelivery();
		assert.equal(ours.entries.length, 1);
		await deliver(new WritePipeline(reader.store), ours.entries);
		await deliver(new WritePipeline(reader.store), ours.entries);
		assert.deepEqual(await seen(ours.pin), { mine: false, counted: 0 });
		const [edge] = await reader.storage.read("edges", [
			{ mapping: inverse, from: ours.pin, to: user },
		]);
		assert.equal((edge as { version: number }).version, 2);
	});
});
