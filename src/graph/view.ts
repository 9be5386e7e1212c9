import DataLoader from "dataloader";
import type { Call } from "../diagnostics.ts";
import { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import { fold } from "../model/fold.ts";
import type { Lookup } from "../model/types.ts";
import { type Answer, PRESENT } from "../storage/port.ts";
import { readPages } from "./pages.ts";
import { isVisible, withinOf } from "./rules.ts";
import type { Store } from "./store.ts";
import type { Graph, Node } from "./types.ts";

/** A graph that can forget what it read, as it has to after a write of the same request. */
export interface View extends Graph {
	forget(): void;
}

/**
 * One viewer's view, for one request. It keeps what it read, so that one
 * request meets one state of an object, and merges what sibling branches of a
 * plan ask for in one tick. The key of a load is a step's whole list of ids: a
 * promise per step, none per object.
 */
export function createView(store: Store, viewer: Id | null): View {
	const { model } = store;
	let kept = new Map<Id, Answer<Node | null>>();

	const loader = new DataLoader<ObjectsLoad, readonly Answer<Node | null>[]>(
		async (loads) => {
			const keep = kept;
			const wanted = new Set<Id>();
			for (const { ids } of loads) {
				for (const id of ids) if (!keep.has(id)) wanted.add(id);
			}
			const ids = [...wanted];
			const answers =
				ids.length > 0 ? await store.objects(ids, mergedCall(loads)) : [];
			for (const [at, id] of ids.entries()) {
				keep.set(id, answers[at] as Answer<Node | null>);
			}
			return loads.map((load) =>
				load.ids.map((id) => keep.get(id) as Answer<Node | null>),
			);
		},
		{ cache: false },
	);

	/** Objects as stored. What is in memory already waits for no batch. */
	function stored(
		ids: readonly Id[],
		call: Call | undefined,
	): Promise<readonly Answer<Node | null>[]> {
		const answers: Answer<Node | null>[] = [];
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
		call?: Call,
	): Promise<Answer<Node | null>[]> {
		const nodes = await stored(ids, call);
		const withins: (Id | null)[] = nodes.map((node) => {
			if (node === null || node instanceof CorkboardError) return null;
			const within = withinOf(model, node.type);
			return within === null ? null : (node.data[within.key] as Id);
		});
		const surrounding = [
			...new Set(withins.filter((id) => id !== null && id !== undefined)),
		] as Id[];
		const seen = new Map<Id, Answer<Node | null>>();
		if (surrounding.length > 0) {
			const answers = await visible(surrounding, call);
			for (const [at, id] of surrounding.entries()) {
				seen.set(id, answers[at] as Answer<Node | null>);
			}
		}
		return nodes.map((node, at) => {
			if (node === null || node instanceof CorkboardError) return node;
			if (!isVisible(node, viewer)) return null;
			const within = withins[at];
			if (within === null) return node;
			const around = within === undefined ? null : (seen.get(within) ?? null);
			return around === null || around instanceof CorkboardError
				? around
				: node;
		});
	}

	const graph: View = {
		model,
		viewer,
		objects: visible,
		pages: (mapping, froms, page, call) =>
			readPages({ store, visible }, mapping, froms, page, call),

		async contains(mapping, from, tos, call) {
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
				store.storage.edges(
					unknown.map((to) => ({ mapping, from, to })),
					call,
				),
				head === undefined ? store.heads([list], 1, call) : undefined,
			]);
			const answers = new Map(unknown.map((to, at) => [to, edges[at]]));
			return tos.map((to) => {
				const edge = answers.get(to);
				if (edge instanceof CorkboardError) return edge;
				return present.has(to) || edge?.state === PRESENT;
			});
		},

		async lookup(lookup: Lookup, keys, call) {
			const rows = await store.lookups(
				keys.map((key) => ({ name: lookup.name, key: fold(lookup, key) })),
				call,
			);
			return rows.map((row) =>
				row instanceof CorkboardError ? row : (row?.id ?? null),
			);
		},

		forget() {
			kept = new Map();
		},
	};
	return graph;
}

interface ObjectsLoad {
	readonly ids: readonly Id[];
	readonly call: Call | undefined;
}

/** Merged loads are one call; what it costs is told to the first that is being explained, and the rest see what they asked for as kept by the request. */
function mergedCall(loads: readonly ObjectsLoad[]): Call | undefined {
	const [first, ...rest] = loads;
	for (const { ids, call } of rest)
		call?.trace?.cache("request", ids.length, 0);
	return first?.call;
}
