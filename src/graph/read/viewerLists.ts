import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { type KeyResult, PRESENT } from "../../storage/storage.ts";
import { DEEPEST_HEAD, type Head } from "../store/head.ts";
import type { Store } from "../store/store.ts";

/** Lists of the viewer that decide what it sees: whom it blocks, what is shared with it. */
export interface ViewerLists {
	/** Starts to read the lists, beside whatever is read first. */
	prefetch(call: CallOptions | undefined): void;
	/** Whether the object is on the list: an error if it could not be read, undefined if it has to be. */
	has(mapping: Mapping, to: Id): KeyResult<boolean> | undefined;
	/** Reads what `has` of these objects needs. */
	read(tos: readonly Id[], call: CallOptions | undefined): Promise<void>;
}

/**
 * The viewer's lists of some mappings, read once a request. They are heads of
 * lists like any other, so mostly cached in the process. Objects that are not on
 * a head shorter than its list are read edge by edge, once a level of the plan.
 */
export function createViewerLists(
	store: Store,
	mappings: readonly Mapping[],
	viewer: Id,
): ViewerLists {
	const lists = mappings.map((mapping) => ({ mapping, from: viewer }));
	let read: ReadonlyMap<Mapping, KeyResult<ViewerList>> | undefined;
	let reading: Promise<void> | undefined;

	function setHeads(heads: readonly KeyResult<Head>[]): void {
		read = new Map(
			mappings.map((mapping, at) => {
				const head = heads[at] as KeyResult<Head>;
				return [
					mapping,
					head instanceof CorkboardError ? head : { head, others: new Map() },
				];
			}),
		);
	}

	/** Null while the heads have to be read. */
	function prefetch(call: CallOptions | undefined): Promise<void> | null {
		if (read !== undefined || reading !== undefined) return reading ?? null;
		const moment = store.moment();
		const cached = lists.map(({ mapping, from }) =>
			store.cachedHead(mapping, from, moment),
		);
		if (cached.every((head): head is Head => head?.isDeepest === true)) {
			setHeads(cached);
			return null;
		}
		reading = Promise.resolve(store.readHeads(lists, DEEPEST_HEAD, call)).then(
			setHeads,
		);
		// `read` awaits it and rejects.
		reading.catch(() => {});
		return reading;
	}

	return {
		prefetch,

		has(mapping, to) {
			const list = read?.get(mapping);
			if (list === undefined || list instanceof CorkboardError) return list;
			if (list.head.has(to)) return true;
			return list.head.complete ? false : list.others.get(to);
		},

		async read(tos, call) {
			await prefetch(call);
			const unknown = [...(read ?? [])].flatMap(([mapping, list]) =>
				list instanceof CorkboardError || list.head.complete
					? []
					: tos
							.filter((to) => !list.head.has(to) && !list.others.has(to))
							.map((to) => ({ mapping, list, to })),
			);
			if (unknown.length === 0) return;
			const edges = await store.storage.readEdges(
				unknown.map(({ mapping, to }) => ({ mapping, from: viewer, to })),
				call,
			);
			for (const [at, { list, to }] of unknown.entries()) {
				const edge = edges[at];
				list.others.set(
					to,
					edge instanceof CorkboardError ? edge : edge?.state === PRESENT,
				);
			}
		},
	};
}

interface ViewerList {
	readonly head: Head;
	/** Whether objects that are not on the head are on the list, as far as is known. */
	readonly others: Map<Id, KeyResult<boolean>>;
}
