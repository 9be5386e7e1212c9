import type { AppDemo } from "corkboard";

const NOTES =
	'query Notes { user(by: {username: "ada"}) { notes(first: 5) { totalCount nodes { id text viewerStars starredBy { totalCount } } } } }';

/** What an empty data folder starts with, and what GraphiQL shows first. */
export const demo: AppDemo = {
	graph: () => [
		{ type: "User", key: "ada", fields: { username: "ada" } },
		{ type: "User", key: "bo", fields: { username: "bo" } },
		{
			type: "Note",
			key: "plan",
			fields: { text: "Water plants", owner: "ada" },
		},
		{
			type: "Note",
			key: "gift",
			fields: { text: "A kite for Bo", owner: "ada", secret: true },
		},
		{ edge: "starNote", from: "bo", to: "plan" },
	],
	viewer: "ada",
	firstQuery: NOTES,
	examples: async () => [{ query: NOTES }],
};
