import DataLoader from "dataloader";
import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Lookup } from "../../model/types.ts";
import { type KeyResult, PRESENT } from "../../storage/storage.ts";
import type { Store } from "../store/store.ts";
import type { Graph, Node } from "../types.ts";
import { createBlockReader, NO_BLOCKS } from "./blockReader.ts";
import { findByKeys } from "./findByKeys.ts";
import { readPages } from "./pages.ts";
import { NO_READ_COUNTER, type ReadCounter } from "./readCounter.ts";

/** A graph whose reads a write of the same request can discard. */
export interface View extends Graph {
	discardReads(): void;
}

/**
 * The graph as one viewer sees it, for one request. It keeps what it read, so
 * that the request sees one state of each object, and it merges the reads that
 * sibling branches of a plan start in one tick. A load's key is the whole list of
 * ids of a step: one promise per step, none per object.
 */
export function createView(
	store: Store,
	viewer: Id | null,
	counter: ReadCounter = NO_READ_COUNTER,
): View {
	const { model, domain } = store;
	const { visibility } = domain;
	let objects = new Map<Id, KeyResult<Node | null>>();
	const newBlocks = () =>
		viewer === null || visibility.blocks === null
			? NO_BLOCKS
			: createBlockReader(store, visibility.blocks, viewer);
	let blocks = newBlocks();
	const userType = visibility.blocks?.userType;

	const loader = new DataLoader<ObjectsLoad, readonly KeyResult<Node | null>[]>(
		async (loads) => {
			// A write may discard the map while this reads.
			const known = objects;
			const wanted = new Set<Id>();
			for (const { ids } of loads) {
				for (const id of ids) if (!known.has(id)) wanted.add(id);
			}
			const ids = [...wanted];
			const results =
				ids.length > 0 ? await store.readObjects(ids, mergedCall(loads)) : [];
			for (const [at, id] of ids.entries()) {
				known.set(id, results[at] as KeyResult<Node | null>);
			}
			return loads.map((load) =>
				load.ids.map((id) => known.get(id) as KeyResult<Node | null>),
			);
		},
		{ cache: false },
	);

	/** Objects as stored. If all are in memory, they wait for no batch. */
	function readStored(
		ids: readonly Id[],
		call: CallOptions | undefined,
	): Promise<readonly KeyResult<Node | null>[]> {
		const results: KeyResult<Node | null>[] = [];
		let inRequest = 0;
		for (const id of ids) {
			let result = objects.get(id);
			if (result === undefined) {
				result = store.cachedObject(id);
				if (result === undefined) break;
				objects.set(id, result);
			} else {
				inRequest++;
			}
			results.push(result);
		}
		if (results.length === ids.length) {
			call?.trace?.cache("request", inRequest, ids.length - inRequest);
			call?.trace?.cache("process", ids.length - inRequest, 0);
			return Promise.resolve(results);
		}
		return loader.load({ ids, call });
	}

	/**
	 * Visible objects; null for the others. Parents and owners are read by the
	 * same function, level by level: an object is visible only if they are.
	 */
	async function readVisible(
		ids: readonly Id[],
		call?: CallOptions,
	): Promise<KeyResult<Node | null>[]> {
		const blockReader = blocks;
		blockReader.prefetch(call);
		const stored = await readStored(ids, call);
		const dependencies = new Set<Id>();
		/** Whose block status decides: owners of objects, and users themselves. */
		const users = new Set<Id>();
		const candidates = stored.map((node): Candidate | null => {
			if (!isNode(node) || !visibility.isVisible(node, viewer)) return null;
			const keys = visibility.keysOf(node.type);
			const parent = idIn(node, keys.parent);
			// A part without its whole is not visible.
			if (keys.parent !== null && parent === null) return null;
			// An object without an owner has no user who could hide it.
			const owner = idIn(node, keys.owner);
			if (parent !== null) dependencies.add(parent);
			if (owner !== null) dependencies.add(owner);
			const user = node.type === userType ? node.id : owner;
			if (user !== null && user !== viewer) users.add(user);
			return { node, parent, owner, user };
		});
		const dependencyIds = [...dependencies];
		const [results, statuses] = await Promise.all([
			dependencyIds.length === 0 ? [] : readVisible(dependencyIds, call),
			viewer === null || users.size === 0
				? null
				: blockReader.readStatus([...users], call),
		]);
		const visible = new Map(
			dependencyIds.map((id, at) => [id, results[at] ?? null]),
		);
		return stored.map((result, at) => {
			const candidate = candidates[at] ?? null;
			if (candidate === null) return isNode(result) ? null : result;
			const { node, user } = candidate;
			const resultOf = (id: Id | null) =>
				id === null ? node : (visible.get(id) ?? null);
			const parent = resultOf(candidate.parent);
			const owner = resultOf(candidate.owner);
			if (parent === null || owner === null) return null;
			const status = user === null ? undefined : statuses?.get(user);
			if (status instanceof CorkboardError) return status;
			if (status?.blocksViewer) return null;
			// The viewer still sees a user it blocks, so that it can unblock that user.
			if (status?.blockedByViewer && node.type !== userType) return null;
			if (parent instanceof CorkboardError) return parent;
			return owner instanceof CorkboardError ? owner : node;
		});
	}

	async function readObjects(
		ids: readonly Id[],
		call?: CallOptions,
	): Promise<KeyResult<Node | null>[]> {
		const results = await readVisible(ids, call);
		counter.addObjects(ids, results, (id) => objects.get(id));
		return results;
	}

	const graph: View = {
		model,
		viewer,
		readObjects,
		async readPages(mapping, froms, page, call) {
			const readable = froms.filter(
				(from) => from === viewer || !visibility.isPrivateList(mapping),
			);
			const pages = await readPages(
				{ store, readVisible: readObjects, onEdgesRead: counter.addEdges },
				mapping,
				readable,
				page,
				call,
			);
			if (readable.length === froms.length) return pages;
			const byList = new Map(readable.map((from, at) => [from, pages[at]]));
			return froms.map((from) => byList.get(from) ?? null);
		},

		async hasEdges(mapping, from, tos, call) {
			counter.addEdges(tos.length);
			const list = { mapping, from };
			const head = store.cachedHead(list);
			const present = new Set(head?.edges.map((edge) => edge.to));
			const unknown = head?.complete
				? []
				: tos.filter((to) => !present.has(to));
			if (unknown.length === 0) {
				call?.trace?.cache("process", tos.length, 0);
				return tos.map((to) => present.has(to));
			}
			// The head is read beside the edges, so that a short list answers from
			// memory the next time.
			const [edges] = await Promise.all([
				store.storage.readEdges(
					unknown.map((to) => ({ mapping, from, to })),
					call,
				),
				head === undefined ? store.readHeads([list], 1, call) : undefined,
			]);
			const results = new Map(unknown.map((to, at) => [to, edges[at]]));
			return tos.map((to) => {
				const edge = results.get(to);
				if (edge instanceof CorkboardError) return edge;
				return present.has(to) || edge?.state === PRESENT;
			});
		},

		async lookUp(lookup: Lookup, keys, call) {
			const found = await findByKeys(
				{ readLookups: store.readLookups, readObjects: readStored },
				lookup,
				keys,
				call,
			);
			return found.map((node) =>
				node instanceof CorkboardError ? node : (node?.id ?? null),
			);
		},

		discardReads() {
			objects = new Map();
			blocks = newBlocks();
		},
	};
	return graph;
}

function isNode(result: KeyResult<Node | null>): result is Node {
	return result !== null && !(result instanceof CorkboardError);
}

/** A node that is visible if its parent and owner are, and no block hides it. */
interface Candidate {
	readonly node: Node;
	readonly parent: Id | null;
	readonly owner: Id | null;
	/** Whose block status decides. */
	readonly user: Id | null;
}

function idIn({ data }: Node, key: string | null): Id | null {
	const value = key === null ? null : data[key];
	return typeof value === "string" ? (value as Id) : null;
}

interface ObjectsLoad {
	readonly ids: readonly Id[];
	readonly call: CallOptions | undefined;
}

/** Merged loads are one call. Its trace is that of the first load; the others report hits of the request. */
function mergedCall(loads: readonly ObjectsLoad[]): CallOptions | undefined {
	const [first, ...rest] = loads;
	for (const { ids, call } of rest) {
		call?.trace?.cache("request", ids.length, 0);
	}
	return first?.call;
}
