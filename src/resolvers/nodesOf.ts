import type { CorkboardError } from "../errors.ts";
import type { Node } from "../graph/types.ts";
import type { Id } from "../id/ids.ts";

/** The value of a type whose only field is `nodes`: ids, of which the plan fetches the objects, which were read a moment ago. */
export function nodesOf(objects: readonly (Node | CorkboardError)[]): {
	readonly nodes: readonly (Id | CorkboardError)[];
} {
	return { nodes: objects.map((one) => ("id" in one ? one.id : one)) };
}
