import type { RequestContext } from "../../src/graphql/context.ts";
import type { BatchResolver, Resolvers } from "../../src/plan/batchResolver.ts";
import { coerceFirst } from "../../src/plan/pageArguments.ts";
import { edgeMutations } from "../../src/resolvers/edgeMutation.ts";
import { nodesOf } from "../../src/resolvers/nodesOf.ts";
import { rootField, sizeOfList } from "../../src/resolvers/rootField.ts";
import { mappingOf } from "../../src/resolvers/storedJson.ts";
import { viewerMembership } from "../../src/resolvers/viewerMembership.ts";
import { andThen } from "../../src/util/maybePromise.ts";

/**
 * By followers first: what people chose. Where few follow anything yet, the
 * number of pins says what there is to follow. Both counts are kept with their
 * lists.
 */
const popularInterests: BatchResolver<RequestContext> = rootField({
	cost: () => 0,
	maxObjects: sizeOfList,
	dependsOnViewer: true,
	resolve(args, { graph }, call) {
		const first = coerceFirst(args);
		const longest = (name: string) =>
			graph.longestLists(mappingOf(graph.model, name), first, call);
		const popular = andThen(longest("followInterest.inverse"), (followed) =>
			followed.length >= first
				? followed
				: andThen(longest("filePin.inverse"), (filed) =>
						[
							...new Map(
								[...followed, ...filed].map((node) => [node.id, node]),
							).values(),
						].slice(0, first),
					),
		);
		return andThen(popular, nodesOf);
	},
});

export const interestResolvers: Resolvers<RequestContext> = new Map([
	...edgeMutations("followInterest", "unfollowInterest", "Interest"),
	["Query.popularInterests", popularInterests],
	["Interest.viewerFollows", viewerMembership("followInterest")],
]);
