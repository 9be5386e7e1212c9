import type { PartOf } from "corkboard";
import { feed } from "corkboard/parts";
import type { Schema } from "../typed.ts";

/** What those whom a user follows saved, and what stands next to it. */
export const homeFeed: PartOf<Schema> = feed<Schema>({
	reader: "User",
	item: "Pin",
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
	fields: {
		waiting: "User.homeFeedWaiting",
		reason: [
			"Pin.homeFeedReason",
			{
				user: "FOLLOWED_USER",
				board: "FOLLOWED_BOARD",
				interest: "FOLLOWED_INTEREST",
				related: "RELATED",
			},
		],
		related: "Pin.related",
		refresh: "Mutation.refreshHomeFeed",
		hide: "Mutation.hideFromHomeFeed",
	},
});
