import type { Moment } from "../../cache/localCache.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { KeyResult } from "../../storage/storage.ts";
import type { CachedObject } from "../store/cachedObject.ts";
import type { Store } from "../store/store.ts";
import type { Node } from "../types.ts";
import type { BlockReader } from "./blockReader.ts";
import type { ViewerLists } from "./viewerLists.ts";

/** Over all requests. A number is used once, also beyond 2^31. */
let runs = 0;

/**
 * Decides what a viewer may see of objects that are all cached in the process,
 * with one look into the cache for each: by the rules of `decide` in view.ts, but
 * without a map. What is decided in a run is noted in the cached objects, which
 * nobody else can read before the run ends.
 *
 * A request must see one state of each object. So this reads for as long as the
 * cache has not changed since its first run; then `objects` says what was read.
 */
export class MemoryReader {
	/** Whatever was read: what a result depends on too. */
	readonly objects: CachedObject[] = [];
	readonly #store: Store;
	readonly #viewer: Id | null;
	readonly #blocks: BlockReader;
	readonly #shared: ViewerLists;
	readonly #userType: string | undefined;
	#changes = 0;
	#run = 0;
	#moment: Moment = 0;
	#isWhole = true;

	constructor(
		store: Store,
		viewer: Id | null,
		blocks: BlockReader,
		shared: ViewerLists,
	) {
		this.#store = store;
		this.#viewer = viewer;
		this.#blocks = blocks;
		this.#shared = shared;
		this.#userType = store.domain.visibility.blocks?.userType;
	}

	/** Visible objects, null for the others; or null if something has to be read. */
	read(ids: readonly Id[], moment: Moment): KeyResult<Node | null>[] | null {
		if (!this.#begin(moment)) return null;
		const results = new Array<KeyResult<Node | null>>(ids.length);
		for (let at = 0; at < ids.length; at++) {
			const object = this.#object(ids[at] as Id);
			if (object === undefined) return null;
			results[at] = this.#isVisible(object) ? object.node : null;
			if (!this.#isWhole) return null;
		}
		return results;
	}

	/** Objects as stored, whoever may see them; or null if one has to be read. */
	readStored(ids: readonly Id[], moment: Moment): (Node | null)[] | null {
		if (!this.#begin(moment)) return null;
		const results: (Node | null)[] = [];
		for (const id of ids) {
			const object = this.#object(id);
			if (object === undefined) return null;
			this.objects.push(object);
			results.push(object.node);
		}
		return results;
	}

	/** Begins a run, unless the cache may have other objects than in the last one. */
	#begin(moment: Moment): boolean {
		const changes = this.#store.objectChanges();
		if (this.#run === 0) this.#changes = changes;
		else if (this.#changes !== changes) return false;
		this.#run = ++runs;
		this.#moment = moment;
		this.#isWhole = true;
		return true;
	}

	#object(id: Id): CachedObject | undefined {
		return this.#store.cachedObject(id, this.#moment);
	}

	/** Undecided, and false, if something has to be read first. */
	#isVisible(object: CachedObject): boolean {
		if (object.decidedIn === this.#run) return object.isVisible;
		object.decidedIn = this.#run;
		// For as long as it is being decided: an object that is a part of itself is not visible.
		object.isVisible = false;
		this.objects.push(object);
		const { node, facts } = object;
		if (node === null || facts === null) return false;
		const { isVisible, sharedBy, parent, owner } = facts;
		if (isVisible !== null && !isVisible(node, this.#viewer)) {
			if (sharedBy === null || !this.#isShared(sharedBy, node.id)) return false;
		}
		if (parent !== null && !this.#isVisibleById(parent)) return false;
		if (owner !== null && !this.#isVisibleById(owner)) return false;
		const isUser = node.type === this.#userType;
		const user = isUser ? node.id : owner;
		if (this.#viewer !== null && user !== null && user !== this.#viewer) {
			const status = this.#blocks.statusOf(user);
			if (status === undefined || status instanceof CorkboardError) {
				this.#isWhole = false;
				return false;
			}
			if (status.blocksViewer) return false;
			if (status.blockedByViewer && !isUser) return false;
		}
		object.isVisible = true;
		return true;
	}

	/** Only now: most requests meet nothing that is hidden from others. */
	#isShared(sharedBy: Mapping, id: Id): boolean {
		this.#shared.prefetch(undefined);
		const isShared = this.#shared.has(sharedBy, id);
		if (typeof isShared === "boolean") return isShared;
		this.#isWhole = false;
		return false;
	}

	#isVisibleById(id: Id): boolean {
		const object = this.#object(id);
		if (object !== undefined) return this.#isVisible(object);
		this.#isWhole = false;
		return false;
	}
}
