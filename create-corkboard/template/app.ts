import { join } from "node:path";
import { boolean, forSchema, text } from "corkboard";
import { demo } from "./demo.ts";
import type { Schema } from "./schema/types.d.ts";

const { byIdOrKey, defineApp, policy, viewerMembership } = forSchema<Schema>();

/** Users, the notes that they write, and the stars that they give. */
export default defineApp({
	schema: join(import.meta.dirname, "schema"),
	resolvers: {
		"Query.user": byIdOrKey("user", "username"),
		"Note.viewerStars": viewerMembership("starNote"),
	},
	policies: policy({
		visibility: {
			types: {
				Note: {
					owner: "owner",
					decidedBy: ["secret"],
					isVisible: ({ data }, viewer) =>
						data.secret !== true ||
						(viewer !== null && data.owner_id === viewer),
				},
			},
			privateLists: [],
		},
		placement: { Note: { colocateWith: "owner" } },
		fields: {
			User: { username: { validate: text(30) } },
			Note: {
				text: { validate: text(1_000) },
				secret: { validate: boolean },
			},
		},
	}),
	identity: { type: "User", nameLookup: "username" },
	firstQuery:
		'{ user(by: {username: "ada"}) { notes(first: 5) { nodes { text } } } }',
	demo,
});
