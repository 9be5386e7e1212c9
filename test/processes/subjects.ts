import assert from "node:assert/strict";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import { type Id, unpackId } from "../../src/id/ids.ts";
import { until } from "../helpers/until.ts";
import type { Process } from "./fleet.ts";

/** A value cached in one of the shared layers that one write changes from `old` to `new`. */
export interface Subject {
	readonly layer: "memcached" | "redis";
	/** The pause after the database has answered. */
	readonly readStep: string;
	make(process: Process): Promise<Id>;
	write(process: Process, id: Id): Promise<void>;
	read(process: Process, id: Id): Promise<"old" | "new">;
}

export const SUBJECTS: readonly Subject[] = [
	{
		layer: "memcached",
		readStep: "objects read",
		make: (process) => makePin(process, { details: "old" }),
		write: (process, id) =>
			process.writes.modify(id, (data) => ({ ...data, details: "new" })),
		read: async (process, id) =>
			(await process.object(id))?.details === "new" ? "new" : "old",
	},
	{
		layer: "redis",
		readStep: "heads read",
		// Both lists of the edge are on one shard: one transaction writes them.
		make: (process) => makePin(process, {}),
		write: (process, id) =>
			process.writes.setEdge(process.mapping("filePin"), id, id, true),
		read: async (process, id) =>
			(await process.head("filePin", id)).count === 1 ? "new" : "old",
	},
];

/** A pin without an owner, on the given shard. */
export async function makePin(
	process: Process,
	data: { readonly details?: string },
	shard = 0,
): Promise<Id> {
	const { result } = await new WritePipeline(process.store).transact<Id>({
		shard,
		creates: [{ type: "Pin", data: { ...data, version: 1 } }],
		decide: ({ created }) => ({ result: created[0] as Id }),
	});
	return result;
}

/** A user with a username, on the given shard. */
export async function makeUser(
	process: Process,
	username: string,
	shard: number,
): Promise<Id> {
	// New users get a random shard: create users until one is on the right shard.
	for (let nth = 0; nth < 100; nth++) {
		const id = await process.make("User", { username: `${username}_${nth}` });
		if (unpackId(id).shard === shard) return id;
	}
	throw new Error(`expected a user on shard ${shard} but got: none of 100`);
}

/** Reads the pin, which has these details, until it is cached in the process: an invalidation that was on its way drops it. */
export async function keep(
	process: Process,
	pin: Id,
	details: string,
): Promise<void> {
	await until("the pin to be kept", async () => {
		assert.equal((await process.object(pin))?.details, details);
		return process.store.cachedObject(pin) !== undefined;
	});
}
