import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deliverPending } from "../../../src/graph/outbox/deliverPending.ts";
import {
	type DeliveryPass,
	OUTBOX_CHANNELS,
} from "../../../src/graph/outbox/diagnostics.ts";
import { OutboxWorker } from "../../../src/graph/outbox/outboxWorker.ts";
import type { Writer } from "../../../src/graph/outbox/writer.ts";
import { WritePipeline } from "../../../src/graph/write/pipeline.ts";
import type { Id } from "../../../src/id/ids.ts";
import type { PendingEntry } from "../../../src/storage/rows.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import {
	callsOf,
	type Embedded,
	openEmbedded,
} from "../../helpers/embedded.ts";
import { sqlOn } from "../../helpers/importing.ts";
import { collect } from "../../helpers/storing.ts";
import { until } from "../../helpers/until.ts";

/** An undelivered entry, with the object it is about. */
async function enqueue(
	{ storage }: Embedded,
	data: JsonObject,
	entryFor: (id: Id) => JsonObject,
): Promise<Id> {
	const { result } = await storage.transact<Id>({
		shard: 0,
		creates: [{ type: "User", data: { ...data, version: 1 } }],
		decide({ created }) {
			const id = created[0] as Id;
			return { result: id, outboxEntry: entryFor(id) };
		},
	});
	return result;
}

/** A user whose creator died before the name was reserved. */
function pending(graph: Embedded, username: string): Promise<Id> {
	const tokens = { username: `of ${username}` };
	return enqueue(graph, { username, tokens, state: "pending" }, (id) => ({
		pendingObjects: [id],
	}));
}

async function statesOf({ storage }: Embedded, ids: readonly Id[]) {
	const texts = await storage.read("objects", ids);
	return texts.map((text) => JSON.parse(String(text)).state ?? "active");
}

describe("a delivery pass", () => {
	for (const [what, one] of [
		["pending users", pending],
		[
			"reservations of renames that never happened",
			async (graph: Embedded, username: string) => {
				const key = `not ${username}`;
				const id = await enqueue(graph, { username }, (id) => ({
					reservations: [{ name: "username", key, id, token: "n" }],
				}));
				await graph.storage.compareAndSetLookups([
					{ name: "username", key, expect: null, next: { id, token: "n" } },
				]);
			},
		],
		[
			"keys of an import",
			(graph: Embedded, username: string) =>
				enqueue(graph, { username }, (id) => ({
					lookups: [{ name: "import", key: `u:${username}`, id }],
				})),
		],
	] as const) {
		it(`delivers ${what} in as many calls as two of them`, async () => {
			const calls = async (count: number) => {
				await using graph = await openEmbedded({ shards: 1 });
				for (let n = 0; n < count; n++) await one(graph, `user_${n}`);
				const verbs = await callsOf(async () => {
					const pass = await deliverPending(new WritePipeline(graph.store), 0);
					assert.deepEqual(pass, {
						delivered: count,
						undelivered: 0,
						unreadable: 0,
					});
				});
				return verbs.map((verb) => verb.split(" ")[0]);
			};
			const many = await calls(40);
			assert.deepEqual(many, await calls(2));
		});
	}

	it("activates one of two pending users with the same name", async () => {
		await using graph = await openEmbedded();
		const ids = [await pending(graph, "ada"), await pending(graph, "ada")];
		assert.deepEqual(await deliverPending(new WritePipeline(graph.store), 0), {
			delivered: 2,
			undelivered: 0,
			unreadable: 0,
		});
		assert.deepEqual(await statesOf(graph, ids), ["active", "rejected"]);
		const [row] = await graph.storage.read("lookups", [
			{ name: "username", key: "ada" },
		]);
		assert.equal((row as { id: Id }).id, ids[0]);
	});

	it("leaves an import key that leads to another object, and deletes the entry", async () => {
		await using graph = await openEmbedded();
		const keys = (id: Id) => ({
			lookups: [{ name: "import", key: "u:1", id }],
		});
		const first = await enqueue(graph, { username: "first" }, keys);
		await deliverPending(new WritePipeline(graph.store), 0);
		await enqueue(graph, { username: "second" }, keys);
		assert.deepEqual(await deliverPending(new WritePipeline(graph.store), 0), {
			delivered: 1,
			undelivered: 0,
			unreadable: 0,
		});
		const [row] = await graph.storage.read("lookups", [
			{ name: "import", key: "u:1" },
		]);
		assert.equal((row as { id: Id }).id, first);
	});

	it("skips rows that are not entries, delivers all others, and retries such rows ever less often with the reason recorded", async () => {
		await using graph = await openEmbedded({ shards: 1 });
		const bad = [
			"not JSON",
			"[]",
			'{"edges": 5}',
			'{"later": []}',
			'{"pendingObjects": ["x"]}',
			'{"reservations": [{"name": "none", "key": "k", "id": "1", "token": "t"}]}',
			'{"edges": [{"mapping": "none"}]}',
		];
		const ids: Id[] = [];
		for (const [n, text] of bad.entries()) {
			ids.push(await pending(graph, `before_${n}`));
			await enqueue(graph, {}, () => ({ replaced: n }));
			sqlOn(
				graph.folder,
				/^db/,
				`UPDATE outbox SET entry = '${text}' WHERE entry = '{"replaced":${n}}'`,
			);
		}
		ids.push(await pending(graph, "after"));
		const passes: DeliveryPass[] = [];
		const note = (pass: unknown) => void passes.push(pass as DeliveryPass);
		OUTBOX_CHANNELS.deliveryPass.subscribe(note);
		const rows = () => collect(graph.storage.walk("outbox", 0));
		try {
			await using worker = new OutboxWorker(new WritePipeline(graph.store));
			assert.ok(worker);
			await until("a third attempt of all", async () =>
				(await rows()).every(({ attempts }) => attempts >= 3),
			);
		} finally {
			OUTBOX_CHANNELS.deliveryPass.unsubscribe(note);
		}
		assert.deepEqual(new Set(await statesOf(graph, ids)), new Set(["active"]));
		const left = await rows();
		assert.equal(left.length, bad.length);
		for (const { lastError, attempts, nextAttemptAt } of left) {
			assert.match(String(lastError), /^The outbox entry /);
			const delayMs = nextAttemptAt / 1_000 - Date.now();
			assert.ok(delayMs < 1_000 * 2 ** attempts, `${delayMs} ms`);
		}
		// Which pass meets an entry first depends on the clock.
		const total = (of: (pass: DeliveryPass) => number) =>
			passes.reduce((sum, pass) => sum + of(pass), 0);
		assert.equal(
			total(({ unreadable }) => unreadable),
			left.reduce((sum, { attempts }) => sum + attempts, 0),
		);
		assert.equal(
			total(({ delivered }) => delivered),
			ids.length,
		);
	});

	it("goes on with other entries where a failure cannot be recorded", async () => {
		await using graph = await openEmbedded({
			shards: 2,
			wrap: (storage) =>
				new Proxy(storage, {
					get(target, name) {
						if (name === "recordFailedDeliveries") {
							return async () => {
								throw new Error("the shard does not answer");
							};
						}
						const value: unknown = Reflect.get(target, name, target);
						return typeof value === "function" ? value.bind(target) : value;
					},
				}),
		});
		const mappingOf = (name: string) => (id: Id) => ({
			edges: [
				{
					mapping: name,
					from: id,
					to: id,
					state: 0,
					version: 1,
					sequence: 1,
				},
			],
		});
		// More than a page of them, then one that can be delivered.
		for (let n = 0; n < 201; n++) await enqueue(graph, {}, mappingOf("none"));
		const good = await enqueue(graph, {}, mappingOf("repin"));
		const edge = { mapping: graph.mapping("repin"), from: good, to: good };
		const passes: DeliveryPass[] = [];
		const note = (pass: unknown) => void passes.push(pass as DeliveryPass);
		OUTBOX_CHANNELS.deliveryPass.subscribe(note);
		try {
			await using worker = new OutboxWorker(new WritePipeline(graph.store));
			assert.ok(worker);
			await until("delivery", async () => {
				const [found] = await graph.storage.read("edges", [edge]);
				return found !== null;
			});
			await until("the end of the pass", () => passes.length > 0);
		} finally {
			OUTBOX_CHANNELS.deliveryPass.unsubscribe(note);
		}
		assert.match(String(passes[0]?.error), /the shard does not answer/);
	});

	it("delivers all but what cannot be delivered, and returns the error", async () => {
		await using graph = await openEmbedded();
		const ids = [await pending(graph, "ada"), await pending(graph, "bob")];
		await enqueue(graph, {}, (id) => ({
			edges: [
				{
					mapping: "none",
					from: id,
					to: id,
					state: 0,
					version: 1,
					sequence: 1,
				},
			],
		}));
		ids.push(await pending(graph, "eve"));
		const {
			delivered,
			undelivered: left,
			error,
		} = await deliverPending(new WritePipeline(graph.store), 0);
		assert.deepEqual([delivered, left], [3, 1]);
		assert.match(String(error), /the mapping none, which/);
		assert.deepEqual(await statesOf(graph, ids), [
			"active",
			"active",
			"active",
		]);
		assert.equal(
			(await graph.storage.pendingEntries({ olderThanMs: 0, limit: 10 }))
				.length,
			1,
		);
	});
});

describe("an outbox worker", () => {
	it("asks every process to delete in the shared caches what an entry names, before it takes it", async () => {
		const asked = Promise.withResolvers<readonly string[]>();
		const lists = [{ mapping: "likePin", from: "6" }];
		const due: PendingEntry = {
			shard: 0,
			local: 1,
			entry: { invalidations: { objects: ["5"], lists } },
			attempts: 0,
			nextAttemptAt: 0,
			writtenAt: 0,
			lastError: null,
		};
		const store = {
			sharesCaches: true,
			storage: {
				map: {
					hasSingleWriter: false,
					outboxes: [{ host: "host0", shards: [0] }],
				},
				read: async () => [{ untaken: [], due: [due], next: null }],
			},
			invalidator: {
				async announce(keys: readonly string[]) {
					asked.resolve(keys);
					return false;
				},
			},
		};
		await using worker = new OutboxWorker({ store } as unknown as Writer);
		assert.ok(worker);
		assert.deepEqual(await asked.promise, ["!o 5", "!h likePin 6"]);
	});
});
