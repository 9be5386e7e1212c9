import DataLoader from "dataloader";
import type { Moment } from "../../cache/localCache.ts";
import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Lookup, Mapping } from "../../model/types.ts";
import {
	type KeyResult,
	type ListKey,
	type LookupKey,
	type LookupRow,
	PRESENT,
} from "../../storage/storage.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import { DEEPEST_HEAD, type Head } from "../store/head.ts";
import type { Store } from "../store/store.ts";
import type { Graph, Node, PageArguments } from "../types.ts";
import { NO_PAGE_HOOKS, type PageHooks, type PageLook } from "./beforePage.ts";
import {
	type BlockReader,
	type BlockStatus,
	createBlockReader,
	NO_BLOCK,
	NO_BLOCKS,
} from "./blockReader.ts";
import { readEdges } from "./edges.ts";
import { findByKeys } from "./findByKeys.ts";
import { findByPrefix } from "./findByPrefix.ts";
import { readGroups } from "./groups.ts";
import { MemoryReader } from "./memoryReader.ts";
import { readPages } from "./pages.ts";
import { NO_READ_COUNTER, type ReadCounter } from "./readCounter.ts";
import { createViewerLists, type ViewerLists } from "./viewerLists.ts";
import { isActive, relatedIn } from "./visibility.ts";

/** A graph whose reads a write of the same request can discard. */
export interface View extends Graph {
	/** `written`: objects as that write committed them, which need not be read again. */
	discardReads(written?: readonly Node[]): void;
}

/**
 * The graph as one viewer sees it, for one request. It keeps what it read, so
 * that the request sees one state of each object. What is in memory is returned
 * at once. What is missing is read in batches: of all objects and parents that
 * the reads of one tick found missing, one storage call.
 */
export function createView(
	store: Store,
	viewer: Id | null,
	counter: ReadCounter = NO_READ_COUNTER,
	hooks: PageHooks = NO_PAGE_HOOKS,
): View {
	const { model, domain } = store;
	const { visibility } = domain;
	const userType = visibility.blocks?.userType;
	function newReads(): Reads {
		const blocks =
			viewer === null || visibility.blocks === null
				? NO_BLOCKS
				: createBlockReader(store, visibility.blocks, viewer);
		const shared =
			viewer === null
				? NOTHING_SHARED
				: createViewerLists(store, visibility.shares, viewer);
		return {
			memory: new MemoryReader(store, viewer, blocks, shared),
			objects: new Map(),
			blocks,
			shared,
		};
	}
	let reads = newReads();

	const loader = new DataLoader<ObjectsLoad, void>(
		async (loads) => {
			const ids = idsOf(loads);
			const results = await store.readObjects(ids, mergedCall(loads));
			for (const { reads } of loads) {
				for (let at = 0; at < ids.length; at++) {
					const object = reads.objects.get(ids[at] as Id);
					if (object !== undefined && object.state === undefined) {
						object.state = results[at] as KeyResult<Node | null>;
					}
				}
			}
			return loads.map(() => undefined);
		},
		{ cache: false },
	);

	/** The object, with its state unless that has to be read: then `missing` names it. */
	function find(
		{ objects }: Reads,
		id: Id,
		missing: Missing,
		known = objects.get(id),
	): ReadObject {
		let object = known;
		if (object === undefined) {
			object = readAs(undefined);
			objects.set(id, object);
		} else if (object.state !== undefined) {
			missing.inRequest++;
			return object;
		}
		const cached = store.cachedObject(id, missing.moment);
		if (cached !== undefined) {
			missing.inProcess++;
			object.state = cached.node;
		} else if (object.missingIn !== missing) {
			object.missingIn = missing;
			missing.ids.push(id);
		}
		return object;
	}

	/**
	 * The object if the viewer may see it, otherwise null. It is visible only if
	 * its parent and its owner are. Undefined if something has to be read first:
	 * `missing` names it.
	 */
	function verdictOf(
		reads: Reads,
		id: Id,
		missing: Missing,
	): KeyResult<Node | null> | undefined {
		const known = reads.objects.get(id);
		if (known?.verdict !== undefined) return known.verdict;
		const object = find(reads, id, missing, known);
		const node = object.state;
		if (!isNode(node)) return node;
		// For as long as it is being decided: an object that is a part of itself is not visible.
		object.verdict = null;
		const verdict = decide(reads, node, missing);
		object.verdict = verdict instanceof CorkboardError ? undefined : verdict;
		return verdict;
	}

	function decide(
		reads: Reads,
		node: Node,
		missing: Missing,
	): KeyResult<Node | null> | undefined {
		let isShared: KeyResult<boolean> | undefined = true;
		if (!visibility.isVisible(node, viewer)) {
			const sharedBy = visibility.sharedBy(node.type);
			if (sharedBy === null || !isActive(node)) return null;
			isShared = reads.shared.has(sharedBy, node.id);
			if (isShared === false) return null;
			if (isShared === undefined) missing.shared.add(node.id);
		}
		const related = relatedIn(node, visibility.keysOf(node.type));
		if (related === null) return null;
		const { parent: parentId, owner: ownerId } = related;
		const parent =
			parentId === null ? node : verdictOf(reads, parentId, missing);
		if (parent === null) return null;
		const owner = ownerId === null ? node : verdictOf(reads, ownerId, missing);
		if (owner === null) return null;
		const user = node.type === userType ? node.id : ownerId;
		let status: KeyResult<BlockStatus> | undefined = NO_BLOCK;
		if (user !== null && user !== viewer) {
			status = reads.blocks.statusOf(user);
			if (status === undefined) missing.users.add(user);
		}
		if (
			parent === undefined ||
			owner === undefined ||
			status === undefined ||
			isShared === undefined
		) {
			return undefined;
		}
		if (isShared instanceof CorkboardError) return isShared;
		if (status instanceof CorkboardError) return status;
		if (status.blocksViewer) return null;
		// The viewer still sees a user it blocks, so that it can unblock that user.
		if (status.blockedByViewer && node.type !== userType) return null;
		if (parent instanceof CorkboardError) return parent;
		return owner instanceof CorkboardError ? owner : node;
	}

	/** Puts the verdicts of the ids at these indexes into `results`. Returns the indexes of those for which something has to be read. */
	function decideAll(
		reads: Reads,
		ids: readonly Id[],
		indexes: readonly number[] | null,
		results: KeyResult<Node | null>[],
		missing: Missing,
	): readonly number[] {
		const undecided: number[] = [];
		const count = indexes === null ? ids.length : indexes.length;
		for (let at = 0; at < count; at++) {
			const index = indexes === null ? at : (indexes[at] as number);
			const result = verdictOf(reads, ids[index] as Id, missing);
			if (result === undefined) undecided.push(index);
			else results[index] = result;
		}
		return undecided;
	}

	/** Objects as stored, whoever may see them. */
	function readStored(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<KeyResult<Node | null>[]> {
		const current = reads;
		const moment = store.moment();
		if (current.memory !== null && readsFast(call)) {
			const results = current.memory.readStored(ids, moment);
			if (results !== null) {
				call?.trace?.cache("process", ids.length, 0);
				return results;
			}
		}
		leaveMemory(current);
		const missing = newMissing(moment);
		const found = ids.map((id) => find(current, id, missing));
		const { inRequest, inProcess } = missing;
		const isWhole = missing.ids.length === 0;
		if (isWhole) call?.trace?.cache("request", inRequest, inProcess);
		call?.trace?.cache("process", inProcess, 0);
		const states = () =>
			found.map(({ state }) => state as KeyResult<Node | null>);
		if (isWhole) return states();
		return loader.load({ ids: missing.ids, reads: current, call }).then(states);
	}

	function readLookups(
		keys: readonly LookupKey[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<LookupRow | null>[]> {
		const moment = store.moment();
		const cached = keys.map((key) => store.cachedLookup(key, moment));
		if (!cached.every((one) => one !== undefined)) {
			return store.readLookups(keys, call);
		}
		call?.trace?.cache("process", keys.length, 0);
		return cached.map(({ row }) => row);
	}

	/** Visible objects; null for the others. */
	function readVisible(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<KeyResult<Node | null>[]> {
		// A write may discard the reads while this runs.
		const current = reads;
		current.blocks.prefetch(call);
		const moment = store.moment();
		if (current.memory !== null && readsFast(call)) {
			const results = current.memory.read(ids, moment);
			if (results !== null) {
				call?.trace?.cache("process", ids.length, 0);
				return results;
			}
		}
		leaveMemory(current);
		const missing = newMissing(moment);
		const results = new Array<KeyResult<Node | null>>(ids.length);
		const undecided = decideAll(current, ids, null, results, missing);
		const { inRequest, inProcess } = missing;
		const isWhole = undecided.length === 0;
		if (isWhole) call?.trace?.cache("request", inRequest, inProcess);
		call?.trace?.cache("process", inProcess, 0);
		if (isWhole) return results;
		return readMissing(current, ids, undecided, results, missing, call);
	}

	/** Each round reads what the one before found missing: objects, then their parents and owners, then theirs. */
	async function readMissing(
		reads: Reads,
		ids: readonly Id[],
		first: readonly number[],
		results: KeyResult<Node | null>[],
		firstMissing: Missing,
		call: CallOptions | undefined,
	): Promise<KeyResult<Node | null>[]> {
		let missing = firstMissing;
		for (let undecided = first; undecided.length > 0; ) {
			const users = [...missing.users];
			const shared = [...missing.shared];
			const objects =
				missing.ids.length > 0
					? loader.load({ ids: missing.ids, reads, call })
					: undefined;
			if (users.length + shared.length > 0) {
				await Promise.all([
					objects,
					users.length > 0 && reads.blocks.read(users, call),
					shared.length > 0 && reads.shared.read(shared, call),
				]);
			} else {
				await objects;
			}
			missing = newMissing(store.moment());
			undecided = decideAll(reads, ids, undecided, results, missing);
			call?.trace?.cache("process", missing.inProcess, 0);
		}
		return results;
	}

	function readObjects(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<KeyResult<Node | null>[]> {
		const { objects } = reads;
		return andThen(readVisible(ids, call), (results) => {
			let moment: Moment | undefined;
			counter.addObjects(ids, results, (id) => {
				const state = objects.get(id)?.state;
				if (state !== undefined) return state;
				moment ??= store.moment();
				return store.cachedObject(id, moment)?.node;
			});
			return results;
		});
	}

	function readPagesNow(
		mapping: Mapping,
		froms: readonly Id[],
		page: PageArguments,
		call: CallOptions | undefined,
	): ReturnType<Graph["readPages"]> {
		const readable = visibility.isPrivateList(mapping)
			? froms.filter((from) => from === viewer)
			: froms;
		const pages = readPages(
			{
				store,
				readVisible: readObjects,
				onEdgesRead: counter.addEdges,
			},
			mapping,
			readable,
			page,
			call,
		);
		if (readable.length === froms.length) return pages;
		return andThen(pages, (pages) => {
			const byList = new Map(readable.map((from, at) => [from, pages[at]]));
			return froms.map((from) => byList.get(from) ?? null);
		});
	}

	/** Of this request, by mapping: fields that read the same list share a look. */
	const looks = new Map<string, MaybePromise<PageLook>>();

	/** What has to happen before these pages are read; undefined for nothing. */
	function lookBefore(
		{ name }: Mapping,
		froms: readonly Id[],
		page: PageArguments,
		call: CallOptions | undefined,
	): MaybePromise<void> {
		const before = hooks.before.get(name);
		if (before === undefined || viewer === null) return;
		if (!isFirstLook(page) || !froms.includes(viewer)) return;
		const started = looks.get(name);
		const look = started ?? before({ viewer, call });
		looks.set(name, look);
		return andThen(look, ({ reads, validMs }) => {
			if (started === undefined) counter.addEdges(reads);
			hooks.limitAge(validMs);
		});
	}

	const graph: View = {
		model,
		viewer,
		readObjects,
		readPages(mapping, froms, page, call) {
			const looked = lookBefore(mapping, froms, page, call);
			if (looked instanceof Promise) {
				return looked.then(() => readPagesNow(mapping, froms, page, call));
			}
			return readPagesNow(mapping, froms, page, call);
		},

		hasEdges(mapping, from, tos, call) {
			counter.addEdges(tos.length);
			const head = store.cachedHead(mapping, from);
			if (head?.complete || tos.every((to) => head?.has(to))) {
				call?.trace?.cache("process", tos.length, 0);
				return tos.map((to) => head?.has(to) ?? false);
			}
			return readPresence({ mapping, from }, head, tos, call);
		},

		readEdges(mapping, ends, call) {
			const readable = visibility.isPrivateList(mapping)
				? ends.filter(({ from }) => from === viewer)
				: ends;
			const sources = {
				store,
				readVisible: readObjects,
				onEdgesRead: counter.addEdges,
			};
			return readEdges(sources, mapping, readable, call).then((edges) =>
				ends.map((one) => edges[readable.indexOf(one)] ?? null),
			);
		},

		longestLists(mapping, first, call) {
			return andThen(store.longestLists(mapping), (lists) => {
				const ids = lists.slice(0, first).map(({ from }) => from);
				return andThen(readObjects(ids, call), (nodes) => nodes.filter(isNode));
			});
		},

		readGroups(mapping, from, groups, limit, call) {
			if (visibility.isPrivateList(mapping) && from !== viewer) {
				return groups.map(() => []);
			}
			const sources = {
				store,
				readVisible: readObjects,
				onEdgesRead: counter.addEdges,
			};
			return readGroups(sources, mapping, from, groups, limit, call);
		},

		findByPrefix(mapping, text, first, call) {
			const readListPages: Graph["readPages"] = (...query) =>
				graph.readPages(...query);
			return findByPrefix(store, readListPages, mapping, text, first, call);
		},

		lookUp(lookup: Lookup, keys, call) {
			const found = findByKeys(
				{ readLookups, readObjects: readStored },
				lookup,
				keys,
				call,
			);
			return andThen(found, (found) =>
				found.map((node) =>
					node instanceof CorkboardError ? node : (node?.id ?? null),
				),
			);
		},

		discardReads(written = []) {
			reads = newReads();
			for (const node of written) reads.objects.set(node.id, readAs(node));
		},
	};

	/** Whether edges are present that a cached head, if there is one, does not show. */
	async function readPresence(
		list: ListKey,
		head: Head | undefined,
		tos: readonly Id[],
		call: CallOptions | undefined,
	): Promise<readonly KeyResult<boolean>[]> {
		const unknown = tos.filter((to) => !head?.has(to));
		// The head is read beside the edges, so that a short list answers from
		// memory the next time.
		const [edges] = await Promise.all([
			store.storage.readEdges(
				unknown.map((to) => ({ ...list, to })),
				call,
			),
			!head?.isDeepest
				? store.readHeads([list], DEEPEST_HEAD, call)
				: undefined,
		]);
		const results = new Map(unknown.map((to, at) => [to, edges[at]]));
		return tos.map((to) => {
			const edge = results.get(to);
			if (edge instanceof CorkboardError) return edge;
			return head?.has(to) || edge?.state === PRESENT;
		});
	}

	return graph;
}

/** Whether the page shows the start of its list, and something of it. */
function isFirstLook({ first, after, before, fields }: PageArguments): boolean {
	return (
		after === undefined &&
		before === undefined &&
		first !== undefined &&
		first > 0 &&
		(fields.edges || fields.cursors)
	);
}

/** What a request has read. */
interface Reads {
	/** Reads for as long as everything was in memory; null from the first miss on. */
	memory: MemoryReader | null;
	readonly objects: Map<Id, ReadObject>;
	readonly blocks: BlockReader;
	/** Read only where an object is met that is hidden from others. */
	readonly shared: ViewerLists;
}

/** For requests without a viewer. */
const NOTHING_SHARED: ViewerLists = {
	prefetch() {},
	has: () => false,
	async read() {},
};

interface ReadObject {
	/** As stored; undefined while that is not known. */
	state: KeyResult<Node | null> | undefined;
	/** As the viewer sees it; undefined while that is not decided. */
	verdict: Node | null | undefined;
	/** The last attempt that named it, if it did not find its state. */
	missingIn: Missing | null;
}

function readAs(state: KeyResult<Node | null> | undefined): ReadObject {
	return { state, verdict: undefined, missingIn: null };
}

/** From now on, what was read is remembered: the cache may change. */
function leaveMemory(reads: Reads): void {
	for (const { key, node } of reads.memory?.objects ?? []) {
		reads.objects.set(key as Id, readAs(node));
	}
	reads.memory = null;
}

/** What an attempt to read from memory did not find, and how much it found. */
interface Missing {
	readonly ids: Id[];
	/** Whose block status is not known. */
	readonly users: Set<Id>;
	/** Of which it is not known whether they are shared with the viewer. */
	readonly shared: Set<Id>;
	inRequest: number;
	inProcess: number;
	readonly moment: Moment;
}

function newMissing(moment: Moment): Missing {
	return {
		ids: [],
		users: new Set(),
		shared: new Set(),
		inRequest: 0,
		inProcess: 0,
		moment,
	};
}

function isNode(result: KeyResult<Node | null> | undefined): result is Node {
	return (
		result !== undefined &&
		result !== null &&
		!(result instanceof CorkboardError)
	);
}

interface ObjectsLoad {
	readonly ids: readonly Id[];
	readonly reads: Reads;
	readonly call: CallOptions | undefined;
}

/** The other way traces what else it took from memory to decide what is visible. */
function readsFast(call: CallOptions | undefined): boolean {
	return call?.trace === undefined || call.trace.isBrief === true;
}

/** Of all loads, each once. */
function idsOf(loads: readonly ObjectsLoad[]): readonly Id[] {
	const [first] = loads;
	return first !== undefined && loads.length === 1
		? first.ids
		: [...new Set(loads.flatMap(({ ids }) => ids))];
}

/** Merged loads are one call. Its trace is that of the first load; the others report hits of the request. */
function mergedCall(loads: readonly ObjectsLoad[]): CallOptions | undefined {
	const [first, ...rest] = loads;
	for (const { ids, call } of rest) {
		call?.trace?.cache("request", ids.length, 0);
	}
	return first?.call;
}
