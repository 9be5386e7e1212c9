import type { RequestContext, Resolvers } from "corkboard";
import { boardResolvers } from "./boards.ts";
import { collaboratorResolvers } from "./collaborators.ts";
import { commentResolvers } from "./comments.ts";
import { homeFeedResolvers } from "./homeFeed.ts";
import { interestResolvers } from "./interests.ts";
import { pinResolvers } from "./pins.ts";
import { queryResolvers } from "./query.ts";
import { reportResolvers } from "./reports.ts";
import { sectionResolvers } from "./sections.ts";
import { userResolvers } from "./users.ts";

/** All batch resolvers, by `Type.field`. Every other field follows from the model. */
export const resolvers: Resolvers<RequestContext> = new Map([
	...queryResolvers,
	...reportResolvers,
	...sectionResolvers,
	...userResolvers,
	...boardResolvers,
	...pinResolvers,
	...collaboratorResolvers,
	...commentResolvers,
	...interestResolvers,
	...homeFeedResolvers,
]);
