import { CorkboardError } from "../../errors.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Node } from "../../graph/types.ts";
import type { Id } from "../../id/ids.ts";

/** The longest chain of repins that is followed. A picture that was passed on more often may be shown twice. */
const MAX_STEPS = 8;

/**
 * The pin that each pin was first saved from, or itself: one id for one picture.
 * Deleted pins count too, as the chain leads through them. One batch of reads for
 * each step up. UNAVAILABLE in place of one whose chain cannot be read now.
 */
export async function readRootOrigins(
	store: Pick<Store, "readObjects">,
	pins: readonly Pick<Node, "id" | "data">[],
): Promise<readonly (Id | CorkboardError)[]> {
	const roots: (Id | CorkboardError)[] = pins.map(
		(pin) => originOf(pin) ?? pin.id,
	);
	/** Positions whose root may have an origin itself. */
	let open = [...pins.keys()].filter((at) => roots[at] !== pins[at]?.id);
	for (let step = 1; step < MAX_STEPS && open.length > 0; step++) {
		const ids = [...new Set(open.map((at) => roots[at] as Id))];
		const objects = await store.readObjects(ids);
		const origins = new Map<Id, Id | CorkboardError>();
		for (const [at, object] of objects.entries()) {
			const origin =
				object instanceof CorkboardError
					? object
					: object.node && originOf(object.node);
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
	const roots = await readRootOrigins(...given);
	return roots.map((root) => {
		if (root instanceof CorkboardError) throw root;
		return root;
	});
}

function originOf({ data }: Pick<Node, "data">): Id | null {
	return typeof data.origin_id === "string" ? (data.origin_id as Id) : null;
}
