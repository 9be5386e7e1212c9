import { CorkboardError } from "../errors.ts";
import type { Graph, Node } from "../graph/types.ts";
import type { InputId } from "../graphql/input/validators.ts";
import type { Id } from "../id/ids.ts";
import type { MutationContext } from "./mutation.ts";

type Asking = Pick<MutationContext, "graph" | "call">;

/** The object that a mutation names. NOT_FOUND unless it is of that type, or of any type for null, and the viewer may see it. */
export async function requireVisible(
	context: Asking,
	type: string | null,
	id: InputId,
): Promise<Node> {
	const node = await findVisible(context, type, id);
	if (node === null) throw notFound(type);
	return node;
}

/** The same, with null for what is not found. */
export async function findVisible(
	{ graph, call }: Asking,
	type: string | null,
	id: InputId,
): Promise<Node | null> {
	return find(id, type, (ids) => graph.readObjects(ids, call));
}

/**
 * The same for what the viewer, or a visitor who is not signed in, may see. A block
 * hides two people from each other, and neither loses the right to report the other
 * or to block in turn. It reveals nothing: a blocked user can log out and see the same.
 */
export async function requireVisibleOrPublic(
	context: Asking,
	type: string | null,
	id: InputId,
): Promise<Node> {
	const { graph, call } = context;
	const node =
		(await findVisible(context, type, id)) ??
		(await find(id, type, (ids) => graph.readPublic(ids, call)));
	if (node === null) throw notFound(type);
	return node;
}

async function find(
	id: InputId,
	type: string | null,
	read: (ids: readonly Id[]) => ReturnType<Graph["readObjects"]>,
): Promise<Node | null> {
	const [node = null] = id === "reserved" ? [] : await read([id]);
	if (node instanceof CorkboardError) throw node;
	return node !== null && (type === null || node.type === type) ? node : null;
}

export function notFound(type: string | null): CorkboardError {
	return new CorkboardError("NOT_FOUND", `${type ?? "Object"} not found.`);
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
