import type { RequestContext } from "../../graphql/context.ts";
import { optional, required } from "../../graphql/input/readInput.ts";
import { id, idempotencyKey } from "../../graphql/input/validators.ts";
import { validators } from "../../model/validation.ts";
import type { Resolvers } from "../../plan/batchResolver.ts";
import { idempotency, mutation } from "./mutation.ts";
import { requireOwned, requireVisible } from "./requireVisible.ts";
import { newStoredJson } from "./storedJson.ts";

const addComment = mutation(
	{
		name: "addComment",
		input: {
			pinId: required(id),
			text: required(validators["Comment.text"]),
			idempotencyKey: optional(idempotencyKey),
		},
		reads: () => 1,
	},
	async (input, change) => {
		const pin = await requireVisible(change, "Pin", input.pinId);
		return {
			comment: await change.writes.create({
				type: "Comment",
				data: newStoredJson(change.graph.model, "Comment", {
					text: input.text,
					createdAt: change.now.toISOString(),
					author: change.viewer,
					pin: pin.id,
				}),
				...idempotency("addComment", change.viewer, input),
			}),
		};
	},
);

const deleteComment = mutation(
	{
		name: "deleteComment",
		input: { id: required(id) },
		reads: () => 1,
		yields: 0,
	},
	async (input, change) => {
		const comment = await requireOwned(change, "Comment", input.id);
		await change.writes.remove(comment.id);
		return { deletedId: comment.id };
	},
);

export const commentResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.addComment", addComment],
	["Mutation.deleteComment", deleteComment],
]);
