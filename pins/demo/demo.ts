import type { AppDemo } from "corkboard";
import { demoExamples, SOME_PINS } from "./examples.ts";
import { demoGraph } from "./graph.ts";
import { DEMO_USERNAME, OTHER_USERNAMES } from "./people.ts";

export const demo: AppDemo = {
	graph: demoGraph,
	viewer: DEMO_USERNAME,
	others: OTHER_USERNAMES,
	firstQuery: `{ user(by: {username: "${DEMO_USERNAME}"}) { name boards(first: 2) { nodes { name pins(first: 2) { nodes { details } } } } } }`,
	async examples({ query, viewer }) {
		const { data } = await query(SOME_PINS, { viewer });
		const pins = pinsIn(data);
		// If possible one that the demo user does not like yet.
		const pin = pins.find(({ viewerLikes }) => !viewerLikes) ?? pins[0];
		return demoExamples(pin?.id);
	},
};

interface PinAndLike {
	readonly id: string;
	readonly viewerLikes: boolean;
}

/** All pins in a response. */
function pinsIn(value: unknown): PinAndLike[] {
	if (typeof value !== "object" || value === null) return [];
	return "viewerLikes" in value
		? [value as PinAndLike]
		: Object.values(value).flatMap(pinsIn);
}
