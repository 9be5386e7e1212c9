import type { RequestContext } from "../../graphql/context.ts";
import { optional, required } from "../../graphql/input/read.ts";
import { id, idempotencyKey } from "../../graphql/input/rules.ts";
import { fieldRules } from "../../model/validators.ts";
import type { Resolvers } from "../../plan/types.ts";
import { idempotency, mutation } from "./mutation.ts";
import { stored } from "./stored.ts";
import { owned, visible } from "./visible.ts";

const addComment = mutation(
	{
		name: "addComment",
		input: {
			pinId: required(id),
			text: required(fieldRules["Comment.text"]),
			idempotencyKey: optional(idempotencyKey),
		},
		reads: () => 1,
	},
	async (input, change) => {
		const pin = await visible(change, "Pin", input.pinId);
		return {
			comment: await change.writes.create({
				type: "Comment",
				data: stored(change.graph.model, "Comment", {
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
		const comment = await owned(change, "Comment", input.id);
		await change.writes.remove(comment.id);
		return { deletedId: comment.id };
	},
);

export const commentResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.addComment", addComment],
	["Mutation.deleteComment", deleteComment],
]);
