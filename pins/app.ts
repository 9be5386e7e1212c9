import { join } from "node:path";
import { demo } from "./demo/demo.ts";
import { jobs } from "./jobs.ts";
import { collaborators } from "./parts/collaborators.ts";
import { comments } from "./parts/comments.ts";
import { homeFeed } from "./parts/homeFeed.ts";
import { reports } from "./parts/reports.ts";
import { sections } from "./parts/sections.ts";
import { placementPolicy } from "./placement.ts";
import { rights } from "./resolvers/permissions.ts";
import { resolvers } from "./resolvers/resolvers.ts";
import { defineApp } from "./typed.ts";
import { fieldPolicies } from "./validators.ts";
import { visibilityPolicy } from "./visibility.ts";

/** Users who collect pins on boards, follow each other, and like and comment what they see. */
export default defineApp({
	schema: join(import.meta.dirname, "../schema"),
	resolvers,
	policies: {
		visibility: visibilityPolicy,
		placement: placementPolicy,
		fields: fieldPolicies,
		rights,
		createdAtField: "createdAt",
	},
	identity: {
		type: "User",
		nameLookup: "username",
		accountLookup: "account",
		closedField: "deactivatedAt",
	},
	// Without one of them, its file of the SDL goes too.
	parts: [homeFeed, comments, reports, collaborators, sections],
	jobs,
	firstQuery: "{ interests(first: 5) { nodes { slug name } } }",
	demo,
});
