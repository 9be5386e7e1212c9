import {
	andThen,
	type BatchResolver,
	coerceFirst,
	nodesOf,
	type RequestContext,
	type Resolvers,
	rootField,
	sizeOfList,
} from "corkboard";
import { listCount, mappingOf, viewerMembership } from "../typed.ts";

/**
 * By followers first: what people chose. If few follow anything yet, the
 * number of pins says what there is to follow. Both counts are kept with their
 * lists.
 */
const popularInterests: BatchResolver<RequestContext> = rootField({
	cost: () => 0,
	maxObjects: sizeOfList,
	dependsOnViewer: true,
	resolve(args, { graph }, call) {
		const first = coerceFirst(args);
		const longest = (name: "followInterest.inverse" | "filePin.inverse") =>
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
	["Query.popularInterests", popularInterests],
	["Interest.followerCount", listCount("followInterest.inverse")],
	["Interest.viewerFollows", viewerMembership("followInterest")],
]);
