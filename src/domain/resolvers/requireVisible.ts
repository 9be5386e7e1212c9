import { CorkboardError } from "../../errors.ts";
import type { Node } from "../../graph/types.ts";
import type { InputId } from "../../graphql/input/validators.ts";
import type { MutationContext } from "./mutation.ts";
import { mappingOf, storedValue } from "./storedJson.ts";

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

/** The same, and FORBIDDEN unless it is the viewer's. */
export async function requireOwned(
	context: Pick<MutationContext, "graph" | "call" | "viewer">,
	type: "Board" | "Pin" | "Comment",
	id: InputId,
): Promise<Node> {
	const node = await requireVisible(context, type, id);
	const owner = type === "Comment" ? "author" : "owner";
	if (storedValue(context.graph.model, node, owner) !== context.viewer) {
		throw new CorkboardError(
			"FORBIDDEN",
			`Only its ${owner} may change or delete this ${type.toLowerCase()}.`,
		);
	}
	return node;
}

/** A board that the viewer may pin on: its owner and its collaborators may. FORBIDDEN for others. */
export async function requireMember(
	context: Pick<MutationContext, "graph" | "call" | "viewer">,
	boardId: InputId,
): Promise<Node> {
	const { graph, viewer, call } = context;
	const board = await requireVisible(context, "Board", boardId);
	if (storedValue(graph.model, board, "owner") === viewer) return board;
	const mapping = mappingOf(graph.model, "collaborate.inverse");
	const [shared] = await graph.hasEdges(mapping, viewer, [board.id], call);
	if (shared instanceof CorkboardError) throw shared;
	if (!shared) {
		throw new CorkboardError(
			"FORBIDDEN",
			"Only its owner and its collaborators may pin on this board.",
		);
	}
	return board;
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
