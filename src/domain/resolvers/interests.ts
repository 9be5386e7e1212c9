import type { RequestContext } from "../../graphql/context.ts";
import type { BatchResolver, Resolvers } from "../../plan/batchResolver.ts";
import {
	coerceFirst,
	DEFAULT_PAGE_SIZE,
	MAX_PAGE_SIZE,
} from "../../plan/pageArguments.ts";
import { andThen } from "../../util/maybePromise.ts";
import { edgeMutation } from "./edgeMutation.ts";
import { type Arguments, rootField } from "./rootField.ts";
import { mappingOf } from "./storedJson.ts";
import { viewerMembership } from "./viewerMembership.ts";

/**
 * By followers first: what people chose. Where few follow anything yet, the
 * number of pins says what there is to follow. Both counts are kept with their
 * lists.
 */
const popularInterests: BatchResolver<RequestContext> = rootField({
	cost: () => 0,
	maxObjects: atMost,
	dependsOnViewer: true,
	resolve(args, { graph }, call) {
		const first = coerceFirst(args);
		const longest = (name: string) =>
			graph.longestLists(mappingOf(graph.model, name), first, call);
		return andThen(longest("followInterest.inverse"), (followed) =>
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
	},
});

/** `resolve` refuses other numbers. */
function atMost({ first }: Arguments): number {
	return typeof first === "number"
		? Math.min(Math.max(first, 0), MAX_PAGE_SIZE)
		: DEFAULT_PAGE_SIZE;
}

export const interestResolvers: Resolvers<RequestContext> = new Map([
	[
		"Mutation.followInterest",
		edgeMutation({
			name: "followInterest",
			mapping: "followInterest",
			to: "Interest",
			present: true,
		}),
	],
	[
		"Mutation.unfollowInterest",
		edgeMutation({
			name: "unfollowInterest",
			mapping: "followInterest",
			to: "Interest",
			present: false,
		}),
	],
	["Query.popularInterests", popularInterests],
	["Interest.viewerFollows", viewerMembership("followInterest")],
]);
