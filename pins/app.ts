import { join } from "node:path";
import { defineApp } from "corkboard";
import { demo } from "./demo/demo.ts";
import { jobs } from "./jobs.ts";
import { placementPolicy } from "./placement.ts";
import { resolvers } from "./resolvers/resolvers.ts";
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
		createdAtField: "createdAt",
	},
	identity: {
		type: "User",
		nameLookup: "username",
		accountLookup: "account",
		closedField: "deactivatedAt",
	},
	jobs,
	firstQuery: "{ interests(first: 5) { nodes { slug name } } }",
	demo,
});
