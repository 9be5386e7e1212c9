import { CorkboardError } from "../../errors.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Node } from "../../graph/types.ts";
import type { Id } from "../../id/ids.ts";
import type { FeedModel } from "../feedModel.ts";
import type { PoolEntry } from "../pools/pools.ts";

/** What these reads need: the objects, and what the feed is made of. */
export interface OriginParts {
	readonly store: Pick<Store, "readObjects">;
	readonly model: FeedModel;
}

/** The longest chain of copies that is followed. What was passed on more often may be shown twice. */
const MAX_STEPS = 8;

/**
 * The item that each item was first made from, or itself: one id for all copies.
 * Deleted items count too, as the chain leads through them. One batch of reads for
 * each step up. UNAVAILABLE in place of one whose chain cannot be read now.
 */
export async function readRootOrigins(
	parts: OriginParts,
	items: readonly Node[],
): Promise<readonly (Id | CorkboardError)[]> {
	return readRoots(
		parts,
		items.map(({ id, data }) => ({
			item: id,
			origin: parts.model.originOf(data) ?? id,
		})),
	);
}

/** The same, of items whose own origin is known. */
async function readRoots(
	{ store, model }: OriginParts,
	items: readonly Pick<PoolEntry, "item" | "origin">[],
): Promise<readonly (Id | CorkboardError)[]> {
	const roots: (Id | CorkboardError)[] = items.map(({ origin }) => origin);
	/** Positions whose root may have an origin itself. */
	let open = [...items.keys()].filter((at) => roots[at] !== items[at]?.item);
	for (let step = 1; step < MAX_STEPS && open.length > 0; step++) {
		const ids = [...new Set(open.map((at) => roots[at] as Id))];
		const objects = await store.readObjects(ids);
		const origins = new Map<Id, Id | CorkboardError>();
		for (const [at, object] of objects.entries()) {
			const origin =
				object instanceof CorkboardError
					? object
					: object.node && model.originOf(object.node.data);
			if (origin) origins.set(ids[at] as Id, origin);
		}
		open = open.filter((at) => {
			const origin = origins.get(roots[at] as Id);
			if (origin !== undefined) roots[at] = origin;
			return origin !== undefined && !(origin instanceof CorkboardError);
		});
	}
	return roots;
}

/** The same; throws the error of the first that cannot be read. */
export async function rootOrigins(
	...given: Parameters<typeof readRootOrigins>
): Promise<readonly Id[]> {
	return allOf(await readRootOrigins(...given));
}

/** The same, of items whose own origin is known. */
export async function rootsOf(
	...given: Parameters<typeof readRoots>
): Promise<readonly Id[]> {
	return allOf(await readRoots(...given));
}

function allOf(roots: readonly (Id | CorkboardError)[]): readonly Id[] {
	return roots.map((root) => {
		if (root instanceof CorkboardError) throw root;
		return root;
	});
}
