import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { deliverPending } from "../../src/graph/outbox/deliverPending.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { good } from "../helpers/storing.ts";
import { type Fleet, openProcess, type Process, startFleet } from "./fleet.ts";

describe("a process that is paused in a rename", () => {
	let fleet: Fleet;
	let frozen: Process;
	let other: Process;
	before(async () => {
		fleet = await startFleet();
		frozen = await openProcess(fleet.addresses);
		other = await openProcess(fleet.addresses);
	});
	after(async () => {
		await frozen?.[Symbol.asyncDispose]();
		await other?.[Symbol.asyncDispose]();
		await fleet[Symbol.asyncDispose]();
	});

	let users = 0;
	const make = (process: Process, names: JsonObject = {}) =>
		process.make("User", {
			username: `user_${users++}`,
			created_at: "2026-01-01T00:00:00.000Z",
			...names,
		});

	for (const name of ["username", "email"]) {
		for (const [where, step] of [
			["before it reserves", "changing lookups"],
			["before it writes the user", "changed lookups"],
		] as const) {
			for (const taker of ["creates", "renames"]) {
				it(`${where} does not get the ${name} with which another process ${taker} a user`, async () => {
					const key = `wanted_${users}@x`;
					const ann = await make(frozen);
					let ben = await make(other);
					const held = frozen.pauses.hold(step);
					const renaming = frozen.writes
						.modify(ann, (data) => ({ ...data, [name]: key }))
						.then(
							() => "acknowledged",
							(error) => error.code,
						);
					await held.reached;
					// What the outbox worker does, at once.
					const writer = new WritePipeline(other.store);
					assert.equal((await deliverPending(writer, 0)).undelivered, 0);
					if (taker === "creates") ben = await make(other, { [name]: key });
					else {
						await other.writes.modify(ben, (data) => ({
							...data,
							[name]: key,
						}));
					}
					held.release();
					assert.equal(await renaming, "CONFLICT");

					for (const { store } of [frozen, other]) {
						await store.outboxDeletions.flush();
					}
					const { storage } = other;
					const [row] = await storage.read("lookups", [{ name, key }]);
					assert.equal(good(row)?.id, ben);
					const [text] = await storage.read("objects", [ann]);
					assert.notEqual(JSON.parse(good(text) as string)[name], key);
					const pending = { olderThanMs: 0, limit: 10 };
					assert.deepEqual(await storage.pendingEntries(pending), []);
				});
			}
		}
	}

	it("begins again where its reservation was released, and nobody took the name", async () => {
		const ann = await make(frozen);
		const held = frozen.pauses.hold("changed lookups");
		const renaming = frozen.writes.modify(ann, (data) => ({
			...data,
			username: "wanted again",
		}));
		await held.reached;
		const writer = new WritePipeline(other.store);
		assert.equal((await deliverPending(writer, 0)).undelivered, 0);
		held.release();
		await renaming;
		const { storage } = other;
		const [row] = await storage.read("lookups", [
			{ name: "username", key: "wanted again" },
		]);
		assert.equal(good(row)?.id, ann);
		const [text] = await storage.read("objects", [ann]);
		assert.equal(JSON.parse(good(text) as string).username, "wanted again");
		await frozen.store.outboxDeletions.flush();
		const pending = { olderThanMs: 0, limit: 10 };
		assert.deepEqual(await storage.pendingEntries(pending), []);
	});

	it("loses nothing where nobody released its reservation", async () => {
		const ann = await make(frozen);
		const held = frozen.pauses.hold("changed lookups");
		const renaming = frozen.writes.modify(ann, (data) => ({
			...data,
			username: "kept",
		}));
		await held.reached;
		await assert.rejects(make(other, { username: "kept" }), {
			code: "CONFLICT",
		});
		held.release();
		await renaming;
		const writer = new WritePipeline(other.store);
		assert.equal((await deliverPending(writer, 0)).undelivered, 0);
		const [row] = await other.storage.read("lookups", [
			{ name: "username", key: "kept" },
		]);
		assert.equal(good(row)?.id, ann);
	});
});
