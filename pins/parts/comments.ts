import {
	byId,
	fieldsToCreate,
	id,
	mutation,
	type PartOf,
	required,
	text,
} from "corkboard";
import { requireRight, right, viewerCan } from "../resolvers/permissions.ts";
import { listCount, type Schema, updatedStoredJson } from "../typed.ts";

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
		return { comment: comment.id, viewer: context.viewer };
	},
);

/** Comments on pins. */
export const comments: PartOf<Schema> = {
	resolvers: new Map([
		["Query.comment", byId("comment")],
		["Mutation.updateComment", updateComment],
		["Comment.viewerCanUpdate", viewerCan("Comment", "update")],
		["Comment.viewerCanDelete", viewerCan("Comment", "delete")],
		["Pin.commentCount", listCount("commentPin")],
	]),
	policies: {
		visibility: { types: { Comment: { parent: "pin", owner: "author" } } },
		placement: { Comment: { colocateWith: "pin" } },
		fields: { Comment: { text: { validate: text(2_000) } } },
		// The comment, its pin, and the pin's board.
		rights: { Comment: { delete: right("Comment", "delete", 3) } },
	},
};
