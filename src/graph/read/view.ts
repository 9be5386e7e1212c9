import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { GivenKey, Lookup, Mapping, Model } from "../../model/types.ts";
import type { KeyResult } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import {
	andThen,
	isPromise,
	type MaybePromise,
} from "../../util/maybePromise.ts";
import type { ReadStore } from "../store/store.ts";
import type {
	EdgeEnds,
	Graph,
	Node,
	Page,
	PageArguments,
	PageEdge,
	WrittenState,
} from "../types.ts";
import { NO_PAGE_HOOKS, PageHookCalls, type PageHooks } from "./beforePage.ts";
import { findEdges, readEdges } from "./edges.ts";
import { findByKeys } from "./findByKeys.ts";
import { findByPrefix } from "./findByPrefix.ts";
import { readGroups } from "./groups.ts";
import { OpenPage } from "./listPage.ts";
import type { ListSources } from "./listReader.ts";
import { readPages } from "./pages.ts";
import { NO_READ_COUNTER, type ReadCounter } from "./readCounter.ts";
import { VisibleObjects } from "./visibleObjects.ts";

/**
 * The graph as one viewer sees it, for one request. It keeps what it read, so
 * that the request sees one state of each object. What is in memory is returned
 * at once. What is missing is read in batches: of all objects and parents that
 * the reads of one tick found missing, one storage call.
 */
export class View implements Graph {
	readonly model: Model;
	readonly #viewer: Id | null;
	readonly #store: ReadStore;
	readonly #counter: ReadCounter;
	readonly #pageHooks: PageHookCalls;
	/** Where lists are read from, and the objects that they lead to. */
	#sources: ListSources;
	#objects: VisibleObjects;

	constructor(
		store: ReadStore,
		viewer: Id | null,
		counter: ReadCounter = NO_READ_COUNTER,
		hooks: PageHooks = NO_PAGE_HOOKS,
	) {
		this.model = store.model;
		this.#viewer = viewer;
		this.#store = store;
		this.#counter = counter;
		this.#pageHooks = new PageHookCalls(viewer, hooks, counter);
		this.#objects = new VisibleObjects(store, viewer);
		this.#sources = {
			store,
			readVisible: (ids, call) => this.readObjects(ids, call),
			onEdgesRead: counter.addEdges,
			counts: NO_COUNTS,
		};
	}

	/** Code that asks for it may do something else for another viewer. */
	get viewer(): Id | null {
		this.#markPersonal();
		return this.#viewer;
	}

	/** From now on reads what a write of the request may have changed. `written` need not be read again. */
	discardReads(written?: WrittenState): void {
		const { objects, counts = NO_COUNTS } = written ?? {};
		this.#objects = new VisibleObjects(this.#store, this.#viewer, objects);
		this.#sources = { ...this.#sources, counts };
	}

	readObjects(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<Node | null>[]> {
		// A write may discard the reads while this runs.
		const objects = this.#objects;
		return andThen(objects.read(ids, call), (results) => {
			this.#counter.addObjects(ids, results, (id) => objects.stored(id));
			return results;
		});
	}

	readStored(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<Node | null>[]> {
		return andThen(this.#objects.readStored(ids, call), (objects) =>
			objects.map((object) => {
				if (object instanceof CorkboardError) return object;
				return object.read?.facts ? object.node : null;
			}),
		);
	}

	readPublic(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<Node | null>[]> {
		return this.#viewer === null
			? this.readObjects(ids, call)
			: new VisibleObjects(this.#store, null).read(ids, call);
	}

	readPages(
		mapping: Mapping,
		froms: readonly Id[],
		page: PageArguments,
		call?: CallOptions,
	): ReturnType<Graph["readPages"]> {
		const ready = this.#pageHooks.before(mapping, froms, page, call);
		if (isPromise(ready)) {
			return ready.then(() => this.readPages(mapping, froms, page, call));
		}
		const pages = this.#isPrivate(mapping)
			? this.#readOwnPages(mapping, froms, page, call)
			: readPages(this.#sources, mapping, froms, page, call);
		return this.#pageHooks.mayContinue(mapping, froms, page)
			? this.#continueList(mapping, froms, page, pages, call)
			: pages;
	}

	/** If the viewer's own page reaches the end of its list, lets the list go on, and reads the page again. */
	async #continueList(
		mapping: Mapping,
		froms: readonly Id[],
		page: PageArguments,
		reading: ReturnType<Graph["readPages"]>,
		call: CallOptions | undefined,
	): Promise<readonly (Page | null | CorkboardError)[]> {
		let pages = await reading;
		const at = froms.indexOf(this.#viewer as Id);
		for (const isContinued of [false, true]) {
			const own = pages[at] ?? null;
			if (own === null || own instanceof CorkboardError) return pages;
			const mayEnd = page.fields.hasNextPage
				? !own.hasNextPage
				: own.nodes.length < (page.first ?? 0);
			if (!mayEnd) return pages;
			const outcome = await this.#pageHooks.atEnd(
				mapping,
				page,
				own,
				call,
				isContinued,
			);
			if (outcome === "more") {
				return pages.with(at, new OpenPage(own, page.after ?? null));
			}
			if (outcome !== "continued") return pages;
			pages = await (this.#isPrivate(mapping)
				? this.#readOwnPages(mapping, froms, page, call)
				: readPages(this.#sources, mapping, froms, page, call));
		}
		return pages;
	}

	/** Pages of lists that only their owners see: null for everybody else's. */
	#readOwnPages(
		mapping: Mapping,
		froms: readonly Id[],
		page: PageArguments,
		call: CallOptions | undefined,
	): ReturnType<Graph["readPages"]> {
		const own = froms.filter((from) => from === this.#viewer);
		const pages = readPages(this.#sources, mapping, own, page, call);
		return andThen(pages, (pages) => {
			const byList = new Map(own.map((from, at) => [from, pages[at]]));
			return froms.map((from) => byList.get(from) ?? null);
		});
	}

	hasEdges(
		mapping: Mapping,
		from: Id,
		tos: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<boolean>[]> {
		this.#counter.addEdges(tos.length);
		const finding = findEdges(this.#store, mapping, from, tos, call);
		return andThen(finding, (edges) =>
			edges.map((edge) =>
				edge instanceof CorkboardError ? edge : edge !== null,
			),
		);
	}

	async readEdges(
		mapping: Mapping,
		ends: readonly EdgeEnds[],
		call?: CallOptions,
	): Promise<readonly KeyResult<PageEdge | null>[]> {
		const readable = this.#isPrivate(mapping)
			? ends.filter(({ from }) => from === this.#viewer)
			: ends;
		const edges = await readEdges(this.#sources, mapping, readable, call);
		return ends.map((one) => edges[readable.indexOf(one)] ?? null);
	}

	longestLists(
		mapping: Mapping,
		first: number,
		call?: CallOptions,
	): MaybePromise<readonly Node[]> {
		return andThen(this.#store.longestLists(mapping), (lists) => {
			const ids = lists.slice(0, first).map(({ from }) => from);
			return andThen(this.readObjects(ids, call), (nodes) =>
				nodes.filter((node) => node !== null && "data" in node),
			);
		});
	}

	readGroups(
		mapping: Mapping,
		from: Id,
		groups: readonly Id[],
		limit: number,
		call?: CallOptions,
	): ReturnType<Graph["readGroups"]> {
		return this.#isPrivate(mapping) && from !== this.#viewer
			? groups.map(() => [])
			: readGroups(this.#sources, mapping, from, groups, limit, call);
	}

	findByPrefix(
		mapping: Mapping,
		text: string,
		first: number,
		call?: CallOptions,
	): ReturnType<Graph["findByPrefix"]> {
		const read: Graph["readPages"] = (...query) => this.readPages(...query);
		return findByPrefix(this.#store, read, mapping, text, first, call);
	}

	lookUp(
		lookup: Lookup,
		keys: readonly GivenKey[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<Id | null>[]> {
		const found = findByKeys(
			{
				readLookups: (...query) => this.#store.readLookups(...query),
				readObjects: (ids, call) => this.#objects.readStored(ids, call),
			},
			lookup,
			keys,
			call,
		);
		return andThen(found, (found) =>
			found.map((node) =>
				node instanceof CorkboardError ? node : (node?.id ?? null),
			),
		);
	}

	/** Whether only the owner of a list of this mapping may read it. */
	#isPrivate(mapping: Mapping): boolean {
		const isPrivate = this.#store.domain.visibility.isPrivateList(mapping);
		if (isPrivate) this.#markPersonal();
		return isPrivate;
	}

	/** Notes that another viewer may get another answer. */
	#markPersonal(): void {
		const { viewerRecord } = this.#store;
		if (viewerRecord !== null) viewerRecord.isPersonal = true;
	}
}

const NO_COUNTS: WrittenState["counts"] = new Map();
