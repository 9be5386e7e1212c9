import type { Node } from "../graph/types.ts";
import type { RequestContext } from "../graphql/context.ts";
import type { Id } from "../id/ids.ts";
import type { BatchResolver } from "../plan/batchResolver.ts";
import { mappingOf } from "./storedJson.ts";

/**
 * Whether each object is on the viewer's list of a mapping; null for an
 * anonymous viewer. One list answers for all parents: `followsViewer` reads
 * who follows the viewer, not whom each parent follows.
 */
export function viewerMembership(name: string): BatchResolver<RequestContext> {
	return {
		cost: () => 1,
		maxObjects: () => 0,
		dependsOnViewer: true,
		uses: { mapping: name },
		resolve({ parents, context: { graph, viewer }, call }) {
			if (viewer === null) return parents.map(() => null);
			const mapping = mappingOf(graph.model, name);
			return graph.hasEdges(mapping, viewer, parents.map(idOf), call);
		},
	};
}

function idOf(parent: Node | null): Id {
	if (parent === null) {
		throw new TypeError("A field of an object was resolved without a parent.");
	}
	return parent.id;
}
