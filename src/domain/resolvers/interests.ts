import type { RequestContext } from "../../graphql/context.ts";
import type { Resolvers } from "../../plan/batchResolver.ts";
import { edgeMutation } from "./edgeMutation.ts";
import { viewerMembership } from "./viewerMembership.ts";

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
	["Interest.viewerFollows", viewerMembership("followInterest")],
]);
