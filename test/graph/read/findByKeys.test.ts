import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import { deliverPending } from "../../../src/graph/outbox/deliverPending.ts";
import { View } from "../../../src/graph/read/view.ts";
import type { Store } from "../../../src/graph/store/store.ts";
import { createWrites } from "../../../src/graph/write/createWrites.ts";
import { WritePipeline } from "../../../src/graph/write/pipeline.ts";
import type { Id } from "../../../src/id/ids.ts";
import type { LookupRow } from "../../../src/storage/rows.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import {
	callsOf,
	type Embedded,
	openEmbedded,
} from "../../helpers/embedded.ts";
import { hookedStorage } from "../../helpers/hookedStorage.ts";
import { readsWith, storageWith } from "../../helpers/storageWith.ts";

/** A graph whose writers can be stopped after they changed lookup rows, or be cut off from these. */
async function openStoppable() {
	const state = {
		afterLookups: async () => {},
		isCutOff: false,
	};
	const graph = await openEmbedded({
		wrap: (storage) => {
			const hooked = hookedStorage(storage, {
				compareAndSetLookups: () => state.afterLookups(),
			});
			return new Proxy(hooked, {
				get(target, name) {
					const value: unknown = Reflect.get(target, name, target);
					if (name === "compareAndSetLookups" && state.isCutOff) {
						return async (changes: readonly unknown[]) =>
							changes.map(() => new CorkboardError("UNAVAILABLE", "down"));
					}
					return typeof value === "function" ? value.bind(target) : value;
				},
			});
		},
	});
	return { graph, state };
}

/** Who is found by these usernames: with the caches of the writer, of another process, and with none. */
async function found(
	{ store, cold }: Embedded,
	other: Store,
	usernames: readonly string[],
): Promise<readonly (Id | null | CorkboardError)[]> {
	const lookup = store.model.lookups.get("username");
	assert.ok(lookup);
	const results = await Promise.all(
		[store, other, cold()].map((one) =>
			new View(one, null).lookUp(lookup, usernames),
		),
	);
	for (const result of results) assert.deepEqual(result, results[0]);
	return results[0] ?? [];
}

async function idInRow(storage: Storage, key: string): Promise<Id | null> {
	const [row] = await storage.read("lookups", [{ name: "username", key }]);
	return (row as LookupRow | null)?.id ?? null;
}

describe("an object found by a natural key", () => {
	it("holds the key: before a rename is committed nobody is found by the new name, after it nobody by the old one, whatever the lookup rows say", async () => {
		const { graph, state } = await openStoppable();
		await using _ = graph;
		const { writes, storage } = graph;
		/** As another process that gets no invalidation: it reads the object first afterwards. */
		const other = graph.cold();
		const id = await writes.create({ type: "User", data: { username: "old" } });
		const names = ["OLD", "New"];
		assert.deepEqual(await found(graph, other, names), [id, null]);

		// The rows that this process remembers are from before the reservation.
		other.caches.invalidateAll();
		const reserved = Promise.withResolvers<void>();
		const goOn = Promise.withResolvers<void>();
		state.afterLookups = () => {
			reserved.resolve();
			return goOn.promise;
		};
		const renamed = writes.modify(id, (data) => ({ ...data, username: "new" }));
		await reserved.promise;
		assert.equal(await idInRow(storage, "new"), id);
		assert.deepEqual(await found(graph, other, names), [id, null]);

		state.afterLookups = async () => {};
		state.isCutOff = true;
		goOn.resolve();
		await renamed;
		assert.equal(await idInRow(storage, "old"), id, "not released yet");
		// What a publication does to another process; its lookup rows stay.
		other.caches.applyInvalidations([`o ${id}`]);
		assert.deepEqual(await found(graph, other, names), [null, id]);

		state.isCutOff = false;
		await deliverPending(new WritePipeline(graph.store), 0);
		assert.equal(await idInRow(storage, "old"), null);
		assert.deepEqual(await found(graph, other, names), [null, id]);
		const successor = await writes.create({
			type: "User",
			data: { username: "Old" },
		});
		other.caches.invalidateAll();
		assert.deepEqual(await found(graph, other, names), [successor, id]);
	});

	it("is not found by the name of a rename that failed, before its reservation is released", async () => {
		const { graph, state } = await openStoppable();
		await using _ = graph;
		const { store, storage } = graph;
		const writes = createWrites(store);
		const id = await writes.create({
			type: "User",
			data: { username: "ada", email: "a@example.com" },
		});
		await writes.create({
			type: "User",
			data: { username: "bo", email: "b@example.com" },
		});
		state.afterLookups = async () => {
			state.isCutOff = true;
		};
		await assert.rejects(
			writes.modify(id, (data) => ({
				...data,
				username: "eve",
				email: "b@example.com",
			})),
			{ code: "CONFLICT" },
		);
		assert.equal(await idInRow(storage, "eve"), id);
		assert.deepEqual(await found(graph, graph.cold(), ["eve", "ada"]), [
			null,
			id,
		]);
	});

	it("is read in one call with the others, and nothing is read for keys without a row", async () => {
		await using graph = await openEmbedded();
		const { writes, model } = { ...graph, model: graph.store.model };
		const ids: Id[] = [];
		for (const username of ["ada", "bo"]) {
			ids.push(await writes.create({ type: "User", data: { username } }));
		}
		const lookup = model.lookups.get("username");
		assert.ok(lookup);
		const cold = graph.cold();
		assert.deepEqual(
			await callsOf(async () => {
				const view = new View(cold, null);
				const keys = ["nobody", "bo", "ada"];
				assert.deepEqual(await view.lookUp(lookup, keys), [
					null,
					ids[1],
					ids[0],
				]);
				await view.readObjects(ids);
			}),
			["readLookups 3", "readObjects 2"],
		);
		assert.deepEqual(
			await callsOf(() => new View(cold, null).lookUp(lookup, ["no_one"])),
			["readLookups 1"],
		);
	});

	it("is an error where its shard does not answer, and null where its row leads to nothing", async () => {
		let isDown = false;
		await using graph = await openEmbedded({
			wrap: (storage) =>
				storageWith(storage, {
					read: readsWith(storage, {
						objects: async (ids) =>
							isDown
								? ids.map(() => new CorkboardError("UNAVAILABLE", "down"))
								: storage.read("objects", ids),
					}),
				}),
		});
		const { writes, storage, store } = graph;
		const id = await writes.create({ type: "User", data: { username: "ada" } });
		await storage.compareAndSetLookups([
			{
				name: "username",
				key: "lost",
				expect: null,
				next: { id: (BigInt(id) + 5n).toString() as Id, token: "t" },
			},
		]);
		const lookup = store.model.lookups.get("username");
		assert.ok(lookup);
		const look = () =>
			new View(graph.cold(), null).lookUp(lookup, ["lost", "ada"]);
		assert.deepEqual(await look(), [null, id]);
		isDown = true;
		for (const result of await look()) {
			assert.equal((result as CorkboardError).code, "UNAVAILABLE");
		}
	});
});
