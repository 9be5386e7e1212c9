import {
	fieldsToCreate,
	id,
	idempotency,
	idempotencyKey,
	mutation,
	optional,
	type RequestContext,
	type Resolvers,
	required,
} from "corkboard";
import {
	newStoredJson,
	requireVisible,
	storedValue,
	updatedStoredJson,
} from "../typed.ts";
import { requireRight, viewerCan } from "./permissions.ts";

const addComment = mutation(
	{
		name: "addComment",
		input: (types) => ({
			pinId: required(id),
			...fieldsToCreate(types, "Comment"),
			idempotencyKey: optional(idempotencyKey),
		}),
		cost: () => 1,
	},
	async (input, context) => {
		const { pinId, idempotencyKey: _, ...fields } = input;
		const pin = await requireVisible(context, "Pin", pinId);
		return {
			comment: await context.writes.create({
				type: "Comment",
				data: newStoredJson(context, "Comment", {
					...fields,
					createdAt: context.now.toISOString(),
					author: context.viewer,
					pin: pin.id,
				}),
				...idempotency("addComment", context.viewer, input),
			}),
			pin: pin.id,
		};
	},
);

/** An update to the same text is none: `editedAt` stays. */
const updateComment = mutation(
	{
		name: "updateComment",
		input: (types) => ({
			commentId: required(id),
			...fieldsToCreate(types, "Comment"),
		}),
		cost: () => 1,
	},
	async ({ commentId, ...fields }, context) => {
		const { graph, now } = context;
		const comment = await requireRight(context, "Comment", "update", commentId);
		await context.writes.modify(
			comment.id,
			(data) =>
				updatedStoredJson(graph.model, "Comment", data, fields) &&
				updatedStoredJson(graph.model, "Comment", data, {
					...fields,
					editedAt: now.toISOString(),
				}),
		);
		return { comment: comment.id };
	},
);

const deleteComment = mutation(
	{
		name: "deleteComment",
		input: () => ({ commentId: required(id) }),
		// The comment, its pin, and the pin's board.
		cost: () => 3,
		maxObjects: 0,
	},
	async (input, context) => {
		const comment = await requireRight(
			context,
			"Comment",
			"delete",
			input.commentId,
		);
		await context.writes.remove(comment.id);
		return {
			deletedCommentId: comment.id,
			pin: storedValue(context.graph.model, comment, "pin") ?? null,
		};
	},
);

export const commentResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.addComment", addComment],
	["Mutation.updateComment", updateComment],
	["Mutation.deleteComment", deleteComment],
	["Comment.viewerCanUpdate", viewerCan("Comment", "update")],
	["Comment.viewerCanDelete", viewerCan("Comment", "delete")],
]);
