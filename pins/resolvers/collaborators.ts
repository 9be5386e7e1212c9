import { CorkboardError } from "../../src/errors.ts";
import type { RequestContext } from "../../src/graphql/context.ts";
import { required } from "../../src/graphql/input/readInput.ts";
import { id } from "../../src/graphql/input/validators.ts";
import type { Resolvers } from "../../src/plan/batchResolver.ts";
import { mutation, ownId } from "../../src/resolvers/mutation.ts";
import {
	bothOrFirstError,
	requireVisible,
} from "../../src/resolvers/requireVisible.ts";
import { mappingOf, storedValue } from "../../src/resolvers/storedJson.ts";
import { requireRight, viewerCan } from "./permissions.ts";

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

const removeCollaborator = mutation(
	{ name: "removeCollaborator", input, cost: () => 2, maxObjects: 2 },
	async ({ boardId, userId }, context) => {
		const { graph, viewer } = context;
		const [board, user] = await bothOrFirstError(
			requireVisible(context, "Board", boardId),
			requireVisible(context, "User", userId),
		);
		if (![user.id, storedValue(graph.model, board, "owner")].includes(viewer)) {
			throw new CorkboardError(
				"FORBIDDEN",
				"Only the board's owner and the collaborators themselves may end a collaboration.",
			);
		}
		const mapping = mappingOf(graph.model, "collaborate");
		await context.writes.setEdge(mapping, board.id, user.id, false);
		return {
			board: board.id,
			user: user.id,
			removedBoardId: board.id,
			removedUserId: user.id,
			viewer,
		};
	},
);

export const collaboratorResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.addCollaborator", addCollaborator],
	["Mutation.removeCollaborator", removeCollaborator],
	["Board.viewerCanPin", viewerCan("Board", "pin")],
]);
