import {
	type BatchResolver,
	CorkboardError,
	id,
	mappingOf,
	mutation,
	type Node,
	newStoredJson,
	type RequestContext,
	type Resolvers,
	required,
	text,
} from "corkboard";
import { requireRight } from "./permissions.ts";

const ONLY_EDGES = {
	edges: true,
	hasNextPage: false,
	hasPreviousPage: false,
	cursors: false,
	totalCount: false,
};

const latestPin: BatchResolver<RequestContext> = {
	// For each user it reads an edge and the pin, to decide whether the viewer sees the pin.
	cost: () => 2,
	dependsOnViewer: true,
	async resolve({ parents, context: { graph }, call }) {
		const users = parents.map((user) => (user as Node).id);
		const mapping = mappingOf(graph.model, "ownPin");
		const page = { first: 1, fields: ONLY_EDGES };
		const pages = await graph.readPages(mapping, users, page, call);
		return pages.map((one) =>
			one instanceof CorkboardError ? one : (one?.edges[0]?.node ?? null),
		);
	},
};

const createSticker = mutation(
	{
		name: "createSticker",
		input: () => ({ boardId: required(id), code: required(text(40)) }),
		// It reads the board.
		cost: () => 1,
	},
	async (input, context) => {
		const board = await requireRight(context, "Board", "update", input.boardId);
		const sticker = await context.writes.create({
			type: "Sticker",
			data: newStoredJson(context, "Sticker", {
				code: input.code,
				board: board.id,
			}),
		});
		return { sticker };
	},
);

export const stickerResolvers: Resolvers<RequestContext> = new Map([
	["User.latestPin", latestPin],
	["Mutation.createSticker", createSticker],
]);
