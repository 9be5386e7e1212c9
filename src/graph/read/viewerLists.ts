import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { type KeyResult, PRESENT } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import {
	andThen,
	isPromise,
	type MaybePromise,
} from "../../util/maybePromise.ts";
import { DEEPEST_HEAD, type Head } from "../store/head.ts";
import type { ReadStore } from "../store/store.ts";
import { readWholeHeads } from "./edges.ts";

/**
 * Lists of the viewer that decide what it sees: whom it blocks, what is shared
 * with it. Each is read once a request, whole, as the head of a list like any
 * other, so mostly cached in the process. Objects that are not on the head of a list
 * longer than any head are read edge by edge, once a level of the plan.
 */
export class ViewerLists {
	readonly #store: ReadStore;
	readonly #viewer: Id | null;
	readonly #lists = new Map<Mapping, KeyResult<ViewerList>>();
	#prefetched: MaybePromise<void> | null = null;
	/** What `has` did not know. */
	#unknown = new Map<Mapping, Set<Id>>();

	/** Without a viewer, all lists are empty. */
	constructor(store: ReadStore, viewer: Id | null) {
		this.#store = store;
		this.#viewer = viewer;
	}

	/** Starts to read the lists, beside whatever is read first. */
	prefetch(mappings: readonly Mapping[], call: CallOptions | undefined): void {
		if (this.#viewer === null || this.#prefetched !== null) return;
		this.#prefetched = this.#readHeads(mappings, call);
		// `read` awaits it and rejects.
		if (isPromise(this.#prefetched)) this.#prefetched.catch(() => {});
	}

	/** Whether the object is on the list. An error: the list could not be read. Undefined: it is not known before the next `read`. */
	has(mapping: Mapping, to: Id): KeyResult<boolean> | undefined {
		if (this.#viewer === null) return false;
		const list = this.#lists.get(mapping) ?? this.#cachedList(mapping);
		const known =
			list === undefined || list instanceof CorkboardError
				? list
				: (list.head.leadsTo(to) ?? list.others.get(to));
		if (known === undefined) {
			const unknown = this.#unknown.get(mapping);
			if (unknown === undefined) this.#unknown.set(mapping, new Set([to]));
			else unknown.add(to);
		}
		return known;
	}

	/**
	 * Reads what `has` did not know since the last call. Undefined if that is nothing.
	 * It is not done by `findEdges`, which would read the heads again: a request decides
	 * by one state of each list.
	 */
	read(call: CallOptions | undefined): Promise<void> | undefined {
		if (this.#unknown.size === 0) return undefined;
		const unknown = this.#unknown;
		this.#unknown = new Map();
		return this.#readUnknown(unknown, call);
	}

	async #readUnknown(
		unknown: ReadonlyMap<Mapping, ReadonlySet<Id>>,
		call: CallOptions | undefined,
	): Promise<void> {
		await this.#prefetched;
		const unread = [...unknown.keys()].filter((one) => !this.#lists.has(one));
		if (unread.length > 0) await this.#readHeads(unread, call);
		const pairs = [...unknown].flatMap(([mapping, tos]) => {
			const list = this.#lists.get(mapping);
			return list === undefined || list instanceof CorkboardError
				? []
				: [...tos]
						.filter(
							(to) =>
								list.head.leadsTo(to) === undefined && !list.others.has(to),
						)
						.map((to) => ({ mapping, list, to }));
		});
		if (pairs.length === 0) return;
		const from = this.#viewer as Id;
		const edges = await this.#store.storage.read(
			"edges",
			pairs.map(({ mapping, to }) => ({ mapping, from, to })),
			call,
		);
		for (const [at, { list, to }] of pairs.entries()) {
			const edge = edges[at];
			list.others.set(
				to,
				edge instanceof CorkboardError ? edge : edge?.state === PRESENT,
			);
		}
	}

	#cachedList(mapping: Mapping): KeyResult<ViewerList> | undefined {
		const head = this.#store.cachedHead(mapping, this.#viewer as Id);
		if (head && (head.complete || head.count >= DEEPEST_HEAD)) {
			this.#set(mapping, head);
		}
		return this.#lists.get(mapping);
	}

	#readHeads(
		mappings: readonly Mapping[],
		call: CallOptions | undefined,
	): MaybePromise<void> {
		const from = this.#viewer as Id;
		const lists = mappings.map((mapping) => ({ mapping, from }));
		const heads = readWholeHeads(this.#store, lists, call);
		return andThen(heads, (heads) => {
			for (const [at, mapping] of mappings.entries()) {
				this.#set(mapping, heads[at] as KeyResult<Head>);
			}
		});
	}

	/** The first that was read, for the whole request. */
	#set(mapping: Mapping, head: KeyResult<Head>): void {
		if (this.#lists.has(mapping)) return;
		this.#lists.set(
			mapping,
			head instanceof CorkboardError ? head : { head, others: new Map() },
		);
	}
}

interface ViewerList {
	readonly head: Head;
	/** Whether objects that are not on the head are on the list, as far as is known. */
	readonly others: Map<Id, KeyResult<boolean>>;
}

/**
 * Whether no list of the viewer hides one of these users, as far as the process
 * knows the lists: if it would have to read one, it says no.
 */
export function hidesNone(
	store: Pick<ReadStore, "domain" | "cachedHead">,
	viewer: Id | null,
	users: ReadonlySet<Id>,
): boolean {
	if (viewer === null) return true;
	for (const { mapping } of store.domain.visibility.hides) {
		const list = store.cachedHead(mapping, viewer);
		if (!list?.complete) return false;
		if (list.size === 0) continue;
		for (const user of users) if (list.has(user)) return false;
	}
	return true;
}
