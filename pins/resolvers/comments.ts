import {
	fieldsToCreate,
	id,
	mutation,
	type RequestContext,
	type Resolvers,
	required,
} from "corkboard";
import { updatedStoredJson } from "../typed.ts";
import { requireRight, viewerCan } from "./permissions.ts";

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

export const commentResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.updateComment", updateComment],
	["Comment.viewerCanUpdate", viewerCan("Comment", "update")],
	["Comment.viewerCanDelete", viewerCan("Comment", "delete")],
]);
