import { CorkboardError } from "../../errors.ts";
import { View } from "../../graph/read/view.ts";
import type { Store } from "../../graph/store/store.ts";
import { typeNameOf } from "../../graph/store/typeName.ts";
import type { Graph } from "../../graph/types.ts";
import { createWrites } from "../../graph/write/createWrites.ts";
import type { Id } from "../../id/ids.ts";
import type { EnqueuedJob, Jobs } from "../../queue/enqueue/jobs.ts";
import { job } from "../../queue/job.ts";
import { PRESENT } from "../../storage/rows.ts";
import { DECISIVE } from "../../trace.ts";
import { followedBy, newestOf, type Producer } from "../candidates/newest.ts";
import { relatedTo } from "../candidates/related.ts";
import type { FeedModel } from "../feedModel.ts";
import { ACTIVE_MS } from "../generator.ts";
import {
	JOB_ATTEMPTS,
	USER_QUEUE,
	type UserBody,
	userBody,
} from "../jobBodies.ts";
import { MAX_ENTRIES, type PoolEntry, type PoolRow } from "../pools/pools.ts";
import { type FeedJobContext, type FeedWork, feedOf } from "./feedContext.ts";

/** Items that come into the pool when somebody begins to follow. */
const NEWEST = 50;
/** A pool is filled from so many of each kind that the user follows, the latest first, and so many items of each. */
const FOLLOWED = 200;
const PER_FOLLOWED = 10;
/** Looks and pushes that began before an unfollow was committed have ended by then. Milliseconds. */
const AGAIN_MS = 60_000;
/** Items of one step of an unfollow. */
const STEP = 200;

/** What concerns the pool of one user. Each kind of work can be repeated, and done in any order. */
export const feedUser = job({
	queue: USER_QUEUE,
	body: userBody,
	attempts: JOB_ATTEMPTS,
	subject: ({ user }) => user,
	async run({ body, signal }, context: FeedJobContext) {
		const feed = feedOf(context);
		const work = { ...context, feed, signal };
		switch (body.do) {
			case "follow":
				return follow(work, body.user, body.via);
			case "unfollow":
				return unfollow(work, body);
			case "related":
				return related(work, body.user, body.item);
			case "take":
				return feed.settle(body.user);
			case "rebuild":
				return rebuild(work, body.user);
		}
	},
});

/** What is done for a user as a whole. Enqueued again while it waits, it is done once. */
export type UserWork = Extract<UserBody["do"], "take" | "rebuild">;

/** Throws as `Jobs.enqueue` does. */
export async function enqueueUserWork(
	jobs: Pick<Jobs, "enqueueAll">,
	work: UserWork,
	users: readonly Id[],
): Promise<readonly EnqueuedJob[]> {
	return jobs.enqueueAll(
		feedUser,
		users.map((user) => ({
			body: { do: work, user },
			key: `${work} ${user}`,
			priority: 3,
		})),
	);
}

interface Work extends FeedJobContext {
	readonly feed: FeedWork;
	readonly signal: AbortSignal;
}

async function follow({ store, feed }: Work, user: Id, via: Id): Promise<void> {
	const producer = producerOf(feed.model, store, via);
	if (producer === null || !(await isActive(feed, user))) return;
	const graph = new View(store, user);
	if (!(await isFollowing(feed.model, store, user, [producer]))[0]) return;
	await addNewest({ store, feed }, user, graph, [producer], NEWEST);
}

/**
 * Takes items that came through `via` out of the pool, and out of the feed unless
 * they are to stay. A waiting item that the user follows in another way too waits on through that.
 */
async function unfollow(
	{ store, feed, jobs, signal }: Work,
	{
		user,
		via,
		isAgain = false,
	}: Extract<UserBody, { readonly do: "unfollow" }>,
): Promise<void> {
	const { pools } = feed;
	const producer = producerOf(feed.model, store, via);
	if (producer === null) return;
	// Followed again since.
	if ((await isFollowing(feed.model, store, user, [producer]))[0]) return;
	for (;;) {
		signal.throwIfAborted();
		const rows = await pools.listVia(user, via, "waiting", STEP);
		if (rows.length === 0) break;
		const origins = rows.map(({ origin }) => origin);
		const others = await throughOthers(feed.model, store, user, rows);
		await pools.withdraw(user, via, origins, others, feed.now());
	}
	if (feed.removesUnfollowed) {
		const shown = await pools.listVia(user, via, "taken", MAX_ENTRIES);
		const mapping = feed.model.list;
		for (let at = 0; at < shown.length; at += STEP) {
			signal.throwIfAborted();
			const rows = shown.slice(at, at + STEP);
			const others = await throughOthers(feed.model, store, user, rows);
			const stays = new Set(others.map(({ item }) => item));
			const remove = rows
				.map(({ item }) => item)
				.filter((item) => !stays.has(item));
			if (remove.length === 0) continue;
			await createWrites(store).setEdges(mapping, user, { add: [], remove });
		}
	}
	if (isAgain) return;
	await jobs.enqueueAll(feedUser, [
		{
			body: { do: "unfollow", user, via, isAgain: true },
			delayMs: AGAIN_MS,
			priority: 3,
		},
	]);
}

/** Those of the items that the user follows through their owner or board, as entries through that. */
async function throughOthers(
	model: FeedModel,
	store: Store,
	user: Id,
	rows: readonly PoolRow[],
): Promise<readonly PoolEntry[]> {
	const items = await new View(store, user).readObjects(
		rows.map(({ item }) => item),
	);
	const ways = rows.flatMap((row, at) => {
		const item = items[at] ?? null;
		if (item instanceof CorkboardError) throw item;
		return item === null
			? []
			: model.producersOf(item.data).map((way) => ({ row, way }));
	});
	const isFollowed = await isFollowing(
		model,
		store,
		user,
		ways.map(({ way }) => way),
	);
	const entries = new Map<Id, PoolEntry>();
	for (const [at, { row, way }] of ways.entries()) {
		if (!isFollowed[at] || entries.has(row.origin)) continue;
		const { score, item, origin } = row;
		entries.set(row.origin, { ...way, score, item, origin });
	}
	return [...entries.values()];
}

async function related(
	{ store, feed }: Work,
	user: Id,
	item: Id,
): Promise<void> {
	if (!(await isActive(feed, user))) return;
	await addTo(
		feed,
		user,
		await relatedTo({ store, model: feed.model }, user, item),
	);
}

async function rebuild({ store, feed }: Work, user: Id): Promise<void> {
	const graph = new View(store, user);
	const producers = await followedBy(feed.model, graph, user, FOLLOWED);
	await addNewest({ store, feed }, user, graph, producers, PER_FOLLOWED);
	await feed.settle(user);
	await feed.pools.noteVisit(user, { rebuiltAt: feed.now() });
}

/** Adds what can be read, and then throws if something could not: the job is tried again. */
async function addNewest(
	{ store, feed }: Pick<Work, "store" | "feed">,
	user: Id,
	graph: Graph,
	producers: readonly Producer[],
	perProducer: number,
): Promise<void> {
	let unread: CorkboardError | undefined;
	const entries = await newestOf(
		{ store, model: feed.model },
		graph,
		producers,
		perProducer,
		{
			onUnread: (error) => {
				unread ??= error;
			},
		},
	);
	await addTo(feed, user, entries);
	if (unread !== undefined) throw unread;
}

/** Whether items are put into the pool; else the next look reads them from whom the user follows. */
async function isActive({ pools, now }: FeedWork, user: Id): Promise<boolean> {
	const visit = await pools.visit(user);
	return visit !== null && visit.visitedAt > now() - ACTIVE_MS;
}

async function addTo(
	{ pools, now }: FeedWork,
	user: Id,
	entries: readonly PoolEntry[],
): Promise<void> {
	for (let at = 0; at < entries.length; at += MAX_ENTRIES) {
		await pools.add(user, entries.slice(at, at + MAX_ENTRIES), now());
	}
}

/** Null for what nobody can follow. */
function producerOf(
	feed: FeedModel,
	{ model }: FeedJobContext["store"],
	via: Id,
): Producer | null {
	const type = typeNameOf(model, via);
	const found = feed.followed.find(({ follow }) => follow.to === type);
	return found === undefined ? null : { source: found.source, via };
}

/** Read on the shards: a cache may not know yet of the change that the job is about. */
async function isFollowing(
	model: FeedModel,
	{ storage }: Store,
	user: Id,
	producers: readonly Producer[],
): Promise<readonly boolean[]> {
	const edges = await storage.read(
		"edges",
		producers.map(({ source, via }) => ({
			mapping: model.followedBy(source).follow,
			from: user,
			to: via,
		})),
		DECISIVE,
	);
	return edges.map((edge) => {
		if (edge instanceof CorkboardError) throw edge;
		return edge?.state === PRESENT;
	});
}
