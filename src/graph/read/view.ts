import DataLoader from "dataloader";
import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import { type Lookup, normalizeKey } from "../../model/types.ts";
import { type KeyResult, PRESENT } from "../../storage/storage.ts";
import type { Store } from "../store/store.ts";
import type { Graph, Node } from "../types.ts";
import { createBlockReader, NO_BLOCKS } from "./blockReader.ts";
import { readPages } from "./pages.ts";
import { NO_READ_COUNTER, type ReadCounter } from "./readCounter.ts";

/** A graph that can forget what it read, as it has to after a write of the same request. */
export interface View extends Graph {
	discardReads(): void;
}

/**
 * One viewer's view, for one request. It keeps what it read, so that one
 * request meets one state of an object, and merges what sibling branches of a
 * plan ask for in one tick. The key of a load is a step's whole list of ids: a
 * promise per step, none per object.
 */
export function createView(
	store: Store,
	viewer: Id | null,
	tally: ReadCounter = NO_READ_COUNTER,
): View {
	const { model, domain } = store;
	const { visibility } = domain;
	let kept = new Map<Id, KeyResult<Node | null>>();
	const newBlocks = () =>
		viewer === null || visibility.blocks === null
			? NO_BLOCKS
			: createBlockReader(store, visibility.blocks, viewer);
	let blocks = newBlocks();
	const userType = visibility.blocks?.userType;

	const loader = new DataLoader<ObjectsLoad, readonly KeyResult<Node | null>[]>(
		async (loads) => {
			const keep = kept;
			const wanted = new Set<Id>();
			for (const { ids } of loads) {
				for (const id of ids) if (!keep.has(id)) wanted.add(id);
			}
			const ids = [...wanted];
			const answers =
				ids.length > 0 ? await store.readObjects(ids, mergedCall(loads)) : [];
			for (const [at, id] of ids.entries()) {
				keep.set(id, answers[at] as KeyResult<Node | null>);
			}
			return loads.map((load) =>
				load.ids.map((id) => keep.get(id) as KeyResult<Node | null>),
			);
		},
		{ cache: false },
	);

	/** Objects as stored. What is in memory already waits for no batch. */
	function stored(
		ids: readonly Id[],
		call: CallOptions | undefined,
	): Promise<readonly KeyResult<Node | null>[]> {
		const answers: KeyResult<Node | null>[] = [];
		let inRequest = 0;
		for (const id of ids) {
			let answer = kept.get(id);
			if (answer === undefined) {
				answer = store.cachedObject(id);
				if (answer === undefined) break;
				kept.set(id, answer);
			} else {
				inRequest++;
			}
			answers.push(answer);
		}
		if (answers.length === ids.length) {
			call?.trace?.cache("request", inRequest, ids.length - inRequest);
			call?.trace?.cache("process", ids.length - inRequest, 0);
			return Promise.resolve(answers);
		}
		return loader.load({ ids, call });
	}

	async function visible(
		ids: readonly Id[],
		call?: CallOptions,
	): Promise<KeyResult<Node | null>[]> {
		const listed = blocks;
		listed.prefetch(call);
		const nodes = await stored(ids, call);
		const surrounding = new Set<Id>();
		/** Whose standing decides: objects' owners, and users themselves. */
		const users = new Set<Id>();
		const shown = nodes.map((node): Shown | null => {
			if (!isNode(node) || !visibility.isVisible(node, viewer)) return null;
			const keys = visibility.keysOf(node.type);
			const place = idIn(node, keys.parent);
			// A part of nothing is not seen.
			if (keys.parent !== null && place === null) return null;
			// What belongs to nobody has nobody to hide it.
			const owner = idIn(node, keys.owner);
			if (place !== null) surrounding.add(place);
			if (owner !== null) surrounding.add(owner);
			const user = node.type === userType ? node.id : owner;
			if (user !== null && user !== viewer) users.add(user);
			return { node, place, owner, user };
		});
		const asked = [...surrounding];
		const [answers, standings] = await Promise.all([
			asked.length === 0 ? [] : visible(asked, call),
			viewer === null || users.size === 0
				? null
				: listed.readStatus([...users], call),
		]);
		const seen = new Map(asked.map((id, at) => [id, answers[at] ?? null]));
		return nodes.map((node, at) => {
			const one = shown[at] ?? null;
			if (one === null) return isNode(node) ? null : node;
			const { place, owner, user } = one;
			const placed = place === null ? one.node : (seen.get(place) ?? null);
			const owned = owner === null ? one.node : (seen.get(owner) ?? null);
			if (placed === null || owned === null) return null;
			const standing = user === null ? undefined : standings?.get(user);
			if (standing instanceof CorkboardError) return standing;
			// The account of whom the viewer blocks stays in sight, to unblock it.
			if (standing?.blocksViewer) return null;
			if (standing?.blockedByViewer && one.node.type !== userType) return null;
			if (placed instanceof CorkboardError) return placed;
			return owned instanceof CorkboardError ? owned : one.node;
		});
	}

	async function objects(
		ids: readonly Id[],
		call?: CallOptions,
	): Promise<KeyResult<Node | null>[]> {
		const seen = await visible(ids, call);
		tally.addObjects(ids, seen, (id) => kept.get(id));
		return seen;
	}

	const graph: View = {
		model,
		viewer,
		readObjects: objects,
		async readPages(mapping, froms, page, call) {
			const may = froms.filter(
				(from) => from === viewer || !visibility.isPrivateList(mapping),
			);
			const pages = await readPages(
				{ store, readVisible: objects, onEdgesRead: tally.addEdges },
				mapping,
				may,
				page,
				call,
			);
			if (may.length === froms.length) return pages;
			const byList = new Map(may.map((from, at) => [from, pages[at]]));
			return froms.map((from) => byList.get(from) ?? null);
		},

		async hasEdges(mapping, from, tos, call) {
			tally.addEdges(tos.length);
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
			// The head is read along, at the same level, so that next time a short
			// list answers from memory.
			const [edges] = await Promise.all([
				store.storage.readEdges(
					unknown.map((to) => ({ mapping, from, to })),
					call,
				),
				head === undefined ? store.readHeads([list], 1, call) : undefined,
			]);
			const answers = new Map(unknown.map((to, at) => [to, edges[at]]));
			return tos.map((to) => {
				const edge = answers.get(to);
				if (edge instanceof CorkboardError) return edge;
				return present.has(to) || edge?.state === PRESENT;
			});
		},

		async lookUp(lookup: Lookup, keys, call) {
			const rows = await store.readLookups(
				keys.map((key) => ({
					name: lookup.name,
					key: normalizeKey(lookup, key),
				})),
				call,
			);
			return rows.map((row) =>
				row instanceof CorkboardError ? row : (row?.id ?? null),
			);
		},

		discardReads() {
			kept = new Map();
			blocks = newBlocks();
		},
	};
	return graph;
}

function isNode(answer: KeyResult<Node | null>): answer is Node {
	return answer !== null && !(answer instanceof CorkboardError);
}

/** An object that may be seen if what is around it may be. */
interface Shown {
	readonly node: Node;
	/** What it is a part of. */
	readonly place: Id | null;
	readonly owner: Id | null;
	/** Whose standing with the viewer decides. */
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

/** Merged loads are one call; what it costs is told to the first that is being explained, and the rest see what they asked for as kept by the request. */
function mergedCall(loads: readonly ObjectsLoad[]): CallOptions | undefined {
	const [first, ...rest] = loads;
	for (const { ids, call } of rest)
		call?.trace?.cache("request", ids.length, 0);
	return first?.call;
}
