import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import type { Id } from "../../src/id/ids.ts";
import { recordWrites } from "../helpers/writeTrace.ts";
import {
	type Fleet,
	openProcess,
	type Process,
	startFleet,
	topologyOf,
} from "./fleet.ts";
import { makePin, makeUser } from "./subjects.ts";

describe("traced writes with shared caches", () => {
	let fleet: Fleet;
	let writer: Process;
	let user: Id;
	before(async () => {
		fleet = await startFleet({ apart: true });
		writer = await openProcess(fleet.addresses);
		user = await makeUser(writer, "liker", 0);
	});
	after(async () => {
		await writer?.[Symbol.asyncDispose]();
		await fleet?.[Symbol.asyncDispose]();
	});

	async function like(process: Process, pin: Id) {
		const { writes: recorded, trace } = recordWrites();
		const writes = createWrites(process.store, () => {}, { trace });
		await writes.setEdge(process.mapping("likePin"), user, pin, true);
		return recorded.map(({ description, caches, ended, delivered }) => [
			`${description.verb} ${description.changes}`,
			caches,
			ended?.outbox,
			delivered,
		]);
	}

	it("record the keys that were deleted after COMMIT", async () => {
		const pin = await makePin(writer, {}, 1);
		const kept = ["redis 1 true"];
		assert.deepEqual(await like(writer, pin), [
			["transaction likePin", kept, { edges: 1, invalidations: 1 }, true],
			// Its own entry covers what it changed on its shard.
			["transaction likePin.inverse", kept, { invalidations: 1 }, true],
		]);
	});

	it("are one write where both shards are on one host", async () => {
		const pin = await makePin(writer, {}, 1);
		const url = fleet.mysql[0]?.url ?? "";
		await using process = await openProcess({
			...fleet.addresses,
			topology: topologyOf([url]),
		});
		assert.deepEqual(await like(process, pin), [
			[
				"transaction likePin,likePin.inverse",
				["redis 2 true"],
				{ invalidations: 1 },
				true,
			],
		]);
	});

	it("record that a cache did not acknowledge, and that the entry stays undelivered", async () => {
		const pin = await makePin(writer, {}, 1);
		await using alone = await openProcess(
			{ ...fleet.addresses, redis: "redis://127.0.0.1:1" },
			{ cacheDeadlineMs: 50 },
		);
		const [write, ...others] = await like(alone, pin);
		assert.deepEqual(write, [
			"transaction likePin",
			["redis 1 false"],
			{ edges: 1, invalidations: 1 },
			false,
		]);
		assert.ok(others.length > 0);
		assert.ok(others.every(([what]) => what !== "outbox outbox"));
	});
});
