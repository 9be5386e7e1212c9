import {
	bothOrFirstError,
	CorkboardError,
	type InputId,
	id,
	type MutationContext,
	mutation,
	ownId,
	type PartOf,
	required,
	requireVisibleOrEdge,
} from "corkboard";
import { requireRight, viewerCan } from "../resolvers/permissions.ts";
import {
	mappingOf,
	requireVisible,
	type Schema,
	storedValue,
} from "../typed.ts";

const input = () => ({ boardId: required(id), userId: required(id) });

const addCollaborator = mutation(
	{ name: "addCollaborator", input, cost: () => 2, maxObjects: 2 },
	async ({ boardId, userId }, context) => {
		const [board, user] = await bothOrFirstError(
			requireRight(context, "Board", "update", boardId),
			requireVisible(context, "User", userId),
		);
		if (user.id === context.viewer) {
			throw ownId("addCollaborator", "userId");
		}
		const mapping = mappingOf(context.graph.model, "collaborate");
		await context.writes.setEdge(mapping, board.id, user.id, true);
		return { board: board.id, user: user.id, viewer: context.viewer };
	},
);

/** Either side may end it whatever hides the other from it: a collaboration is as much the user's as it is the owner's. */
const removeCollaborator = mutation(
	// The board, the user, and the edge between them if one is hidden.
	{ name: "removeCollaborator", input, cost: () => 3, maxObjects: 2 },
	async ({ boardId, userId }, context) => {
		const { graph, viewer } = context;
		const mapping = mappingOf(graph.model, "collaborate");
		const ends =
			userId === viewer
				? await ownCollaboration(context, boardId)
				: await collaborationOnOwnBoard(context, boardId, userId);
		await context.writes.setEdge(mapping, ends.board, ends.user, false);
		return {
			...ends,
			removedBoardId: ends.board,
			removedUserId: ends.user,
			viewer,
		};
	},
);

async function ownCollaboration(context: MutationContext, boardId: InputId) {
	const { graph, viewer } = context;
	const mapping = mappingOf(graph.model, "collaborate.inverse");
	return {
		board: await requireVisibleOrEdge(context, mapping, viewer, boardId),
		user: viewer,
	};
}

async function collaborationOnOwnBoard(
	context: MutationContext,
	boardId: InputId,
	userId: InputId,
) {
	const { graph, viewer } = context;
	const board = await requireVisible(context, "Board", boardId);
	if (storedValue(graph.model, board, "owner") !== viewer) {
		await requireVisible(context, "User", userId);
		throw new CorkboardError(
			"FORBIDDEN",
			"Only the board's owner and the collaborators themselves may end a collaboration.",
		);
	}
	const mapping = mappingOf(graph.model, "collaborate");
	return {
		board: board.id,
		user: await requireVisibleOrEdge(context, mapping, board.id, userId),
	};
}

/** Users who may pin on the boards of others, and see them if they are secret. */
export const collaborators: PartOf<Schema> = {
	resolvers: new Map([
		["Mutation.addCollaborator", addCollaborator],
		["Mutation.removeCollaborator", removeCollaborator],
		["Board.viewerCanPin", viewerCan("Board", "pin")],
	]),
	policies: {
		visibility: { types: { Board: { sharedBy: "collaborate.inverse" } } },
	},
};
