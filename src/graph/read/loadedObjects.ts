import DataLoader from "dataloader";
import type { Moment } from "../../cache/localCache.ts";
import type { Id } from "../../id/ids.ts";
import type { KeyResult } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import { CachedObject } from "../store/cachedObject.ts";
import type { ReadStore } from "../store/store.ts";
import type { Node } from "../types.ts";

/**
 * The objects of one request, which sees one state of each. Objects are found in
 * the process; those that are not are noted and then loaded, together with those
 * of all reads of the same tick.
 *
 * As long as everything was in the process and the cache there has not changed,
 * what was found needs no map: the cache would answer the same. Most requests end before
 * it does.
 */
export class LoadedObjects {
	/** How many objects were found since `begin` that the request had, and others that the process had. */
	inRequest = 0;
	inProcess = 0;
	readonly #store: ReadStore;
	/** Null as long as the cache in the process answers the same. */
	#byId: Map<Id, KeyResult<CachedObject>> | null = null;
	/** What was found until then. */
	#found: CachedObject[] = [];
	/** The changes of the cache when the first of these was found. */
	#changes = 0;
	#moment: Moment = 0;
	#missing: Set<Id> | null = null;
	#loader: DataLoader<Load, undefined> | null = null;

	/** `written`: objects as a write of the request committed them. */
	constructor(store: ReadStore, written: readonly Node[]) {
		this.#store = store;
		const { visibility } = store.domain;
		for (const node of written) {
			this.#byId ??= new Map();
			const facts = visibility.factsOf(node);
			this.#byId.set(node.id, CachedObject.unstored({ node, facts }));
		}
	}

	/** Begins an attempt to do without another read. It ends before anything else runs. */
	begin(): void {
		this.inRequest = 0;
		this.inProcess = 0;
		this.#moment = this.#store.moment();
		if (this.#byId !== null) return;
		const changes = this.#store.objectChanges();
		if (this.#found.length === 0) this.#changes = changes;
		else if (this.#changes !== changes) this.#keepFound();
	}

	/** Undefined if the object has to be loaded: `load` does so. */
	find(id: Id): KeyResult<CachedObject> | undefined {
		const known = this.#byId?.get(id);
		if (known !== undefined) {
			this.inRequest++;
			return known;
		}
		const cached = this.#store.cachedObject(id, this.#moment);
		if (cached !== undefined) {
			if (this.#byId !== null) this.#byId.set(id, cached);
			else this.#found.push(cached);
			this.inProcess++;
			return cached;
		}
		if (this.#byId === null) {
			this.#keepFound();
			// The entry may have become too old since the request found it.
			return this.find(id);
		}
		this.#missing ??= new Set();
		this.#missing.add(id);
		return undefined;
	}

	/** As the request knows it, or the process has it. */
	peek(id: Id): KeyResult<CachedObject> | undefined {
		return this.#byId?.get(id) ?? this.#store.cachedObject(id, this.#moment);
	}

	/** Whether the process answers for the request. */
	get isInProcess(): boolean {
		return this.#byId === null;
	}

	/** Loads what the attempt did not find. Undefined if that is nothing. */
	load(call: CallOptions | undefined): Promise<undefined> | undefined {
		if (this.#missing === null) return undefined;
		const ids = [...this.#missing];
		this.#missing = null;
		this.#loader ??= new DataLoader((loads) => this.#loadAll(loads), {
			cache: false,
		});
		return this.#loader.load({ ids, call });
	}

	async #loadAll(loads: readonly Load[]): Promise<undefined[]> {
		const ids = idsOf(loads);
		const objects = await this.#store.readObjects(ids, mergedCall(loads));
		for (let at = 0; at < ids.length; at++) {
			const id = ids[at] as Id;
			const byId = this.#byId as Map<Id, KeyResult<CachedObject>>;
			if (!byId.has(id)) byId.set(id, objects[at] as KeyResult<CachedObject>);
		}
		return loads.map(() => undefined);
	}

	/** From now on the request remembers what it found: the cache may change. */
	#keepFound(): void {
		this.#byId = new Map();
		for (const object of this.#found) {
			this.#byId.set(object.key as Id, object);
		}
		this.#found = [];
	}
}

interface Load {
	readonly ids: readonly Id[];
	readonly call: CallOptions | undefined;
}

/** The ids of all loads, each once. */
function idsOf(loads: readonly Load[]): readonly Id[] {
	const [first] = loads;
	return first !== undefined && loads.length === 1
		? first.ids
		: [...new Set(loads.flatMap(({ ids }) => ids))];
}

/** Merged loads are one call. Its trace is that of the first load; the others report hits of the request. */
function mergedCall(loads: readonly Load[]): CallOptions | undefined {
	const [first, ...rest] = loads;
	for (const { ids, call } of rest) {
		call?.trace?.cache("request", ids.length, 0);
	}
	return first?.call;
}
