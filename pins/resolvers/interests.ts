import type { RequestContext } from "../../graphql/context.ts";
import type { BatchResolver, Resolvers } from "../../plan/batchResolver.ts";
import { coerceFirst } from "../../plan/pageArguments.ts";
import { andThen } from "../../util/maybePromise.ts";
import { edgeMutations } from "./base/edgeMutation.ts";
import { nodesOf } from "./base/nodesOf.ts";
import { rootField, sizeOfList } from "./base/rootField.ts";
import { mappingOf } from "./base/storedJson.ts";
import { viewerMembership } from "./base/viewerMembership.ts";

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
