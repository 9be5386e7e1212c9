import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Id } from "../../src/id/ids.ts";
import { STORAGE_CHANNELS } from "../../src/storage/diagnostics.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { until } from "../helpers/until.ts";
import {
	type Addresses,
	type Fleet,
	type Layers,
	openProcess,
	type Process,
	startFleet,
} from "./fleet.ts";
import { both, NAIVE, type Stored, storing } from "./naive.ts";
import { SUBJECTS, type Subject } from "./subjects.ts";

type Overrides = { readonly layers?: (layers: Layers) => Layers };

/** docs/consistency.md, "3. Caches": fills go by lease, not by time. */
describe("a stale value that is filled after a write", () => {
	let fleet: Fleet;
	let stored: Stored;
	before(async () => {
		fleet = await startFleet();
		stored = storing({
			memcached: fleet.memcached.port,
			redis: fleet.redis.port,
		});
	});
	after(() => fleet[Symbol.asyncDispose]());

	for (const subject of SUBJECTS) {
		const { layer } = subject;

		it(`is not kept by ${layer} if the reader stopped between its read and its fill`, async () => {
			const naive = both(NAIVE.fillsWithoutLease(stored));
			assert.equal(await readerBetween(subject, { layers: naive }), "old");
			assert.equal(await readerBetween(subject, {}), "new");
		});

		it(`is not kept by ${layer} if the fill stalled on the network until after the write`, async () => {
			assert.equal(await stalledFill(subject, "as if absent"), "old");
			assert.equal(await stalledFill(subject, "by its lease"), "new");
		});

		it(`is not kept by ${layer} if the reader filled it before COMMIT`, async () => {
			const naive = both(NAIVE.deletesNothing);
			assert.equal(await filledBeforeCommit(subject, { layers: naive }), "old");
			assert.equal(await filledBeforeCommit(subject, {}), "new");
		});

		it(`is not kept by ${layer} if the reader filled it between COMMIT and the delete`, async () => {
			const naive = both(NAIVE.deletesNothing);
			assert.equal(await filledAfterCommit(subject, { layers: naive }), "old");
			assert.equal(await filledAfterCommit(subject, {}), "new");
		});

		it(`is not kept in the process if ${layer} had not yet applied the write when it was read`, async () => {
			await using process = await openProcess(fleet.addresses);
			const id = await subject.make(process);
			assert.equal(await subject.read(process, id), "old");
			await filled(subject, process, id);
			const held = process.pauses.hold(`deleting ${layer}`);
			const writing = subject.write(process, id);
			await held.reached;
			assert.equal(
				await subject.read(process, id),
				"old",
				"the write has not ended",
			);
			held.release();
			await writing;
			assert.equal(await subject.read(process, id), "new");
		});
	}

	/** What a process without a local cache reads afterwards. */
	async function readerBetween(
		subject: Subject,
		overrides: Overrides,
	): Promise<string> {
		const options = { cacheBytes: 0, overrides };
		await using reader = await openProcess(fleet.addresses, options);
		await using writer = await openProcess(fleet.addresses, options);
		const id = await subject.make(writer);
		const read = reader.pauses.hold(subject.readStep);
		const filling = reader.pauses.hold(`filled ${subject.layer}`);
		const reading = subject.read(reader, id);
		await read.reached;
		await subject.write(writer, id);
		read.release();
		assert.equal(await reading, "old", "read before the write");
		await filling.reached;
		filling.release();
		return await subject.read(writer, id);
	}

	async function stalledFill(
		subject: Subject,
		how: "by its lease" | "as if absent",
	): Promise<string> {
		await using memcached = await TcpProxy.to(fleet.memcached.port);
		await using redis = await TcpProxy.to(fleet.redis.port);
		const link = subject.layer === "memcached" ? memcached : redis;
		const ports = { memcached: memcached.port, redis: redis.port };
		// The ring hashes the host names: all processes must use the same names.
		const addresses: Addresses = {
			...fleet.addresses,
			memcached: [`127.0.0.1:${ports.memcached}`],
			redis: `redis://127.0.0.1:${ports.redis}`,
		};
		const stalled = Promise.withResolvers<void>();
		const overrides: Overrides =
			how === "by its lease"
				? {}
				: {
						// Its connection is the stalled one: it sends nothing until then.
						layers: both(
							NAIVE.fillsWhatIsAbsent(async (...command) => {
								await stalled.promise;
								await storing(ports)(...command);
							}),
						),
					};
		await using reader = await openProcess(addresses, {
			cacheBytes: 0,
			overrides,
		});
		await using maker = await openProcess(addresses, { cacheBytes: 0 });
		const id = await subject.make(maker);
		const filling = reader.pauses.hold(`filling ${subject.layer}`);
		const landed = reader.pauses.hold(`filled ${subject.layer}`);
		assert.equal(await subject.read(reader, id), "old");
		await filling.reached;
		link.holdOpen();
		filling.release();
		if (how === "by its lease") {
			await until("the fill to be sent", () => link.held > 0);
		}
		{
			await using writer = await openProcess(addresses, { cacheBytes: 0 });
			await subject.write(writer, id);
		}
		link.release();
		stalled.resolve();
		await landed.reached;
		landed.release();
		return await subject.read(reader, id);
	}

	async function filledBeforeCommit(
		subject: Subject,
		overrides: Overrides,
	): Promise<string> {
		const options = { cacheBytes: 0, overrides };
		await using reader = await openProcess(fleet.addresses, options);
		await using writer = await openProcess(fleet.addresses, options);
		const id = await subject.make(writer);
		const held = writer.pauses.hold("transacting");
		const writing = subject.write(writer, id);
		await held.reached;
		const filling = reader.pauses.hold(`filled ${subject.layer}`);
		assert.equal(await subject.read(reader, id), "old", "not committed yet");
		await filling.reached;
		filling.release();
		held.release();
		await writing;
		return await subject.read(reader, id);
	}

	/** The reader has its lease, and what it read, from before COMMIT. */
	async function filledAfterCommit(
		subject: Subject,
		overrides: Overrides,
	): Promise<string> {
		const options = { cacheBytes: 0, overrides };
		await using reader = await openProcess(fleet.addresses, options);
		await using writer = await openProcess(fleet.addresses, options);
		const id = await subject.make(writer);
		const read = reader.pauses.hold(subject.readStep);
		const filling = reader.pauses.hold(`filled ${subject.layer}`);
		const reading = subject.read(reader, id);
		await read.reached;
		const committed = writer.pauses.hold("committed");
		const writing = subject.write(writer, id);
		await committed.reached;
		read.release();
		assert.equal(await reading, "old");
		await filling.reached;
		filling.release();
		assert.equal(await subject.read(reader, id), "old", "not acknowledged");
		committed.release();
		await writing;
		return await subject.read(reader, id);
	}

	/** Waits until the shared layer has the value, then empties the local cache. */
	async function filled(
		subject: Subject,
		process: Process,
		id: Id,
	): Promise<void> {
		await until(`${subject.layer} to have it`, async () => {
			process.store.caches.invalidateAll();
			const calls = await publishedDuring(STORAGE_CHANNELS.storage, () =>
				subject.read(process, id),
			);
			return calls.length === 0;
		});
		process.store.caches.invalidateAll();
	}
});
