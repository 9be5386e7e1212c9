import type { RequestContext, Resolvers } from "corkboard";
import { listCount, viewerMembership } from "../typed.ts";
import { viewerCan } from "./permissions.ts";

export const boardResolvers: Resolvers<RequestContext> = new Map([
	["Board.pinCount", listCount("placePin")],
	["Board.followerCount", listCount("followBoard.inverse")],
	["Board.viewerFollows", viewerMembership("followBoard")],
	["Board.viewerCanUpdate", viewerCan("Board", "update")],
	["Board.viewerCanDelete", viewerCan("Board", "delete")],
]);
