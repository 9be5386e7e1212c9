import {
	bothOrFirstError,
	id,
	mutation,
	positionInput,
	type RequestContext,
	type Resolvers,
	required,
	requireOnList,
} from "corkboard";
import {
	listCount,
	mappingOf,
	storedValue,
	viewerMembership,
} from "../typed.ts";
import { requireRight, viewerCan } from "./permissions.ts";

const position = positionInput("Board");

const moveBoard = mutation(
	{
		name: "moveBoard",
		input: () => ({ boardId: required(id), ...position.fields }),
		validateTogether: position.problems,
		cost: (given) => 1 + position.cost(given),
	},
	async ({ boardId, ...beside }, context) => {
		const { graph, viewer, writes } = context;
		const [board, neighbor] = await bothOrFirstError(
			requireRight(context, "Board", "update", boardId),
			position.neighbor(beside, context),
		);
		requireOnList(
			"moveBoard",
			neighbor,
			(node) => storedValue(graph.model, node, "owner") === viewer,
			"a board of the viewer",
		);
		// A board that is moved beside itself stays where it is.
		if (neighbor?.node.id !== board.id) {
			await writes.move({
				mapping: mappingOf(graph.model, "ownBoard"),
				object: board.id,
				from: viewer,
				...(neighbor && { [neighbor.side]: neighbor.node.id }),
			});
		}
		return { board: board.id, viewer };
	},
);

export const boardResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.moveBoard", moveBoard],
	["Board.pinCount", listCount("placePin")],
	["Board.followerCount", listCount("followBoard.inverse")],
	["Board.viewerFollows", viewerMembership("followBoard")],
	["Board.viewerCanUpdate", viewerCan("Board", "update")],
	["Board.viewerCanDelete", viewerCan("Board", "delete")],
]);
