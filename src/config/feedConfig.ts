import type { Settings } from "../util/environment.ts";
import { parseInteger, parseOneOf, parseOnOff } from "../util/settings.ts";

/** Settings of the home feed. */
export interface FeedConfig {
	/** Null: on where there are pools, which an embedded folder has. */
	readonly isOn: boolean | null;
	/** Whether pins that came through somebody who is unfollowed leave the feed, or those alone that wait. */
	readonly unfollow: "remove" | "keep";
	/** Pins of producers with more followers are not pushed to these, but read when they look. */
	readonly pushLimit: number;
}

export function feedOf({ setting }: Settings): FeedConfig {
	return {
		isOn: setting<boolean | null>(
			"CORKBOARD_FEED",
			"on or off",
			parseOnOff,
			null,
		),
		unfollow: setting<FeedConfig["unfollow"]>(
			"CORKBOARD_FEED_UNFOLLOW",
			"remove or keep",
			(text) => parseOneOf(["remove", "keep"] as const, text),
			"remove",
		),
		pushLimit: setting(
			"CORKBOARD_FEED_PUSH_LIMIT",
			"an integer from 0 to 10000000",
			(text) => parseInteger(text, 0, 10_000_000),
			5_000,
		),
	};
}
