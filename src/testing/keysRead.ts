import type { TypeVisibility } from "../graph/read/visibilityPolicy.ts";
import { packId } from "../id/ids.ts";
import type { JsonObject } from "../util/json.ts";

/** The stored keys that a policy's `isVisible` reads of an object, the owner's among them. */
export function keysRead(
	type: string,
	isVisible: NonNullable<TypeVisibility["isVisible"]>,
): ReadonlySet<string> {
	const read = new Set<string>();
	const id = packId({ shard: 0, type: 1, local: 1 });
	// Whatever it finds there, so that it reads all it ever reads.
	for (const value of [undefined, true, "text"]) {
		const data = new Proxy<JsonObject>(
			{},
			{
				get(_, key) {
					read.add(String(key));
					return value;
				},
			},
		);
		try {
			isVisible({ id, type, data }, id);
		} catch {
			// It expects another type: what it read up to there counts.
		}
	}
	return read;
}
