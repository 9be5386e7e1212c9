import { CorkboardError } from "../errors.ts";
import type { RequestContext } from "../graphql/context.ts";
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
 * as a field of the object. The list must be one that everybody may read, because
 * the answer counts as the same for all viewers.
 */
export function listCount(mapping: string): BatchResolver<RequestContext> {
	return {
		cost: () => 1,
		maxObjects: () => 0,
		dependsOnViewer: false,
		resolve({ parents, context: { graph }, call }) {
			const owners = parents.flatMap((parent) => parent?.id ?? []);
			const pages = graph.readPages(
				mappingOf(graph.model, mapping),
				owners,
				{ first: 0, fields: COUNT_ALONE },
				call,
			);
			return andThen(pages, (found) =>
				found.map((page) =>
					page instanceof CorkboardError ? page : (page?.totalCount ?? null),
				),
			);
		},
	};
}
