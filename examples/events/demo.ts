import type { AppDemo } from "corkboard";

const EVENTS =
	'query Events { person(by: {handle: "ada"}) { events(first: 5) { totalCount nodes { id title startsAt venue { name } talks { nodes { title } } viewerAttendance { state } } } } }';

/** What an empty data folder starts with. */
export const demo: AppDemo = {
	graph: () => [
		...["ada", "bo", "cy"].map((handle) => ({
			type: "Person",
			key: handle,
			fields: { handle },
		})),
		{
			type: "Group",
			key: "makers",
			fields: { slug: "makers", name: "Makers", founder: "ada" },
		},
		{
			type: "Venue",
			key: "hall",
			fields: { city: "Graz", name: "Hall" },
		},
		{
			type: "Event",
			key: "fair",
			fields: {
				title: "Maker fair",
				startsAt: "2027-03-01T09:00:00.000Z",
				organizer: "ada",
				group: "makers",
				venue: "hall",
			},
		},
		{
			type: "Event",
			key: "party",
			fields: {
				title: "Surprise party",
				startsAt: "2027-04-01T18:00:00.000Z",
				organizer: "ada",
				secret: true,
			},
		},
		{
			type: "Talk",
			key: "kites",
			fields: { title: "Kites", event: "fair", speaker: "bo" },
		},
		{
			type: "Talk",
			key: "gifts",
			fields: { title: "Gifts", event: "party", speaker: "ada" },
		},
		{
			type: "Question",
			key: "when",
			fields: { text: "When do doors open?", event: "fair", author: "cy" },
		},
		{
			type: "Ticket",
			key: "seat",
			fields: { seat: "A 7", event: "fair", holder: "bo" },
		},
		{ type: "Topic", key: "craft", fields: { name: "Craft" } },
		{ edge: "fileEvent", from: "fair", to: "craft" },
		{ edge: "followPerson", from: "bo", to: "ada" },
		{ edge: "followPerson", from: "ada", to: "bo" },
		{ edge: "followGroup", from: "cy", to: "makers" },
		{ edge: "invite", from: "party", to: "bo" },
		{ edge: "saveEvent", from: "cy", to: "fair" },
	],
	viewer: "ada",
	firstQuery: EVENTS,
	examples: async () => [{ query: EVENTS }],
};
