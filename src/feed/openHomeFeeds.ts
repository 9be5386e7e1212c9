import { CorkboardError } from "../errors.ts";
import type { PageHooks } from "../graph/read/beforePage.ts";
import type { RecordedReads } from "../graph/store/recordReads.ts";
import type { Store } from "../graph/store/store.ts";
import type { Id } from "../id/ids.ts";
import type { Jobs } from "../queue/enqueue/jobs.ts";
import { queuesOf } from "../topology/ranges.ts";
import type { Topology } from "../topology/types.ts";
import { newestOfPulled } from "./candidates/newestOfPulled.ts";
import { PulledProducers } from "./candidates/pulledProducers.ts";
import { PULLED_PRODUCERS } from "./diagnostics.ts";
import type { FeedModel } from "./feedModel.ts";
import { type FeedOfRequest, HomeFeeds, LOOK_COST } from "./homeFeeds.ts";
import type { FeedWork } from "./jobs/feedContext.ts";
import { enqueueUserWork, type UserWork } from "./jobs/feedUser.ts";
import type { FeedParts } from "./parts.ts";
import { openPools } from "./pools/openPools.ts";
import type { PoolStore } from "./pools/pools.ts";
import { BoundedRanker } from "./ranker.ts";
import { settleFeed } from "./settle.ts";

/** The part of the settings that home feeds need. */
interface FeedSettings {
	readonly ranker: string | null;
	/** What adds to a feed: each query of it, or only a mutation. */
	readonly feedFreshen: "query" | "mutation";
	readonly feed: {
		/** Null: only if there are pools. */
		readonly isOn: boolean | null;
		readonly pushLimit: number;
		readonly unfollow: "keep" | "remove";
	};
}

/** The home feeds of a process, and what its jobs use of them. */
interface OpenedHomeFeeds {
	readonly feeds: HomeFeeds;
	readonly work: FeedWork;
}

/** `resources` ends what is left for later, and the ranker. */
export async function openHomeFeeds(
	config: FeedSettings,
	{
		model,
		store,
		pools,
		jobs,
	}: {
		readonly model: FeedModel;
		readonly store: Store;
		readonly pools: PoolStore;
		/** Null if no jobs are run. */
		readonly jobs: Jobs | null;
	},
	resources: AsyncDisposableStack,
): Promise<OpenedHomeFeeds> {
	const ranker = resources.use(await BoundedRanker.open(config.ranker));
	const now = Date.now;
	const pulled = resources.use(pulledProducersOf(config, pools));
	void pulled.follow();
	resources.use(PULLED_PRODUCERS.add(() => pulled.size));
	const enqueue = (work: UserWork) =>
		jobs === null ? null : (user: Id) => enqueueUserWork(jobs, work, [user]);
	const parts: FeedParts = {
		model,
		store,
		pools,
		ranker,
		now,
		// If no jobs fill the pools, whom the user follows is read at each look.
		pull:
			jobs === null
				? null
				: (user, since, options) =>
						newestOfPulled({ store, model }, pulled, user, since, options),
		settleLater: enqueue("take"),
		rebuildLater: enqueue("rebuild"),
	};
	const feeds = resources.use(
		new HomeFeeds(parts, { addsOnRead: config.feedFreshen === "query" }),
	);
	return {
		feeds,
		work: {
			model,
			pools,
			pulled,
			ranker,
			removesUnfollowed: config.feed.unfollow === "remove",
			settle: (user) => settleFeed(parts, user),
			now,
		},
	};
}

/**
 * What a command reads of home feeds without a server. It changes nothing.
 * Throws BAD_CONFIG if the app has no feed, BAD_TOPOLOGY if there are no pools. `resources` closes them.
 */
export async function openFeedReader(
	config: Omit<FeedSettings, "feedFreshen">,
	{
		feedModel: model,
		store,
		topology,
	}: {
		readonly feedModel: FeedModel | null;
		readonly store: Store;
		readonly topology: Topology;
	},
	resources: AsyncDisposableStack,
): Promise<FeedParts> {
	if (model === null) throw noFeed();
	const { sources } = model;
	const pools = await openPools(topology, config.feed.isOn, {
		sources,
		readOnly: true,
	});
	if (pools === null) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			'There are no home feeds: the topology has no "pools", or CORKBOARD_FEED is off (docs/feed.md).',
		);
	}
	resources.use(pools);
	const pulled = resources.use(pulledProducersOf(config, pools));
	await pulled.refresh();
	return {
		model,
		store,
		pools,
		ranker: resources.use(await BoundedRanker.open(config.ranker)),
		now: Date.now,
		pull:
			queuesOf(topology).length === 0
				? null
				: (user, since, options) =>
						newestOfPulled({ store, model }, pulled, user, since, options),
		settleLater: null,
		rebuildLater: null,
	};
}

function pulledProducersOf(
	{ feed }: Pick<FeedSettings, "feed">,
	pools: PoolStore,
): PulledProducers {
	return new PulledProducers({
		pools,
		pushLimit: feed.pushLimit,
		now: Date.now,
	});
}

/** What the graph calls before pages of feeds, for one request. */
export function pageHooksOf(
	feed: HomeFeeds | null,
	recorded: Pick<RecordedReads, "limitAge"> | null,
): PageHooks | undefined {
	if (feed === null) return undefined;
	const list = feed.parts.model.list.name;
	return {
		before: new Map([[list, feed.beforePage]]),
		atEnd: new Map([[list, feed.atEnd]]),
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
		// It reads past what is recorded.
		related(...query) {
			recorded.limitAge(0);
			return feed.related(...query);
		},
		refresh: (...query) => feed.refresh(...query),
		hide: (...query) => feed.hide(...query),
	};
}

/** What a page of these lists may read besides. */
export function lookCostsOf({ list }: FeedModel): ReadonlyMap<string, number> {
	return new Map([[list.name, LOOK_COST]]);
}

/** The error of commands about feeds if the app has none. */
function noFeed(): CorkboardError {
	return new CorkboardError(
		"BAD_CONFIG",
		"This app has no home feed: its defineApp names none (feed).",
	);
}
