import type { PartOf } from "corkboard";
import { comments as commentsOf } from "corkboard/parts";
import type { Schema } from "../typed.ts";

/** Comments on pins. */
export const comments: PartOf<Schema> = commentsOf<Schema>({
	type: "Comment",
	on: "pin",
	writer: "author",
	text: "text",
	edited: "editedAt",
	deletedBy: ["pin.owner", "pin.board.owner"],
	refusal:
		"Only its author and the owners of its pin and board may delete this comment.",
	fields: {
		byId: "Query.comment",
		count: ["Pin.commentCount", "commentPin"],
		viewerCanUpdate: "Comment.viewerCanUpdate",
		viewerCanDelete: "Comment.viewerCanDelete",
	},
});
