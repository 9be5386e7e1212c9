import { CorkboardError } from "../../errors.ts";
import type { Node } from "../../graph/types.ts";
import type { RequestContext } from "../../graphql/context.ts";
import { required } from "../../graphql/input/readInput.ts";
import { id } from "../../graphql/input/validators.ts";
import type { BatchResolver, Resolvers } from "../../plan/batchResolver.ts";
import { andThen } from "../../util/maybePromise.ts";
import { mutation } from "./mutation.ts";
import {
	bothOrFirstError,
	requireOwned,
	requireVisible,
} from "./requireVisible.ts";
import { mappingOf, storedValue } from "./storedJson.ts";

const input = () => ({ boardId: required(id), userId: required(id) });

const addCollaborator = mutation(
	{ name: "addCollaborator", input, cost: () => 2, maxObjects: 2 },
	async ({ boardId, userId }, context) => {
		const [board, user] = await bothOrFirstError(
			requireOwned(context, "Board", boardId),
			requireVisible(context, "User", userId),
		);
		if (user.id === context.viewer) {
			throw new CorkboardError(
				"BAD_USER_INPUT",
				"addCollaborator: userId must not be the viewer's own id.",
			);
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

/** The same rule as `requireMember`. */
const viewerCanPin: BatchResolver<RequestContext> = {
	cost: () => 1,
	maxObjects: () => 0,
	dependsOnViewer: true,
	resolve({ parents, context: { graph, viewer }, call }) {
		if (viewer === null) return parents.map(() => null);
		const boards = parents as readonly Node[];
		const isOwner = (board: Node) =>
			storedValue(graph.model, board, "owner") === viewer;
		const others = boards
			.filter((board) => !isOwner(board))
			.map(({ id }) => id);
		const mapping = mappingOf(graph.model, "collaborate.inverse");
		return andThen(graph.hasEdges(mapping, viewer, others, call), (shared) =>
			boards.map((board) => isOwner(board) || shared[others.indexOf(board.id)]),
		);
	},
};

export const collaboratorResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.addCollaborator", addCollaborator],
	["Mutation.removeCollaborator", removeCollaborator],
	["Board.viewerCanPin", viewerCanPin],
]);
