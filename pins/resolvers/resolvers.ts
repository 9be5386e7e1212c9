import type { RequestContext, Resolvers } from "corkboard";
import { boardResolvers } from "./boards.ts";
import { interestResolvers } from "./interests.ts";
import { pinResolvers } from "./pins.ts";
import { queryResolvers } from "./query.ts";
import { userResolvers } from "./users.ts";

/** Batch resolvers by `Type.field`, beside those of the parts. Every other field follows from the model. */
export const resolvers: Resolvers<RequestContext> = new Map([
	...queryResolvers,
	...userResolvers,
	...boardResolvers,
	...pinResolvers,
	...interestResolvers,
]);
