import type { Config } from "../config/config.ts";
import { FEED_MAPPING } from "../feed/generator.ts";
import { type FeedOfRequest, HomeFeeds, LOOK_COST } from "../feed/homeFeeds.ts";
import type { FeedParts } from "../feed/parts.ts";
import { BoundedRanker } from "../feed/ranker.ts";
import type { PageHooks } from "../graph/read/beforePage.ts";
import type { RecordedReads } from "../graph/store/store.ts";
import type { LookCosts } from "../plan/cost.ts";

/** The home feeds of this process. `resources` ends what is left for later, and the ranker. */
export async function openHomeFeeds(
	config: Pick<Config, "ranker" | "feedFreshen">,
	parts: Omit<FeedParts, "ranker" | "now">,
	resources: AsyncDisposableStack,
): Promise<HomeFeeds> {
	const ranker = resources.use(await BoundedRanker.open(config.ranker));
	return resources.use(
		new HomeFeeds(
			{ ...parts, ranker, now: Date.now },
			{ addsOnRead: config.feedFreshen === "query" },
		),
	);
}

/** What the graph calls before pages of feeds, for one request. */
export function pageHooksOf(
	feed: HomeFeeds | null,
	recorded: Pick<RecordedReads, "limitAge"> | null,
): PageHooks | undefined {
	if (feed === null) return undefined;
	return {
		before: new Map([[FEED_MAPPING, feed.beforePage]]),
		limitAge: (ms) => recorded?.limitAge(ms),
	};
}

/** What resolvers use of the feeds: an answer that has something of a pool is not used again. */
export function unrecordedFeed(
	feed: HomeFeeds | null,
	recorded: Pick<RecordedReads, "limitAge"> | null,
): FeedOfRequest | null {
	if (feed === null || recorded === null) return feed;
	return {
		waiting(...query) {
			recorded.limitAge(0);
			return feed.waiting(...query);
		},
		reasons(...query) {
			recorded.limitAge(0);
			return feed.reasons(...query);
		},
		refresh: (...query) => feed.refresh(...query),
		hide: (...query) => feed.hide(...query),
	};
}

export const LOOK_COSTS: LookCosts = new Map([[FEED_MAPPING, LOOK_COST]]);
