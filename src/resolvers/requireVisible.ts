import { CorkboardError } from "../errors.ts";
import type { Node } from "../graph/types.ts";
import type { InputId } from "../graphql/input/validators.ts";
import type { MutationContext } from "./mutation.ts";

/** The object that a mutation names. NOT_FOUND unless it is of that type, or of any type for null, and the viewer may see it. */
export async function requireVisible(
	context: Pick<MutationContext, "graph" | "call">,
	type: string | null,
	id: InputId,
): Promise<Node> {
	const [node] =
		id === "reserved"
			? [null]
			: await context.graph.readObjects([id], context.call);
	if (node instanceof CorkboardError) throw node;
	if (!node || (type !== null && node.type !== type)) {
		throw new CorkboardError("NOT_FOUND", `${type ?? "Object"} not found.`);
	}
	return node;
}

/**
 * Awaits both. If both fail, throws the first one's error and not the one that
 * came first: the time an error takes would distinguish a hidden object, for
 * which more is read, from an absent one.
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
