import type { Node } from "../../graph/types.ts";
import type { RequestContext } from "../../graphql/context.ts";
import type { Id } from "../../id/ids.ts";
import type { BatchResolver } from "../../plan/batchResolver.ts";
import { mappingOf } from "./storedJson.ts";

/**
 * Whether each object is on the viewer's list of this mapping; null for an
 * anonymous viewer. The list asked is always the viewer's own, one for all
 * parents: `followsViewer` asks who follows the viewer, not each parent whom
 * they follow.
 */
export function viewerMembership(name: string): BatchResolver<RequestContext> {
	return {
		cost: () => 1,
		maxObjects: () => 0,
		dependsOnViewer: true,
		async resolve({ parents, context: { graph, viewer }, call }) {
			if (viewer === null) return parents.map(() => null);
			const mapping = mappingOf(graph.model, name);
			return graph.hasEdges(mapping, viewer, parents.map(idOf), call);
		},
	};
}

function idOf(parent: Node | null): Id {
	if (parent === null) {
		throw new TypeError("expected the objects of a level but got: null");
	}
	return parent.id;
}
