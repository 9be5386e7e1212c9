import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { KeyResult } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { CachedObject } from "../store/cachedObject.ts";
import type { ReadStore } from "../store/store.ts";
import type { Node } from "../types.ts";
import { LoadedObjects } from "./loadedObjects.ts";
import { ViewerLists } from "./viewerLists.ts";
import { VisibilityDecider } from "./visibility.ts";

/** Objects as one viewer sees them, and what was read for that: of one request, until it writes. */
export class VisibleObjects {
	readonly #objects: LoadedObjects;
	readonly #lists: ViewerLists;
	/** Lists that hide something: they are read beside the first objects. Others only if an object is hidden from those whom it is not shared with. */
	readonly #hiding: readonly Mapping[];
	readonly #decider: VisibilityDecider;

	/** `written`: objects as a write of the request committed them. */
	constructor(
		store: ReadStore,
		viewer: Id | null,
		written: readonly Node[] = [],
	) {
		const { hides } = store.domain.visibility;
		this.#objects = new LoadedObjects(store, written);
		const record = store.viewerRecord;
		this.#lists = new ViewerLists(record?.store ?? store, viewer);
		this.#hiding = hides.map(({ mapping }) => mapping);
		this.#decider = new VisibilityDecider(
			viewer,
			hides,
			this.#objects,
			this.#lists,
			record,
		);
	}

	/** Visible objects; null for the others. */
	read(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<KeyResult<Node | null>[]> {
		this.#lists.prefetch(this.#hiding, call);
		const seen = new Array<KeyResult<Node | null> | undefined>(ids.length);
		if (!this.#decideAll(ids, seen, call)) {
			return this.#readMissing(ids, seen, call);
		}
		const { isInProcess, inRequest, inProcess } = this.#objects;
		if (!isInProcess) call?.trace?.cache("request", inRequest, inProcess);
		return seen as KeyResult<Node | null>[];
	}

	/** Objects as stored, hidden ones too. */
	readStored(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<CachedObject>[]> {
		const objects = this.#objects;
		objects.begin();
		const found = ids.map((id) => objects.find(id));
		call?.trace?.cache("process", objects.inProcess, 0);
		return andThen(objects.load(call), () =>
			found.map(
				(object, at) =>
					object ?? (objects.peek(ids[at] as Id) as KeyResult<CachedObject>),
			),
		);
	}

	/** An object as stored, if the request has read it. */
	stored(id: Id): KeyResult<Node | null> | undefined {
		const object = this.#objects.peek(id);
		return object instanceof CorkboardError ? object : object?.node;
	}

	/** Each round reads what the one before found missing: objects, then their parents and owners, then theirs. */
	async #readMissing(
		ids: readonly Id[],
		seen: (KeyResult<Node | null> | undefined)[],
		call: CallOptions | undefined,
	): Promise<KeyResult<Node | null>[]> {
		do {
			const objects = this.#objects.load(call);
			const lists = this.#lists.read(call);
			if (objects !== undefined && lists !== undefined) {
				await Promise.all([objects, lists]);
			} else await (objects ?? lists);
		} while (!this.#decideAll(ids, seen, call));
		return seen as KeyResult<Node | null>[];
	}

	/** Decides those that are not decided yet, as far as it can. Whether these were all. */
	#decideAll(
		ids: readonly Id[],
		seen: (KeyResult<Node | null> | undefined)[],
		call: CallOptions | undefined,
	): boolean {
		let isWhole = true;
		this.#objects.begin();
		this.#decider.begin();
		for (let at = 0; at < ids.length; at++) {
			if (seen[at] !== undefined) continue;
			const node = this.#decider.see(ids[at] as Id);
			seen[at] = node;
			if (node === undefined) isWhole = false;
		}
		call?.trace?.cache("process", this.#objects.inProcess, 0);
		return isWhole;
	}
}
