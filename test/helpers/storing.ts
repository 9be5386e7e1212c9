import assert from "node:assert/strict";
import { CorkboardError } from "../../src/errors.ts";
import { type Id, unpackId } from "../../src/id/ids.ts";
import type { Mapping } from "../../src/model/types.ts";
import {
	type Edge,
	type EdgeState,
	type KeyResult,
	type Position,
	PRESENT,
	REMOVED,
} from "../../src/storage/rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { WriteTrace } from "../../src/trace.ts";
import type { JsonObject } from "../../src/util/json.ts";

/** Short ways to bring a storage into the state a test is about, all through the port. */
export async function create(
	storage: Storage,
	shard: number,
	type: string,
	...data: readonly JsonObject[]
): Promise<readonly Id[]> {
	const { result } = await storage.transact({
		shard,
		creates: data.map((data) => ({ type, data })),
		decide: ({ created }) => ({ result: created }),
	});
	return result;
}

/** Edges as they shall stand, in one transaction. */
export async function setEdges(
	storage: Storage,
	mapping: Mapping,
	from: Id,
	edges: readonly {
		readonly to: Id;
		readonly sequence: number;
		readonly state?: EdgeState;
		readonly version?: number;
	}[],
): Promise<void> {
	const keys = edges.map(({ to }) => ({ mapping, from, to }));
	await storage.transact({
		shard: unpackId(from).shard,
		lists: [{ mapping, from }],
		edges: keys,
		decide: () => ({
			result: null,
			edges: edges.map(({ to, sequence, state = PRESENT, version = 1 }) => ({
				mapping,
				from,
				to,
				sequence,
				state,
				version,
			})),
		}),
	});
}

/** As a mutation does it: what changes, and whether anything does, is decided under the lock. */
export async function toggle(
	storage: Pick<Storage, "transact">,
	mapping: Mapping,
	from: Id,
	to: Id,
	present: boolean,
	trace?: WriteTrace,
): Promise<void> {
	const state = present ? PRESENT : REMOVED;
	await storage.transact(
		{
			shard: unpackId(from).shard,
			lists: [{ mapping, from }],
			edges: [{ mapping, from, to }],
			decide: ({ lists: [list], edges: [was = null], now }) => {
				if ((was?.state ?? REMOVED) === state) return { result: null };
				const sequence = Math.max((list?.lastSequence ?? 0) + 1, now);
				const version = (was?.version ?? 0) + 1;
				return {
					result: null,
					edges: [{ mapping, from, to, sequence, state, version }],
				};
			},
		},
		trace,
	);
}

export interface ListAs {
	readonly tos: readonly Id[];
	readonly positions: readonly Position[];
	readonly count: number;
	readonly lastSequence: number;
	readonly epoch: number;
}

/** A whole list, in the mapping's order. */
export async function listOf(
	storage: Storage,
	mapping: Mapping,
	from: Id,
): Promise<ListAs> {
	const [answer] = await storage.read("lists", [
		{ mapping, from, backward: false, limit: 10_000 },
	]);
	const { edges, list } = good(answer);
	assert.equal(list.from, from);
	return {
		tos: edges.map(({ to }) => to),
		positions: edges.map(({ sequence, to }) => ({ sequence, to })),
		count: list.count,
		lastSequence: list.lastSequence,
		epoch: list.epoch,
	};
}

/** An answer that is no error. */
export function good<T>(answer: KeyResult<T> | undefined): T {
	assert.ok(answer !== undefined, "expected an answer but got: none");
	if (answer instanceof CorkboardError) throw answer;
	return answer;
}

/** The answers with each error as its code. */
export function codes<T>(
	answers: readonly KeyResult<T>[],
): readonly (T | string)[] {
	return answers.map((answer) =>
		answer instanceof CorkboardError ? answer.code : answer,
	);
}

/** The batches of a walk. */
export async function batchesOf<Row>(
	walk: AsyncIterable<readonly Row[]>,
): Promise<readonly (readonly Row[])[]> {
	const batches: (readonly Row[])[] = [];
	for await (const batch of walk) batches.push(batch);
	return batches;
}

/** All rows of a walk. */
export async function collect<Row>(
	walk: AsyncIterable<readonly Row[]>,
): Promise<readonly Row[]> {
	return (await batchesOf(walk)).flat();
}

export function edge(
	from: Id,
	to: Id,
	sequence: number,
	state: EdgeState = PRESENT,
	version = 1,
): Edge {
	return { from, to, sequence, state, version };
}
