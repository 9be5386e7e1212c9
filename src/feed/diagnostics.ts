import { channelOf, Levels } from "../diagnostics.ts";

export const FEED_CHANNELS = {
	/** An item was pushed to pools of home feeds. */
	feedPushed: channelOf<FeedPushed>("corkboard.feed.pushed"),
	/** Somebody looked at a home feed, and items were added or not. */
	feedLook: channelOf<FeedLook>("corkboard.feed.look"),
	/** A ranker did not answer well or in time, so the default did. */
	rankerFellBack: channelOf<RankerFellBack>("corkboard.feed.ranker"),
};

/** How many producers there are whose items looks at home feeds read. */
export const PULLED_PRODUCERS = new Levels<number>();

/** One page of followers of a producer. */
export interface FeedPushed {
	readonly source: string;
	/** Followers, active or not. */
	readonly receivers: number;
	/** Pools that the item is new in. */
	readonly rows: number;
	/** Since the item was made. Milliseconds. */
	readonly lagMs: number;
}

interface FeedLook {
	/**
	 * - `added`: so many items as `added` says, or nothing waited.
	 * - `late`: not in time for this answer; they are added all the same, if they can be.
	 * - `failed`: the feed stays as it is.
	 */
	readonly outcome: "added" | "late" | "failed";
	readonly added: number;
	/** Items that waited and were not added, by reason. */
	readonly leftOut: ReadonlyMap<string, number>;
	readonly ms: number;
}

export interface RankerFellBack {
	readonly call: "score" | "arrange";
	/** `absent`: its thread is being replaced. */
	readonly why: "late" | "failed" | "unusable" | "absent";
}
