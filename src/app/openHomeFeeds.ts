import type { Config } from "../config/config.ts";
import { FEED_MAPPING } from "../feed/generator.ts";
import { type FeedOfRequest, HomeFeeds, LOOK_COST } from "../feed/homeFeeds.ts";
import type { FeedWork } from "../feed/jobs/feedContext.ts";
import { feedUser } from "../feed/jobs/feedUser.ts";
import { newestOfPulled } from "../feed/newestOfPulled.ts";
import type { FeedParts } from "../feed/parts.ts";
import { PulledProducers } from "../feed/pulledProducers.ts";
import { BoundedRanker } from "../feed/ranker.ts";
import { settleFeed } from "../feed/settle.ts";
import type { PageHooks } from "../graph/read/beforePage.ts";
import type { RecordedReads, Store } from "../graph/store/store.ts";
import type { Id } from "../id/ids.ts";
import type { LookCosts } from "../plan/cost.ts";
import type { Jobs } from "../queue/jobs.ts";
import type { OpenedPools } from "./openPools.ts";

/** The home feeds of a process, and what its jobs use of them. */
export interface OpenedHomeFeeds {
	readonly feeds: HomeFeeds;
	readonly work: FeedWork;
}

/** `resources` ends what is left for later, and the ranker. */
export async function openHomeFeeds(
	config: Pick<Config, "ranker" | "feedFreshen" | "feed">,
	{
		store,
		pools,
		jobs,
	}: {
		readonly store: Store;
		readonly pools: OpenedPools;
		/** Null where no jobs are run. */
		readonly jobs: Jobs | null;
	},
	resources: AsyncDisposableStack,
): Promise<OpenedHomeFeeds> {
	const ranker = resources.use(await BoundedRanker.open(config.ranker));
	const now = Date.now;
	const pulled = resources.use(
		new PulledProducers({
			pools: () => pools.current,
			pushLimit: config.feed.pushLimit,
			now,
		}),
	);
	void pulled.follow();
	const enqueue = (work: "take" | "rebuild") =>
		jobs === null
			? null
			: (user: Id) =>
					jobs.enqueue(
						feedUser,
						{ do: work, user },
						{ key: `${work} ${user}`, priority: 3 },
					);
	const parts: FeedParts = {
		store,
		get pools() {
			return pools.current;
		},
		ranker,
		now,
		// Where no jobs fill the pools, whom the user follows is read at each look.
		pull:
			jobs === null
				? null
				: (user, since) => newestOfPulled(store, pulled, user, since),
		settleLater: enqueue("take"),
		rebuildLater: enqueue("rebuild"),
	};
	const feeds = resources.use(
		new HomeFeeds(parts, { addsOnRead: config.feedFreshen === "query" }),
	);
	return {
		feeds,
		work: {
			get pools() {
				return pools.current;
			},
			pulled,
			ranker,
			removesUnfollowed: config.feed.unfollow === "remove",
			settle: (user) => settleFeed(parts, user),
			now,
		},
	};
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
