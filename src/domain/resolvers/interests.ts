import type { RequestContext } from "../../graphql/context.ts";
import type { Resolvers } from "../../plan/types.ts";
import { setsEdge } from "./edgeMutations.ts";
import { onViewersList } from "./membership.ts";

export const interestResolvers: Resolvers<RequestContext> = new Map([
	[
		"Mutation.followInterest",
		setsEdge({
			name: "followInterest",
			mapping: "followInterest",
			to: "Interest",
			present: true,
		}),
	],
	[
		"Mutation.unfollowInterest",
		setsEdge({
			name: "unfollowInterest",
			mapping: "followInterest",
			to: "Interest",
			present: false,
		}),
	],
	["Interest.viewerFollows", onViewersList("followInterest")],
]);
