import { CorkboardError } from "../errors.ts";
import type { Store } from "../graph/store/store.ts";
import type { Node } from "../graph/types.ts";
import type { Id } from "../id/ids.ts";

/** Of a chain of repins. A picture that was passed on more often may be shown twice. */
const MAX_STEPS = 8;

/**
 * The pin that each pin was first saved from, or itself: one id for one picture.
 * Deleted pins count too, as the chain leads through them. One batch of reads for
 * each step up. Throws UNAVAILABLE where a pin on the way cannot be read.
 */
export async function rootOrigins(
	store: Pick<Store, "readObjects">,
	pins: readonly Pick<Node, "id" | "data">[],
): Promise<readonly Id[]> {
	const roots = pins.map((pin) => originOf(pin) ?? pin.id);
	/** Positions whose root may have an origin itself. */
	let open = [...pins.keys()].filter((at) => roots[at] !== pins[at]?.id);
	for (let step = 1; step < MAX_STEPS && open.length > 0; step++) {
		const ids = [...new Set(open.map((at) => roots[at] as Id))];
		const nodes = await store.readObjects(ids);
		const origins = new Map<Id, Id>();
		for (const [at, node] of nodes.entries()) {
			if (node instanceof CorkboardError) throw node;
			const origin = node && originOf(node);
			if (origin) origins.set(ids[at] as Id, origin);
		}
		open = open.filter((at) => {
			const origin = origins.get(roots[at] as Id);
			if (origin !== undefined) roots[at] = origin;
			return origin !== undefined;
		});
	}
	return roots;
}

function originOf({ data }: Pick<Node, "data">): Id | null {
	return typeof data.origin_id === "string" ? (data.origin_id as Id) : null;
}
