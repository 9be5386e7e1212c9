import type { RequestContext } from "../../graphql/context.ts";
import {
	optional,
	optionalNonNull,
	required,
} from "../../graphql/input/readInput.ts";
import { boolean, id, idempotencyKey } from "../../graphql/input/validators.ts";
import { validators } from "../../model/validation.ts";
import type { Resolvers } from "../../plan/batchResolver.ts";
import { edgeMutation } from "./edgeMutation.ts";
import { idempotency, mutation } from "./mutation.ts";
import { requireOwned } from "./requireVisible.ts";
import { newStoredJson, updatedStoredJson } from "./storedJson.ts";
import { viewerMembership } from "./viewerMembership.ts";

const createBoard = mutation(
	{
		name: "createBoard",
		input: {
			name: required(validators["Board.name"]),
			description: optional(validators["Board.description"]),
			secret: optional(boolean),
			idempotencyKey: optional(idempotencyKey),
		},
		reads: () => 0,
	},
	async (input, { graph, writes, viewer, now }) => ({
		board: await writes.create({
			type: "Board",
			data: newStoredJson(graph.model, "Board", {
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
			name: optionalNonNull(validators["Board.name"]),
			description: optional(validators["Board.description"]),
			secret: optionalNonNull(boolean),
		},
		reads: () => 1,
	},
	async ({ id: given, ...fields }, change) => {
		const board = await requireOwned(change, "Board", given);
		await change.writes.modify(board.id, (data) =>
			updatedStoredJson(change.graph.model, "Board", data, fields),
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
		const board = await requireOwned(change, "Board", input.id);
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
		edgeMutation({
			name: "followBoard",
			mapping: "followBoard",
			to: "Board",
			present: true,
		}),
	],
	[
		"Mutation.unfollowBoard",
		edgeMutation({
			name: "unfollowBoard",
			mapping: "followBoard",
			to: "Board",
			present: false,
		}),
	],
	["Board.viewerFollows", viewerMembership("followBoard")],
]);
