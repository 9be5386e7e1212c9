import { type Id, packId } from "../id/ids.ts";
import type { Mapping, Model } from "./types.ts";

/**
 * The id that owns a list of the whole graph. No object has it: local ids of
 * rows start at 1. It is on shard 0, and so are all edges of the list.
 */
export function globalListId(model: Model, mapping: Mapping): Id {
	const target = model.objects.get(mapping.to);
	if (mapping.from !== null || target === undefined) {
		throw new TypeError(
			`expected a list of the whole graph but got: ${mapping.name}`,
		);
	}
	return packId({ shard: 0, type: target.number, local: 0 });
}
