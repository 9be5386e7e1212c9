import { CorkboardError } from "../../errors.ts";
import type { Node } from "../../graph/types.ts";
import type { InputId } from "../../graphql/input/validators.ts";
import type { MutationContext } from "./mutation.ts";
import { storedValue } from "./storedJson.ts";

/** An object that a mutation names: NOT_FOUND unless the viewer may see it and it is of that type. */
export async function requireVisible(
	change: Pick<MutationContext, "graph" | "call">,
	type: string,
	id: InputId,
): Promise<Node> {
	const [node] =
		id === "reserved"
			? [null]
			: await change.graph.readObjects([id], change.call);
	if (node instanceof CorkboardError) throw node;
	if (!node || node.type !== type) {
		throw new CorkboardError(
			"NOT_FOUND",
			`Expected the id of some ${type.toLowerCase()} that you can see but got: ${id === "reserved" ? "one that nothing can have" : id}.`,
		);
	}
	return node;
}

/**
 * Two that are looked at together. If both are refused the first one's error
 * is told, not that which came first: by the time it takes one could tell an
 * object that is hidden, for which more has to be read, from one that is not
 * there.
 */
export async function bothOrFirstError<A, B>(
	first: Promise<A>,
	second: Promise<B>,
): Promise<readonly [A, B]> {
	const [one, other] = await Promise.allSettled([first, second]);
	if (one.status === "rejected") throw one.reason;
	if (other.status === "rejected") throw other.reason;
	return [one.value, other.value];
}

/** One that is the viewer's besides: FORBIDDEN if it is only visible. */
export async function requireOwned(
	change: Pick<MutationContext, "graph" | "call" | "viewer">,
	type: "Board" | "Pin" | "Comment",
	id: InputId,
): Promise<Node> {
	const node = await requireVisible(change, type, id);
	const owner = type === "Comment" ? "author" : "owner";
	if (storedValue(change.graph.model, node, owner) !== change.viewer) {
		throw new CorkboardError(
			"FORBIDDEN",
			`Only its ${owner} may do this with a ${type.toLowerCase()}.`,
		);
	}
	return node;
}
