import { CorkboardError } from "../errors.ts";
import type { Node } from "../graph/types.ts";
import type { RequestContext } from "../graphql/context.ts";
import type { Id } from "../id/ids.ts";
import type { BatchResolver } from "../plan/batchResolver.ts";
import { andThen } from "../util/maybePromise.ts";
import { mappingOf } from "./storedJson.ts";

const COUNT_ALONE = {
	edges: false,
	hasNextPage: false,
	hasPreviousPage: false,
	cursors: false,
	totalCount: true,
};

/**
 * How many edges each object's list of a mapping has: `totalCount` of its connection
 * as a field of the object. `isShown` says for which objects the viewer may know it.
 * Without it the list must be one whose objects a visitor sees whenever it sees the
 * object, because the answer is the same for all viewers.
 */
export function listCount(
	mapping: string,
	isShown?: (parent: Node, viewer: Id | null) => boolean,
): BatchResolver<RequestContext> {
	return {
		cost: () => 1,
		maxObjects: () => 0,
		dependsOnViewer: isShown !== undefined,
		uses: { mapping },
		resolve({ parents, context: { graph, viewer }, call }) {
			const nodes = parents as readonly Node[];
			const shown = nodes.filter((node) => isShown?.(node, viewer) ?? true);
			const pages = graph.readPages(
				mappingOf(graph.model, mapping),
				shown.map(({ id }) => id),
				{ first: 0, fields: COUNT_ALONE },
				call,
			);
			return andThen(pages, (found) => {
				const counts = new Map(
					found.map((page, at) => [
						shown[at],
						page instanceof CorkboardError ? page : (page?.totalCount ?? null),
					]),
				);
				return nodes.map((node) => counts.get(node) ?? null);
			});
		},
	};
}
