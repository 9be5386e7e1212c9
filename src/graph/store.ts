import { LocalCache } from "../cache/local.ts";
import type { Call } from "../diagnostics.ts";
import { CorkboardError } from "../errors.ts";
import type { Cursors } from "../id/cursors.ts";
import { type Id, unpackId } from "../id/ids.ts";
import type { Model } from "../model/types.ts";
import type {
	Answer,
	Edge,
	ListKey,
	ListRow,
	LookupKey,
	LookupRow,
	Storage,
} from "../storage/port.ts";
import type { JsonObject } from "../util/json.ts";
import type { Node } from "./types.ts";

/**
 * What all requests of a process share: the shards, and the cache in front of
 * them. It knows no viewer: what it answers is what is stored, deleted and
 * hidden things included, so nothing above `graph/` may hold one.
 */
export interface Store {
	readonly model: Model;
	readonly storage: Storage;
	readonly cursors: Cursors;
	objects(
		ids: readonly Id[],
		call?: Call,
	): Promise<readonly Answer<Node | null>[]>;
	/** The beginning of each list, with at least `depth` edges or all there are. */
	heads(
		lists: readonly ListKey[],
		depth: number,
		call?: Call,
	): Promise<readonly Answer<Head>[]>;
	lookups(
		keys: readonly LookupKey[],
		call?: Call,
	): Promise<readonly Answer<LookupRow | null>[]>;
	/** What is in the process already: the object, null for one known to be absent, undefined if it has to be read. */
	cachedObject(id: Id): Node | null | undefined;
	cachedHead(list: ListKey): Head | undefined;
	/** Call it after every commit, and after every commit whose outcome is unknown. */
	bury(changed: Changed): void;
}

/** The newest edges of a list, or the first of one that begins with the oldest. */
export interface Head {
	/** In the mapping's order. */
	readonly edges: readonly Edge[];
	/** Whether that is the whole list. */
	readonly complete: boolean;
	readonly list: ListRow;
}

export interface Changed {
	readonly objects?: readonly Id[];
	readonly lists?: readonly ListKey[];
	readonly lookups?: readonly LookupKey[];
}

/**
 * How many edges are read when a head has to be: a default page and what tells
 * whether another follows, with some room for edges that have to be left out.
 */
export const HEAD_EDGES = 32;

export function createStore(options: {
	readonly model: Model;
	readonly storage: Storage;
	readonly cursors: Cursors;
	/** For the objects kept in the process; heads and lookups get half of it each. 0 keeps nothing. */
	readonly cacheBytes: number;
}): Store {
	const { model, storage, cursors, cacheBytes } = options;
	const objects = new LocalCache<CachedObject>({
		weigh: ({ weight }) => weight,
		maxWeight: cacheBytes,
	});
	const heads = new LocalCache<Head>({
		weigh: ({ edges }) => 200 + edges.length * EDGE_BYTES,
		maxWeight: cacheBytes / 2,
	});
	const lookups = new LocalCache<{ readonly row: LookupRow | null }>({
		weigh: () => 200,
		maxWeight: cacheBytes / 2,
	});

	return {
		model,
		storage,
		cursors,

		async objects(ids, call) {
			const answers = await objects.read<CorkboardError>(
				ids,
				async (missing) => {
					const texts = await storage.objects(
						missing.map((index) => ids[index] as Id),
						call,
					);
					return texts.map((text, at) =>
						text instanceof CorkboardError
							? text
							: parse(model, ids[missing[at] as number] as Id, text),
					);
				},
				{ trace: call?.trace },
			);
			return answers.map((answer) =>
				answer instanceof CorkboardError ? answer : answer.node,
			);
		},

		async heads(lists, depth, call) {
			return heads.read<CorkboardError>(
				lists.map(listKey),
				async (missing) => {
					// Counts alone are asked for as a depth of 0, which reads no edge.
					const limit = depth === 0 ? 0 : Math.max(depth, HEAD_EDGES);
					const scanned = await storage.scan(
						missing.map((index) => ({
							...(lists[index] as ListKey),
							backward: false,
							limit,
						})),
						call,
					);
					return scanned.map((answer) =>
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
				},
				{
					enough: (head) => head.complete || head.edges.length >= depth,
					trace: call?.trace,
				},
			);
		},

		async lookups(keys, call) {
			const answers = await lookups.read<CorkboardError>(
				keys.map(lookupKey),
				async (missing) => {
					const rows = await storage.lookups(
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

		bury(changed) {
			for (const id of changed.objects ?? []) objects.bury(id);
			for (const list of changed.lists ?? []) heads.bury(listKey(list));
			for (const key of changed.lookups ?? []) lookups.bury(lookupKey(key));
		},
	};
}

export function listKey(list: ListKey): string {
	return `${list.mapping.name} ${list.from}`;
}

export function typeOf(model: Model, id: Id): string | null {
	return model.objectsByNumber.get(unpackId(id).type)?.name ?? null;
}

interface CachedObject {
	readonly node: Node | null;
	readonly weight: number;
}

/** Two ids as strings, three numbers and a record. */
const EDGE_BYTES = 200;

function parse(
	model: Model,
	id: Id,
	text: string | null,
): CachedObject | CorkboardError {
	if (text === null) return { node: null, weight: 0 };
	try {
		const data = JSON.parse(text) as JsonObject;
		const type = typeOf(model, id) as string;
		return { node: { id, type, data }, weight: text.length * 3 };
	} catch (cause) {
		return new CorkboardError("INTERNAL", "A stored object is not JSON.", {
			cause,
			details: { id },
		});
	}
}

function lookupKey({ name, key }: LookupKey): string {
	return `${name} ${key}`;
}
