import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Channel, listen } from "../../src/diagnostics.ts";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import {
	type HeldShards,
	STORAGE_CHANNELS,
} from "../../src/storage/diagnostics.ts";
import type { LookupChange } from "../../src/storage/rows.ts";
import { openSqliteStorage } from "../../src/storage/sqlite/sqliteStorage.ts";
import type { OpenedStorage, Storage } from "../../src/storage/storage.ts";
import {
	createReloadableStorage,
	type ReloadableStorage,
	type ReloadableStorageLimits,
} from "../../src/storage/versions/reloadableStorage.ts";
import type { Topology } from "../../src/topology/types.ts";
import { MODEL, pin, topologyOn, user } from "../helpers/storageModel.ts";
import { readsWith, storageWith } from "../helpers/storageWith.ts";
import { collect, create, good } from "../helpers/storing.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { timed } from "../helpers/timing.ts";
import { until } from "../helpers/until.ts";
import { recordWriteTrace } from "../helpers/writeTrace.ts";

const READ_ONLY = new CorkboardError("UNAVAILABLE", "no writes", {
	details: { kind: "readOnly" },
});

/** What stands before one version's storage. */
interface Between {
	isClosed: boolean;
	/** Every write is refused with it, every change of a lookup "refused". */
	fault: Error | null;
	/** Calls that have begun wait for it. */
	hold: Promise<unknown> | null;
	/** Writes that were tried. */
	writes: number;
}

interface Opened extends AsyncDisposable {
	readonly storage: ReloadableStorage;
	/** By version, the first being 1. */
	readonly versions: readonly Between[];
	readonly topology: (version: number, change?: object) => Topology;
	/** Given to each version from now on. */
	begin: { fault: Error | null; opens: boolean };
}

/** Versions of one folder, so that what was written on one is there on the next. */
async function open(
	limits?: Partial<ReloadableStorageLimits>,
): Promise<Opened> {
	const folder = temporaryFolder();
	const versions: Between[] = [];
	const begin: Opened["begin"] = { fault: null, opens: true };
	const topology = (version: number, change: object = {}): Topology => ({
		...topologyOn(`sqlite:${folder.path}`),
		version,
		...change,
	});
	const storage = await createReloadableStorage(
		async (topology) => {
			if (!begin.opens) throw new Error("it does not open");
			const between: Between = {
				isClosed: false,
				fault: begin.fault,
				hold: null,
				writes: 0,
			};
			versions.push(between);
			const sqlite = await openSqliteStorage({ model: MODEL, topology });
			return standingBefore(sqlite, between);
		},
		topology(1),
		limits,
	);
	await storage.admin.createTables();
	return {
		storage,
		versions,
		topology,
		begin,
		async [Symbol.asyncDispose]() {
			await storage[Symbol.asyncDispose]();
			folder[Symbol.dispose]();
		},
	};
}

function standingBefore(
	storage: OpenedStorage,
	between: Between,
): OpenedStorage {
	const own: Partial<OpenedStorage> = {
		read: readsWith(storage, {
			async objects(ids) {
				await between.hold;
				assert.equal(between.isClosed, false, "closed under a call");
				return storage.read("objects", ids);
			},
		}),
		async transact(transaction) {
			between.writes += 1;
			await between.hold;
			if (between.fault) throw between.fault;
			return storage.transact(transaction);
		},
		async deleteOutboxEntries(keys) {
			between.writes += 1;
			if (between.fault) throw between.fault;
			return storage.deleteOutboxEntries(keys);
		},
		async compareAndSetLookups(changes) {
			between.writes += 1;
			const { fault } = between;
			const taken = (change: LookupChange) =>
				fault === null || change.key !== "refused";
			const rows = [
				...(await storage.compareAndSetLookups(changes.filter(taken))),
			];
			return changes.map((change) =>
				taken(change)
					? (rows.shift() ?? null)
					: (between.fault as CorkboardError),
			);
		},
		async [Symbol.asyncDispose]() {
			between.isClosed = true;
			await storage[Symbol.asyncDispose]();
		},
	};
	return storageWith(storage, own);
}

async function write(storage: Storage, n = 1): Promise<Id> {
	const [id] = await create(storage, 0, "Pin", { n });
	return id as Id;
}

describe("switching to a newer topology", () => {
	test("fails no request of a steady load", async () => {
		await using opened = await open();
		const { storage, versions, topology } = opened;
		let isOver = false;
		let reads = 0;
		const written: Id[] = [];
		const load = Array.from({ length: 8 }, async () => {
			while (!isOver) {
				written.push(await write(storage, written.length));
				const ids = written.slice(-20);
				const answers = await storage.read("objects", ids);
				assert.equal(
					answers.filter((answer) => good(answer)).length,
					ids.length,
				);
				reads += 1;
				await sleep(Math.random() * 2);
			}
		});
		const moreReads = async () => {
			const enough = reads + 40;
			await until("more reads", () => reads > enough);
		};
		for (let version = 2; version <= 6; version++) {
			await moreReads();
			await storage.switchTopology(topology(version));
			assert.equal(storage.topology.version, version);
		}
		await moreReads();
		isOver = true;
		await Promise.all(load);
		await until("all but the last version closed", () =>
			versions.slice(0, -1).every(({ isClosed }) => isClosed),
		);
		assert.deepEqual(
			versions.map(({ isClosed }) => isClosed),
			[true, true, true, true, true, false],
		);
		assert.ok(
			versions.every(({ writes }) => writes > 0),
			"expected writes on every version",
		);
		const stored = await collect(storage.walk("objects", 0, "Pin"));
		assert.deepEqual(
			stored.map(({ id }) => id),
			written.toSorted((a, b) => Number(BigInt(a) - BigInt(b))),
		);
	});

	test("finishes a call on the version it started with, and then closes that version", async () => {
		await using opened = await open();
		const { storage, versions, topology } = opened;
		const id = await write(storage, 7);
		const { promise, resolve } = Promise.withResolvers<void>();
		const [first] = versions;
		assert.ok(first);
		first.hold = promise;
		const reading = storage.read("objects", [id]);
		await storage.switchTopology(topology(2));
		assert.deepEqual(await storage.read("objects", [id]), ['{"n":7}']);
		assert.equal(first.isClosed, false);
		resolve();
		assert.deepEqual(await reading, ['{"n":7}']);
		await until("the first version closed", () => first.isClosed);
	});

	test("aborts a call that does not end in time", async () => {
		await using opened = await open({ drainMs: 50 });
		const { storage, versions, topology } = opened;
		const { promise, resolve } = Promise.withResolvers<void>();
		const [first] = versions;
		assert.ok(first);
		first.hold = promise;
		const reading = storage.read("objects", [pin(1)]);
		await storage.switchTopology(topology(2));
		assert.equal(first.isClosed, false);
		await until("the first version closed", () => first.isClosed);
		resolve();
		await assert.rejects(reading, /closed under a call/);
	});

	test("finishes a walk on the version it started with", async () => {
		await using opened = await open();
		const { storage, versions, topology } = opened;
		const data = Array.from({ length: 2_500 }, (_, n) => ({ n }));
		const ids = await create(storage, 0, "Pin", ...data);
		const met: Id[] = [];
		for await (const batch of storage.walk("objects", 0, "Pin")) {
			if (met.length === 0) await storage.switchTopology(topology(2));
			assert.equal(versions[0]?.isClosed, false);
			met.push(...batch.map(({ id }) => id));
		}
		assert.deepEqual(met, ids);
		await until(
			"the first version closed",
			() => versions[0]?.isClosed === true,
		);
	});

	test("shows the shards of the newer topology", async () => {
		await using opened = await open();
		const { storage, topology } = opened;
		assert.deepEqual(storage.map.openShards, [0, 1]);
		const [first, second] = topology(2).shards;
		assert.ok(first && second);
		await storage.switchTopology(
			topology(2, { shards: [first, { ...second, open: true }] }),
		);
		assert.deepEqual(storage.map.openShards, [0, 1, 2, 3]);
		assert.equal(storage.map.modShards, 4);
		assert.deepEqual(storage.map.shards, [0, 1, 2, 3]);
		assert.equal(storage.map.hostOf(2), "db00002.sqlite");
	});

	test("rejects a topology that may not follow, and changes nothing", async () => {
		await using opened = await open();
		const { storage, versions, topology } = opened;
		await storage.switchTopology(topology(3));
		await assert.rejects(storage.switchTopology(topology(2)), {
			code: "BAD_TOPOLOGY",
		});
		const [first] = topology(4).shards;
		await assert.rejects(
			storage.switchTopology(topology(4, { shards: [first] })),
			{
				code: "BAD_TOPOLOGY",
				message: /none of 2 to 3/,
			},
		);
		assert.equal(storage.topology.version, 3);
		assert.equal(versions.length, 2);
	});

	test("fails when the newer topology does not open, and can be retried", async () => {
		await using opened = await open();
		const { storage, topology, begin } = opened;
		begin.opens = false;
		await assert.rejects(storage.switchTopology(topology(2)), /does not open/);
		assert.equal(storage.topology.version, 1);
		await write(storage);
		begin.opens = true;
		await storage.switchTopology(topology(2));
		assert.equal(storage.topology.version, 2);
	});

	test("does nothing for the topology in use", async () => {
		await using opened = await open();
		await opened.storage.switchTopology(opened.topology(1));
		assert.equal(opened.versions.length, 1);
	});

	test("is rejected after dispose, which closes every version", async () => {
		const opened = await open();
		const { storage, versions, topology } = opened;
		await storage.switchTopology(topology(2));
		await opened[Symbol.asyncDispose]();
		assert.deepEqual(
			versions.map(({ isClosed }) => isClosed),
			[true, true],
		);
		await assert.rejects(storage.switchTopology(topology(3)), TypeError);
		assert.equal(versions.length, 2);
	});
});

describe("a write that a host rejects as read-only", () => {
	test("waits for a newer version and is carried out there once", async () => {
		await using opened = await open({ retryMs: 60_000 });
		const { storage, versions, topology } = opened;
		const [first] = versions;
		assert.ok(first);
		first.fault = READ_ONLY;
		const trace = recordWriteTrace();
		const writing = storage.transact(
			{
				shard: 0,
				creates: [{ type: "Pin", data: { n: 1 } }],
				decide: ({ created }) => ({ result: created }),
			},
			trace,
		);
		await until("the write refused", () => first.writes === 1);
		await storage.switchTopology(topology(2));
		const { result } = await writing;
		assert.deepEqual(await storage.read("objects", result), ['{"n":1}']);
		assert.deepEqual(trace.retries, ["readOnly"]);
		assert.deepEqual(
			versions.map(({ writes }) => writes),
			[1, 1],
		);
		assert.equal((await collect(storage.walk("objects", 0, "Pin"))).length, 1);
	});

	test("is retried while the newer version's host is still read-only", async () => {
		await using opened = await open({ retryMs: 20 });
		const { storage, versions, topology, begin } = opened;
		const [first] = versions;
		assert.ok(first);
		first.fault = READ_ONLY;
		begin.fault = READ_ONLY;
		const writing = write(storage);
		await storage.switchTopology(topology(2));
		const second = versions[1];
		assert.ok(second);
		await until("two refusals", () => second.writes >= 2);
		second.fault = null;
		assert.deepEqual(await storage.read("objects", [await writing]), [
			'{"n":1}',
		]);
	});

	test("is retried on the same version, whose host may accept writes again", async () => {
		await using opened = await open({ retryMs: 20 });
		const { storage, versions } = opened;
		const [first] = versions;
		assert.ok(first);
		first.fault = READ_ONLY;
		const writing = write(storage);
		await until("two refusals", () => first.writes >= 2);
		first.fault = null;
		assert.deepEqual(await storage.read("objects", [await writing]), [
			'{"n":1}',
		]);
	});

	test("fails with the host's error after its maximum wait", async () => {
		await using opened = await open({ waitMs: 150, retryMs: 40 });
		const { storage, versions } = opened;
		const [first] = versions;
		assert.ok(first);
		first.fault = READ_ONLY;
		const { ms, ownMs } = await timed(() =>
			assert.rejects(write(storage), (thrown) => thrown === READ_ONLY),
		);
		assert.ok(ms >= 140 && ownMs < 5_000, `after ${ms} ms`);
		assert.ok(first.writes >= 2);
	});

	test("fails at once where the host has refused writes for as long, until it takes one", async () => {
		await using opened = await open({ waitMs: 150, retryMs: 40 });
		const { storage, versions } = opened;
		const [first] = versions;
		assert.ok(first);
		const readOnly = new CorkboardError("UNAVAILABLE", "no writes", {
			details: { kind: "readOnly", host: String(storage.map.hostOf(0)) },
		});
		const refused = async () => {
			const before = first.writes;
			await assert.rejects(write(storage), (thrown) => thrown === readOnly);
			return first.writes - before;
		};
		first.fault = readOnly;
		assert.ok((await refused()) >= 2);
		assert.equal(await refused(), 1);
		assert.equal(await refused(), 1);
		first.fault = null;
		await write(storage);
		first.fault = readOnly;
		assert.ok((await refused()) >= 2);
	});

	test("fails at once when too many writes wait already", async () => {
		await using opened = await open({ maxWaiting: 2, retryMs: 60_000 });
		const { storage, versions, topology } = opened;
		const [first] = versions;
		assert.ok(first);
		first.fault = READ_ONLY;
		const waiting = [write(storage), write(storage)];
		await assert.rejects(write(storage), (thrown) => thrown === READ_ONLY);
		await storage.switchTopology(topology(2));
		assert.equal((await Promise.all(waiting)).length, 2);
	});

	test("delays no read", async () => {
		await using opened = await open({ retryMs: 60_000 });
		const { storage, versions, topology } = opened;
		const id = await write(storage);
		const [first] = versions;
		assert.ok(first);
		first.fault = READ_ONLY;
		const writing = write(storage);
		assert.deepEqual(await storage.read("objects", [id]), ['{"n":1}']);
		await storage.switchTopology(topology(2));
		await writing;
	});

	test("is retried for no other kind of error", async () => {
		await using opened = await open();
		const { storage, versions } = opened;
		const [first] = versions;
		assert.ok(first);
		const lost = new CorkboardError("UNAVAILABLE", "no answer", {
			details: { kind: "connectionLost" },
		});
		first.fault = lost;
		await assert.rejects(write(storage), (thrown) => thrown === lost);
		assert.equal(first.writes, 1);
	});

	test("fails when the storage is disposed", async () => {
		const opened = await open({ retryMs: 60_000 });
		const { storage, versions } = opened;
		const [first] = versions;
		assert.ok(first);
		first.fault = READ_ONLY;
		const writing = write(storage);
		writing.catch(() => {});
		await until("the write refused", () => first.writes === 1);
		await opened[Symbol.asyncDispose]();
		await assert.rejects(writing, (thrown) => thrown === READ_ONLY);
	});

	test("may be a delete of outbox entries, which is retried on the newer version", async () => {
		await using opened = await open({ retryMs: 60_000 });
		const { storage, versions, topology } = opened;
		const { outboxKey } = await storage.transact({
			shard: 0,
			decide: () => ({ result: null, outboxEntry: { n: 1 } }),
		});
		assert.ok(outboxKey);
		const [first] = versions;
		assert.ok(first);
		first.fault = READ_ONLY;
		const deleting = storage.deleteOutboxEntries([outboxKey]);
		await storage.switchTopology(topology(2));
		await deleting;
		assert.deepEqual(
			await storage.pendingEntries({ olderThanMs: 0, limit: 10 }),
			[],
		);
	});

	test("may be some changes of lookups, which wait while the others are done", async () => {
		await using opened = await open({ retryMs: 60_000 });
		const { storage, versions, topology } = opened;
		const [first] = versions;
		assert.ok(first);
		first.fault = READ_ONLY;
		const name = "username";
		const claim = (key: string, token: string) => ({ id: user(1), token, key });
		const change = (key: string, expect: string | null, next: string) => ({
			name,
			key,
			expect: expect === null ? null : claim(key, expect),
			next: claim(key, next),
		});
		const changing = storage.compareAndSetLookups([
			change("refused", null, "a"),
			change("taken", null, "b"),
			change("refused", "a", "c"),
		]);
		const read = async () =>
			(
				await storage.read("lookups", [
					{ name, key: "refused" },
					{ name, key: "taken" },
				])
			).map((row) => good(row)?.token);
		await until("the other changed", async () => (await read())[1] === "b");
		assert.deepEqual(await read(), [undefined, "b"]);
		await storage.switchTopology(topology(2));
		assert.deepEqual(
			(await changing).map((row) => good(row)?.token),
			["a", "b", "c"],
		);
		assert.deepEqual(await read(), ["c", "b"]);
		assert.deepEqual(
			versions.map(({ writes }) => writes),
			[1, 1],
		);
	});
});

describe("shards that a newer topology opens", () => {
	test("are held while they lack tables, with the reason, and open once these are there", async () => {
		await using opened = await open({ tablesMs: 5 });
		const { storage, topology, versions } = opened;
		using held = published<HeldShards>(STORAGE_CHANNELS.heldShards);
		const [first, second] = topology(1).shards;
		assert.ok(first && second);
		const added = { ...second, range: [4, 5] as const, open: true };
		await storage.switchTopology(
			topology(2, { shards: [first, second, added] }),
		);
		assert.equal(versions.length, 2);
		await until("a report", () => held.messages.length === 1);
		const [report] = held.messages;
		assert.deepEqual([report?.state, report?.shards], ["held", [4, 5]]);
		assert.ok(report?.missing.includes("db00004.pins"));
		assert.ok(report?.missing.includes("db00005.outbox"));
		assert.deepEqual(storage.map.openShards, [0, 1]);
		// The version itself is in use.
		assert.equal(storage.topology.version, 2);
		assert.deepEqual(storage.map.shards, [0, 1, 2, 3, 4, 5]);

		await storage.admin.createTables();
		await until("open shards", () => storage.map.openShards.length === 4);
		assert.deepEqual(storage.map.openShards, [0, 1, 4, 5]);
		await until("a second report", () => held.messages.length === 2);
		assert.deepEqual(held.messages[1], {
			state: "open",
			shards: [4, 5],
			missing: [],
		});
	});

	test("stay held from version to version, and those that were open stay open", async () => {
		await using opened = await open({ tablesMs: 5 });
		const { storage, topology } = opened;
		const [first, second] = topology(1).shards;
		assert.ok(first && second);
		const added = { ...second, range: [4, 5] as const, open: true };
		const shards = [first, second, added];
		await storage.switchTopology(topology(2, { shards }));
		await storage.switchTopology(topology(3, { shards }));
		assert.deepEqual(storage.map.openShards, [0, 1]);
		await storage.admin.createTables();
		await until("open shards", () => storage.map.openShards.length === 4);
	});

	test("are held at the start only if others have tables that they lack", async () => {
		using folder = temporaryFolder();
		const topology = topologyOn(`sqlite:${folder.path}`);
		const [first, second] = topology.shards;
		assert.ok(first && second);
		const both = { ...topology, shards: [first, { ...second, open: true }] };
		const openBoth = () =>
			createReloadableStorage(
				(version) => openSqliteStorage({ model: MODEL, topology: version }),
				both,
				{ tablesMs: 5 },
			);
		using held = published<HeldShards>(STORAGE_CHANNELS.heldShards);
		{
			await using storage = await openBoth();
			// `init` never ran: held shards would leave none.
			assert.equal(
				(await storage.admin.missingTables([0, 1, 2, 3])).length > 0,
				true,
			);
			await sleep(30);
			assert.deepEqual(storage.map.openShards, [0, 1, 2, 3]);
			assert.equal(held.messages.length, 0);
			await storage.admin.createTables();
		}
		// As after an update of the program, without `init`.
		for (const shard of [0, 1, 2, 3]) dropTable(folder.path, shard, "outbox");
		dropTable(folder.path, 2, "pins");
		await using storage = await openBoth();
		await until("a report", () => held.messages.length === 1);
		assert.deepEqual(
			held.messages.map(({ shards }) => shards),
			[[2, 3]],
		);
		assert.deepEqual(storage.map.openShards, [0, 1]);
	});

	test("are held and reported at the start while their host does not answer", async () => {
		using folder = temporaryFolder();
		const topology = topologyOn(`sqlite:${folder.path}`);
		const [first, second] = topology.shards;
		assert.ok(first && second);
		const both = { ...topology, shards: [first, { ...second, open: true }] };
		const openBoth = () =>
			createReloadableStorage(
				(version) => openSqliteStorage({ model: MODEL, topology: version }),
				both,
				{ tablesMs: 5 },
			);
		{
			await using storage = await openBoth();
			await storage.admin.createTables();
		}
		const file = join(folder.path, "db00002.sqlite");
		const whole = readFileSync(file);
		writeFileSync(file, "no database");
		using held = published<HeldShards>(STORAGE_CHANNELS.heldShards);
		await using storage = await openBoth();
		await until("a report", () => held.messages.length === 1);
		const [report] = held.messages;
		assert.deepEqual([report?.state, report?.shards], ["held", [2, 3]]);
		assert.ok(report?.error !== undefined);
		assert.deepEqual(storage.map.openShards, [0, 1]);
		writeFileSync(file, whole);
		await until("open shards", () => storage.map.openShards.length === 4);
	});
});

function dropTable(folder: string, shard: number, table: string): void {
	const file = new DatabaseSync(join(folder, `db0000${shard}.sqlite`));
	file.exec(`DROP TABLE ${table}`);
	file.close();
}

/** The messages of a channel. */
function published<Message>(
	channel: Channel<Message>,
): Disposable & { readonly messages: readonly Message[] } {
	const messages: Message[] = [];
	const listening = listen(channel, (message) => void messages.push(message));
	return { messages, [Symbol.dispose]: () => listening[Symbol.dispose]() };
}
