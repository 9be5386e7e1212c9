import type { RequestContext } from "../../graphql/context.ts";
import { kept, optional, required } from "../../graphql/input/read.ts";
import { flag, id, idempotencyKey } from "../../graphql/input/rules.ts";
import { fieldRules } from "../../model/validators.ts";
import type { Resolvers } from "../../plan/types.ts";
import { setsEdge } from "./edgeMutations.ts";
import { onViewersList } from "./membership.ts";
import { idempotency, mutation } from "./mutation.ts";
import { changed, stored } from "./stored.ts";
import { owned } from "./visible.ts";

const createBoard = mutation(
	{
		name: "createBoard",
		input: {
			name: required(fieldRules["Board.name"]),
			description: optional(fieldRules["Board.description"]),
			secret: optional(flag),
			idempotencyKey: optional(idempotencyKey),
		},
		reads: () => 0,
	},
	async (input, { graph, writes, viewer, now }) => ({
		board: await writes.create({
			type: "Board",
			data: stored(graph.model, "Board", {
				name: input.name,
				description: input.description,
				secret: input.secret ?? false,
				createdAt: now.toISOString(),
				owner: viewer,
			}),
			...idempotency("createBoard", viewer, input),
		}),
	}),
);

const updateBoard = mutation(
	{
		name: "updateBoard",
		input: {
			id: required(id),
			name: kept(fieldRules["Board.name"]),
			description: optional(fieldRules["Board.description"]),
			secret: kept(flag),
		},
		reads: () => 1,
	},
	async ({ id: given, ...fields }, change) => {
		const board = await owned(change, "Board", given);
		await change.writes.modify(board.id, (data) =>
			changed(change.graph.model, "Board", data, fields),
		);
		return { board: board.id };
	},
);

/** What is on the board goes with it: nothing is visible without its board. */
const deleteBoard = mutation(
	{
		name: "deleteBoard",
		input: { id: required(id) },
		reads: () => 1,
		yields: 0,
	},
	async (input, change) => {
		const board = await owned(change, "Board", input.id);
		await change.writes.remove(board.id);
		return { deletedId: board.id };
	},
);

export const boardResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.createBoard", createBoard],
	["Mutation.updateBoard", updateBoard],
	["Mutation.deleteBoard", deleteBoard],
	[
		"Mutation.followBoard",
		setsEdge({
			name: "followBoard",
			mapping: "followBoard",
			to: "Board",
			present: true,
		}),
	],
	[
		"Mutation.unfollowBoard",
		setsEdge({
			name: "unfollowBoard",
			mapping: "followBoard",
			to: "Board",
			present: false,
		}),
	],
	["Board.viewerFollows", onViewersList("followBoard")],
]);
