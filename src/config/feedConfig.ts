import type { Settings } from "./readSettings.ts";

/** Settings of the home feed. */
export interface FeedConfig {
	/** Null: on where there are pools, which an embedded folder has. */
	readonly isOn: boolean | null;
	/** Whether pins that came through somebody who is unfollowed leave the feed, or those alone that wait. */
	readonly unfollow: "remove" | "keep";
	/** Pins of producers with more followers are not pushed to these, but read when they look. */
	readonly pushLimit: number;
}

export function feedOf({ value, valueOr }: Settings): FeedConfig {
	return {
		isOn: valueOr("CORKBOARD_FEED", null),
		unfollow: value("CORKBOARD_FEED_UNFOLLOW"),
		pushLimit: value("CORKBOARD_FEED_PUSH_LIMIT"),
	};
}
