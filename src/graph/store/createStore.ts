import { LocalCache } from "../../cache/localCache.ts";
import { readThrough, type SharedCache } from "../../cache/sharedCache.ts";
import type { CallOptions, WriteTrace } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { CursorCodec } from "../../id/cursorCodec.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type {
	KeyResult,
	ListKey,
	LookupKey,
	LookupRow,
	Storage,
} from "../../storage/storage.ts";
import type { JsonObject } from "../../util/json.ts";
import type { Domain } from "../domain.ts";
import type { Node } from "../types.ts";
import { decodeHead, encodeHead } from "./headCodec.ts";
import {
	type ChangedKeys,
	type Head,
	listKey,
	type SharedCaches,
	type Store,
	typeNameOf,
} from "./store.ts";

/**
 * How many edges are read when a head has to be: a default page and what tells
 * whether another follows, with some room for edges that have to be left out.
 */
export const HEAD_EDGES = 32;

export function createStore(options: {
	readonly model: Model;
	readonly domain: Domain;
	readonly storage: Storage;
	readonly cursors: CursorCodec;
	/** For the objects kept in the process; heads and lookups get half of it each. 0 keeps nothing. */
	readonly cacheBytes: number;
	readonly shared?: SharedCaches;
	/** By which what is kept in the process ages. Milliseconds. */
	readonly now?: () => number;
}): Store {
	const { model, domain, storage, cursors, cacheBytes, shared } = options;
	const clock = options.now === undefined ? {} : { now: options.now };
	const objects = new LocalCache<CachedObject>({
		weigh: ({ weight }) => weight,
		maxWeight: cacheBytes,
		...clock,
	});
	const heads = new LocalCache<Head>({
		weigh: ({ edges }) => 200 + edges.length * EDGE_BYTES,
		maxWeight: cacheBytes / 2,
		...clock,
	});
	const lookups = new LocalCache<{ readonly row: LookupRow | null }>({
		weigh: () => 200,
		maxWeight: cacheBytes / 2,
		...clock,
	});

	async function readObjects(
		ids: readonly Id[],
		call: CallOptions | undefined,
	): Promise<readonly KeyResult<CachedObject>[]> {
		const load = async (missing: readonly number[]) => {
			const some = missing.map((index) => ids[index] as Id);
			const texts = await storage.readObjects(some, call);
			return texts.map((text, at) =>
				text instanceof CorkboardError
					? text
					: parseObject(model, some[at] as Id, text ?? ABSENT),
			);
		};
		if (shared?.objects == null) return load(ids.map((_, index) => index));
		return readThrough<KeyResult<ParsedObject>>(
			shared.objects,
			ids.map((id) => sharedKey(shared, id, id)),
			{
				decode(text, index) {
					const parsed = parseObject(model, ids[index] as Id, text);
					return parsed instanceof CorkboardError ? null : parsed;
				},
				encode: (value) =>
					value instanceof CorkboardError ? null : value.text,
			},
			load,
			call?.trace,
		);
	}

	async function readHeads(
		lists: readonly ListKey[],
		depth: number,
		call: CallOptions | undefined,
	): Promise<readonly KeyResult<Head>[]> {
		// Counts alone are asked for as a depth of 0, which reads no edge. Shared
		// heads are all of one depth; deeper ones are not worth their place there.
		const isShared = shared?.heads != null && depth <= HEAD_EDGES;
		const limit = depth === 0 && !isShared ? 0 : Math.max(depth, HEAD_EDGES);
		const load = async (missing: readonly number[]) => {
			const scanned = await storage.scanLists(
				missing.map((index) => ({
					...(lists[index] as ListKey),
					backward: false,
					limit,
				})),
				call,
			);
			return scanned.map(
				(answer): KeyResult<Head> =>
					answer instanceof CorkboardError
						? answer
						: {
								edges: answer.edges,
								list: answer.list,
								complete:
									limit > 0
										? answer.edges.length < limit
										: answer.list.count === 0,
							},
			);
		};
		if (!isShared) return load(lists.map((_, index) => index));
		return readThrough<KeyResult<Head>>(
			shared.heads as SharedCache,
			lists.map((list) => sharedKey(shared, list.from, listKey(list))),
			{
				decode: decodeHead,
				encode: (value) =>
					value instanceof CorkboardError ? null : encodeHead(value),
			},
			load,
			call?.trace,
		);
	}

	/** Gone from this process, before anything else is awaited. */
	function forget({ objects: ids = [], lists = [] }: ChangedKeys): void {
		for (const id of ids) objects.invalidate(id);
		for (const list of lists) heads.invalidate(listKey(list));
	}

	function publish({ objects: ids = [], lists = [] }: ChangedKeys): void {
		if (ids.length + lists.length === 0) return;
		shared?.publish([
			...ids.map((id) => `o ${id}`),
			...lists.map((list) => `h ${listKey(list)}`),
		]);
	}

	/** Answers whether all shared caches acknowledged. */
	async function inShared(
		verb: "tombstone" | "delete",
		{ objects: ids = [], lists = [] }: ChangedKeys,
		trace: WriteTrace | undefined,
	): Promise<boolean> {
		if (shared === undefined) return true;
		const told = async (cache: SharedCache | null, keys: readonly string[]) => {
			if (cache === null || keys.length === 0) return true;
			const ok =
				verb === "tombstone"
					? await cache.putTombstones(keys)
					: await cache.delete(keys);
			trace?.cache(verb, cache.layer, keys.length, ok);
			return ok;
		};
		const ofObjects = ids.map((id) => sharedKey(shared, id, id));
		const ofHeads = lists.map((list) =>
			sharedKey(shared, list.from, listKey(list)),
		);
		const acknowledged = await Promise.all([
			told(shared.objects, ofObjects),
			told(shared.heads, ofHeads),
		]);
		return acknowledged.every(Boolean);
	}

	const store: Store = {
		model,
		domain,
		storage,
		cursors,
		sharesCaches: shared !== undefined,

		async readObjects(ids, call) {
			const answers = await objects.read<CorkboardError>(
				ids,
				async (missing) => {
					const read = await readObjects(
						missing.map((index) => ids[index] as Id),
						call,
					);
					return read.map((answer) =>
						answer instanceof CorkboardError
							? answer
							: { node: answer.node, weight: answer.weight },
					);
				},
				{ trace: call?.trace },
			);
			return answers.map((answer) =>
				answer instanceof CorkboardError ? answer : answer.node,
			);
		},

		readHeads: (lists, depth, call) =>
			heads.read<CorkboardError>(
				lists.map(listKey),
				(missing) =>
					readHeads(
						missing.map((index) => lists[index] as ListKey),
						depth,
						call,
					),
				{
					suffices: (head) => head.complete || head.edges.length >= depth,
					trace: call?.trace,
				},
			),

		async readLookups(keys, call) {
			const answers = await lookups.read<CorkboardError>(
				keys.map(lookupKey),
				async (missing) => {
					const rows = await storage.readLookups(
						missing.map((index) => keys[index] as LookupKey),
						call,
					);
					return rows.map((row) =>
						row instanceof CorkboardError ? row : { row },
					);
				},
				{ trace: call?.trace },
			);
			return answers.map((answer) =>
				answer instanceof CorkboardError ? answer : answer.row,
			);
		},

		cachedObject: (id) => objects.get(id)?.node,
		cachedHead: (list) => heads.get(listKey(list)),

		putTombstones: (changed, trace) => inShared("tombstone", changed, trace),
		invalidateLocally: forget,
		publish,

		async invalidate(changed, trace) {
			forget(changed);
			const acknowledged = await inShared("delete", changed, trace);
			// Where the tombstone had not come through, what was read from the shared
			// caches since, and kept here, was still the old value.
			forget(changed);
			publish(changed);
			return acknowledged;
		},

		async compareAndSetLookups(changes, trace) {
			try {
				return await storage.compareAndSetLookups(changes, trace);
			} finally {
				for (const change of changes) lookups.invalidate(lookupKey(change));
				shared?.publish(changes.map((change) => `l ${lookupKey(change)}`));
			}
		},

		applyInvalidations(keys) {
			for (const key of keys) {
				const name = key.slice(2);
				if (key.startsWith("o ")) objects.invalidate(name);
				else if (key.startsWith("h ")) heads.invalidate(name);
				else if (key.startsWith("l ")) lookups.invalidate(name);
			}
		},

		invalidateAll() {
			for (const cache of [objects, heads, lookups]) cache.invalidateAll();
		},

		bypass(on) {
			for (const cache of [objects, heads, lookups]) cache.bypass(on);
		},
	};
	return store;
}

interface CachedObject {
	readonly node: Node | null;
	readonly weight: number;
}

/** Two ids as strings, three numbers and a record. */
const EDGE_BYTES = 200;

interface ParsedObject extends CachedObject {
	readonly text: string;
}

/** How shared caches spell that there is no such row. */
const ABSENT = "null";

function parseObject(
	model: Model,
	id: Id,
	text: string,
): ParsedObject | CorkboardError {
	if (text === ABSENT) return { node: null, weight: 0, text };
	try {
		const data = JSON.parse(text) as JsonObject;
		const type = typeNameOf(model, id) as string;
		return { node: { id, type, data }, weight: text.length * 3, text };
	} catch (cause) {
		return new CorkboardError("INTERNAL", "A stored object is not JSON.", {
			cause,
			details: { id },
		});
	}
}

/** `key` belongs to the shard of `id`. No spaces: memcached takes none. */
function sharedKey(shared: SharedCaches, id: Id, key: string): string {
	const generation = shared.generationOf(unpackId(id).shard);
	return `${generation}.${key.replace(" ", ".")}`;
}

function lookupKey({ name, key }: LookupKey): string {
	return `${name} ${key}`;
}
