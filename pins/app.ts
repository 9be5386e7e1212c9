import { join } from "node:path";
import { demo } from "./demo/demo.ts";
import { jobs } from "./jobs.ts";
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
	feed: {
		list: "showPin",
		owner: "owner",
		origin: "origin",
		from: [
			{ name: "user", follow: "followUser", items: "ownPin" },
			{ name: "board", follow: "followBoard", items: "placePin" },
			{ name: "interest", follow: "followInterest", items: "filePin.inverse" },
		],
		related: { liked: "likePin", copies: "repin", together: "placePin" },
		// Six of ten from people and their boards.
		rates: [
			{ sources: ["user", "board"], rate: 6 },
			{ sources: ["interest"], rate: 2 },
			{ sources: ["related"], rate: 2 },
		],
	},
	jobs,
	firstQuery: "{ interests(first: 5) { nodes { slug name } } }",
	demo,
});
