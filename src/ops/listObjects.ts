import { CorkboardError } from "../errors.ts";
import { isActive } from "../graph/read/visibilityPolicy.ts";
import type { Store } from "../graph/store/store.ts";
import { globalListId, type Mapping, type Model } from "../model/types.ts";
import type { Position } from "../storage/rows.ts";
import type { JsonObject } from "../util/json.ts";
import { nearest } from "../util/nearest.ts";
import { namedFields } from "./namedFields.ts";

/** Edges of one read. */
const BATCH = 500;

/**
 * The objects of a list of the whole graph in its order, for all viewers alike:
 * each its id and what it stores, by the names of the SDL. An object that cannot
 * be read is an error. Throws NOT_FOUND for a field that is no such list.
 */
export async function* listObjects(
	store: Store,
	field: string,
	count: number,
): AsyncGenerator<JsonObject | CorkboardError> {
	const { model, storage } = store;
	const mapping = globalMapping(model, field);
	const from = globalListId(model, mapping);
	let after: Position | undefined;
	for (let left = count; left > 0; ) {
		const limit = Math.min(left, BATCH);
		const [scanned] = await storage.read("lists", [
			{ mapping, from, backward: false, limit, ...(after && { after }) },
		]);
		if (scanned === undefined || scanned instanceof CorkboardError) {
			throw scanned;
		}
		const { edges } = scanned;
		const objects = await store.readObjects(edges.map(({ to }) => to));
		for (const object of objects) {
			if (object instanceof CorkboardError) yield object;
			else if (object.node !== null && isActive(object.node)) {
				yield { id: object.node.id, ...namedFields(model, object.node) };
			}
		}
		after = edges.at(-1);
		left -= edges.length;
		if (edges.length < limit) return;
	}
}

function globalMapping(model: Model, field: string): Mapping {
	const lists = [...model.mappings.values()].filter(
		({ from, prefixKeys }) => from === null && prefixKeys === null,
	);
	const found = lists.find((mapping) => mapping.field === field);
	if (found !== undefined) return found;
	const names = lists.map((mapping) => mapping.field);
	const meant = nearest(field, names);
	throw new CorkboardError(
		"NOT_FOUND",
		`There is no list ${JSON.stringify(field)} of the whole graph.${meant ? ` Did you mean ${meant}?` : ""} Lists: ${names.join(", ")}.`,
	);
}
