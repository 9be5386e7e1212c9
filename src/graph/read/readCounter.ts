import type { Id } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type { KeyResult } from "../../storage/rows.ts";
import type { Visibility } from "../domain.ts";
import { typeNameOf } from "../store/typeName.ts";
import type { Node } from "../types.ts";

/** Counts the edges and objects that a request reads: its actual cost, never above the cost it was admitted for. */
export interface ReadCounter {
	addEdges(count: number): void;
	/** Adds requested objects as the viewer sees them. `readDependency` returns the parents and owners that were read to decide that. */
	addObjects(
		ids: readonly Id[],
		results: readonly KeyResult<Node | null>[],
		readDependency: (id: Id) => KeyResult<Node | null> | undefined,
	): void;
	readonly total: number;
}

/**
 * A visible object counts once, together with its parents and owners. An object
 * that the viewer may not see counts like an id that does not exist: each time
 * it is requested, with the most that its type may cost, whatever was read.
 * Otherwise the reported cost would reveal hidden objects and their owners.
 */
export function createReadCounter(
	model: Model,
	visibility: Visibility,
): ReadCounter {
	const visible = new Set<Id>();

	function costOfHidden(id: Id): number {
		const type = typeNameOf(model, id);
		return type === null
			? 1
			: visibility
					.dependenciesOf(type)
					.reduce((sum, { objects }) => sum + objects, 1);
	}

	const counter: ReadCounter & { total: number } = {
		total: 0,
		addEdges(count) {
			counter.total += count;
		},
		addObjects(ids, results, readDependency) {
			const add = (node: Node): void => {
				visible.add(node.id);
				counter.total++;
				const { parent, owner } = visibility.keysOf(node.type);
				if (parent !== null) addById(node.data[parent] as Id);
				if (owner !== null) addById(node.data[owner] as Id);
			};
			const addById = (id: Id): void => {
				if (visible.has(id)) return;
				const dependency = readDependency(id);
				if (dependency && "data" in dependency) add(dependency);
			};
			for (let at = 0; at < ids.length; at++) {
				const result = results[at] ?? null;
				if (result === null || !("data" in result)) {
					counter.total += costOfHidden(ids[at] as Id);
				} else if (!visible.has(result.id)) {
					add(result);
				}
			}
		},
	};
	return counter;
}

/** For requests whose cost is neither reported nor limited. */
export const NO_READ_COUNTER: ReadCounter = {
	addEdges() {},
	addObjects() {},
	total: 0,
};
