import type { Id } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type { KeyResult } from "../../storage/storage.ts";
import type { Visibility } from "../domain.ts";
import { typeNameOf } from "../store/store.ts";
import type { Node } from "../types.ts";

/** Edges and objects that a request read, of which its cost is the most. */
export interface ReadCounter {
	addEdges(count: number): void;
	/** What was asked for, as the viewer sees it; `keptOf` has what decided that. */
	addObjects(
		ids: readonly Id[],
		seen: readonly KeyResult<Node | null>[],
		keptOf: (id: Id) => KeyResult<Node | null> | undefined,
	): void;
	readonly total: number;
}

/**
 * An object counts once, with those that tell whether it may be seen. One that
 * may not be seen counts, each time it is asked for, as an id does that names
 * nothing: as much as its type may take, whatever was read of it. Else the sum,
 * which viewers are told and pay, would tell what is hidden from them, and whose
 * it is.
 */
export function createReadCounter(
	model: Model,
	visibility: Visibility,
): ReadCounter {
	const visible = new Set<Id>();
	let others = 0;

	function unseen(id: Id): number {
		const type = typeNameOf(model, id);
		return type === null
			? 1
			: visibility
					.dependenciesOf(type)
					.reduce((sum, { objects }) => sum + objects, 1);
	}

	return {
		addEdges(count) {
			others += count;
		},

		addObjects(ids, seen, keptOf) {
			const see = (node: Node): void => {
				if (visible.has(node.id)) return;
				visible.add(node.id);
				const { parent, owner } = visibility.keysOf(node.type);
				for (const key of [parent, owner]) {
					const place = key === null ? null : node.data[key];
					const kept = keptOf(place as Id);
					if (kept && "data" in kept) see(kept);
				}
			};
			for (const [at, id] of ids.entries()) {
				const answer = seen[at] ?? null;
				if (answer !== null && "data" in answer) see(answer);
				else others += unseen(id);
			}
		},

		get total() {
			return visible.size + others;
		},
	};
}

/** For requests of which nobody is told, and nobody pays. */
export const NO_READ_COUNTER: ReadCounter = {
	addEdges() {},
	addObjects() {},
	total: 0,
};
