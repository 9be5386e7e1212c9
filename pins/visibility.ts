import type { VisibilityOf } from "corkboard";
import type { Schema } from "./typed.ts";

/**
 * Who may see what, with the parts that the app has (pins/parts/):
 *
 * - A closed account is invisible, with everything that belongs to it.
 * - A secret board, and everything on it, is visible to its owner and its
 *   collaborators alone. The same users may pin on any board
 *   (pins/resolvers/permissions.ts).
 * - A section is visible with its board, a pin with its board and its owner; a comment with its pin and
 *   its author.
 * - A report is visible to operators, by a command, and to nobody in the API.
 * - A user who blocks the viewer is invisible to the viewer; what belongs to a
 *   user whom the viewer blocks is hidden, but not the user, so that the viewer
 *   can unblock them.
 *
 * What is stored may be damaged: a field hides by every value but the one that
 * says that nothing is hidden.
 */
export const visibilityPolicy: VisibilityOf<Schema> = {
	types: {
		User: {
			decidedBy: ["deactivatedAt"],
			// `accounts reopen` brings everything back until then.
			closed: { since: "deactivatedAt", keptDays: 30 },
			isVisible: ({ data }) => (data.deactivated_at ?? null) === null,
		},
		Board: {
			owner: "owner",
			decidedBy: ["secret"],
			isVisible: ({ data }, viewer) =>
				(data.secret ?? false) === false ||
				(viewer !== null && data.user_id === viewer),
		},
		Pin: {
			parent: "board",
			owner: "owner",
			inheritsOwner: true,
		},
	},
	privateLists: ["blockUser", "blockUser.inverse", "savePin"],
	hides: { blockUser: "belongings", "blockUser.inverse": "user" },
};
