import {
	bothOrFirstError,
	fieldsToCreate,
	fieldsToUpdate,
	id,
	idempotency,
	idempotencyKey,
	mutation,
	optional,
	positionInput,
	type RequestContext,
	type Resolvers,
	required,
	requireOnList,
} from "corkboard";
import {
	edgeMutations,
	listCount,
	mappingOf,
	newStoredJson,
	storedValue,
	updatedStoredJson,
	viewerMembership,
} from "../typed.ts";
import { requireRight, viewerCan } from "./permissions.ts";

const createBoard = mutation(
	{
		name: "createBoard",
		input: (types) => ({
			...fieldsToCreate(types, "Board"),
			idempotencyKey: optional(idempotencyKey),
		}),
		cost: () => 0,
	},
	async (input, context) => {
		const { writes, viewer, now } = context;
		const { idempotencyKey: _, ...fields } = input;
		return {
			board: await writes.create({
				type: "Board",
				data: newStoredJson(context, "Board", {
					...fields,
					createdAt: now.toISOString(),
					owner: viewer,
				}),
				...idempotency("createBoard", viewer, input),
			}),
			viewer,
		};
	},
);

const updateBoard = mutation(
	{
		name: "updateBoard",
		input: (types) => ({
			boardId: required(id),
			...fieldsToUpdate(types, "Board"),
		}),
		cost: () => 1,
	},
	async ({ boardId: given, ...fields }, context) => {
		const board = await requireRight(context, "Board", "update", given);
		await context.writes.modify(board.id, (data) =>
			updatedStoredJson(context.graph.model, "Board", data, fields),
		);
		return { board: board.id };
	},
);

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

/** Pins on the board need no write: a pin is visible only with its board. */
const deleteBoard = mutation(
	{
		name: "deleteBoard",
		input: () => ({ boardId: required(id) }),
		cost: () => 1,
		maxObjects: 0,
	},
	async (input, context) => {
		const board = await requireRight(context, "Board", "delete", input.boardId);
		await context.writes.remove(board.id);
		return { deletedBoardId: board.id, viewer: context.viewer };
	},
);

export const boardResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.createBoard", createBoard],
	["Mutation.updateBoard", updateBoard],
	["Mutation.moveBoard", moveBoard],
	["Mutation.deleteBoard", deleteBoard],
	...edgeMutations("followBoard", "unfollowBoard", "Board"),
	["Board.pinCount", listCount("placePin")],
	["Board.followerCount", listCount("followBoard.inverse")],
	["Board.viewerFollows", viewerMembership("followBoard")],
	["Board.viewerCanUpdate", viewerCan("Board", "update")],
	["Board.viewerCanDelete", viewerCan("Board", "delete")],
]);
