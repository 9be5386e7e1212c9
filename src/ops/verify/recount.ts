import { CorkboardError } from "../../errors.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { ListRow } from "../../storage/rows.ts";
import { checkCounts } from "./checkCounts.ts";
import { Reader } from "./reader.ts";
import { Unchecked } from "./unchecked.ts";

interface RecountedBatch {
	/** The last list; null at the end. */
	readonly next: Id | null;
	readonly lists: number;
	/** Lists whose row was wrong, and is right now. */
	readonly repaired: number;
}

/**
 * Counts the next thousand lists of a mapping on a shard, and repairs the rows
 * that are wrong, each under its lock. It may be repeated, and end between any two
 * lists. Throws UNAVAILABLE if the shard does not answer.
 */
export async function recountBatch(
	store: Store,
	shard: number,
	mapping: Mapping,
	after: Id | null,
): Promise<RecountedBatch> {
	let rows: readonly ListRow[] = [];
	const walk = store.storage.walk("lists", shard, mapping, after ?? undefined);
	for await (const some of walk) {
		rows = some;
		break;
	}
	const unchecked = new Unchecked();
	const lists = rows.map(({ from }) => ({ mapping, from }));
	const damages = await checkCounts(new Reader(store, unchecked), lists);
	const [place] = unchecked.list();
	if (place !== undefined) {
		throw new CorkboardError("UNAVAILABLE", `${place.place} does not answer.`);
	}
	for (const { repair } of damages) await repair?.();
	return {
		next: rows.at(-1)?.from ?? null,
		lists: rows.length,
		repaired: damages.length,
	};
}
