import { CorkboardError } from "../../errors.ts";
import { View } from "../../graph/read/view.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Node } from "../../graph/types.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { job } from "../../queue/job.ts";
import type { Position } from "../../storage/rows.ts";
import { rootOrigins } from "../candidates/origins.ts";
import { FEED_CHANNELS } from "../diagnostics.ts";
import type { FeedModel } from "../feedModel.ts";
import { ACTIVE_MS } from "../generator.ts";
import { ITEM_QUEUE, itemBody, JOB_ATTEMPTS } from "../jobBodies.ts";
import { MAX_RECEIVERS } from "../pools/pools.ts";
import { HALF_LIFE_MS, scoreOf } from "../scores.ts";
import type { Source } from "../sources.ts";
import { type FeedJobContext, type FeedWork, feedOf } from "./feedContext.ts";

/** Most producers have fewer followers. Reads of so few share a statement with those of other jobs, and their pushes too. */
const FEW = 100;

/** Somebody or something in whose followers' pools an item belongs. */
interface Producer {
	readonly source: Source;
	readonly via: Id;
	/** The mapping to its followers. */
	readonly followers: Mapping;
}

/**
 * Lets a new item wait in the pools of those who follow its owner or board and
 * look at their feeds: few at once, many a page at a time. Producers with too many
 * followers are left to those who look. A job that dies continues at its last page;
 * to push a page again changes nothing.
 */
export const feedItem = job({
	queue: ITEM_QUEUE,
	body: itemBody,
	attempts: JOB_ATTEMPTS,
	async run({ body, signal, checkpoint }, context: FeedJobContext) {
		const { store } = context;
		const feed = feedOf(context);
		const [item] = await new View(store, null).readObjects([body.item]);
		if (item instanceof CorkboardError) throw item;
		// Deleted, or on a secret board: who may see it then is decided when it is shown.
		if (!item) return;
		const [origin = item.id] = await rootOrigins({ store, model: feed.model }, [
			item,
		]);
		const pushed = { item, origin };
		const producers = producersOf(feed.model, item);
		if (body.at === undefined) {
			const pages = await followersOf(store, producers, { limit: FEW });
			if (pages.every(({ next }) => next === undefined)) {
				await pushToFew(feed, pushed, producers, pages);
				return;
			}
		}
		const first = body.at?.producer ?? 0;
		for (const [index, producer] of producers.entries()) {
			if (index < first) continue;
			let after: Position | undefined =
				index === first ? body.at?.after : undefined;
			for (;;) {
				signal.throwIfAborted();
				const [page] = await followersOf(store, [producer], {
					limit: MAX_RECEIVERS,
					after,
				});
				if (page === undefined) break;
				if (after === undefined) {
					const delivery = await feed.pulled.deliveryTo(
						producer.via,
						page.count,
					);
					if (delivery === "pull") break;
				}
				await pushTo(feed, { ...pushed, producer }, page.followers);
				after = page.next;
				if (after === undefined) break;
				await checkpoint({
					body: { item: item.id, at: { producer: index, after } },
				});
			}
		}
	},
});

function producersOf(model: FeedModel, { data }: Node): readonly Producer[] {
	return model.producersOf(data).flatMap(({ source, via }) => {
		const { followers } = model.followedBy(source);
		return followers === null ? [] : [{ source, via, followers }];
	});
}

interface FollowerPage {
	readonly followers: readonly Id[];
	/** The length of the whole list. */
	readonly count: number;
	/** Absent: the page is the last. */
	readonly next?: Position;
}

/** A page of the followers of each, in one read. */
async function followersOf(
	{ storage }: Store,
	producers: readonly Producer[],
	{
		limit,
		after,
	}: { readonly limit: number; readonly after?: Position | undefined },
): Promise<readonly FollowerPage[]> {
	const pages = await storage.read(
		"lists",
		producers.map(({ via, followers }) => {
			return {
				mapping: followers,
				from: via,
				backward: false,
				limit,
				...(after !== undefined && { after }),
			};
		}),
	);
	return pages.map((page): FollowerPage => {
		if (page instanceof CorkboardError) throw page;
		const { edges, list } = page;
		const last = edges.at(-1);
		return {
			followers: edges.map(({ to }) => to),
			count: list.count,
			...(last !== undefined &&
				edges.length === limit && {
					next: { sequence: last.sequence, to: last.to },
				}),
		};
	});
}

/** To all followers of all producers at once. A user who follows several gets the item through the first of them. */
async function pushToFew(
	feed: FeedWork,
	pushed: PushedItem,
	producers: readonly Producer[],
	pages: readonly FollowerPage[],
): Promise<void> {
	const reached = new Set<Id>();
	const pushes: (() => Promise<void>)[] = [];
	for (const [index, producer] of producers.entries()) {
		const { followers = [], count = 0 } = pages[index] ?? {};
		if ((await feed.pulled.deliveryTo(producer.via, count)) === "pull") {
			continue;
		}
		const more = followers.filter((user) => !reached.has(user));
		for (const user of more) reached.add(user);
		pushes.push(() => pushTo(feed, { ...pushed, producer }, more));
	}
	await Promise.all(pushes.map((push) => push()));
}

interface PushedItem {
	readonly item: Node;
	readonly origin: Id;
}

async function pushTo(
	{ model, pools, ranker, now }: FeedWork,
	{
		item,
		origin,
		producer: { source, via },
	}: PushedItem & { readonly producer: Producer },
	followers: readonly Id[],
): Promise<void> {
	const owner = model.ownerOf(item.data);
	const users = followers.filter((user) => user !== owner);
	if (users.length === 0) return;
	const createdAt = model.createdAtOf(item.data);
	const values = await ranker.score(
		{
			id: item.id,
			origin,
			owner: owner ?? item.id,
			createdAt,
		},
		{ source, id: via },
		users,
	);
	const at = now();
	const { rows, failed } = await pools.push(
		{ source, item: item.id, origin, via, now: at },
		users.map((user, index) => ({
			user,
			score: scoreOf({
				quality: values[index] ?? 0,
				createdAt,
				halfLifeMs: HALF_LIFE_MS,
			}),
		})),
		Math.max(0, at - ACTIVE_MS),
	);
	FEED_CHANNELS.feedPushed.publish({
		source,
		receivers: users.length,
		rows,
		lagMs: Math.max(0, now() - createdAt),
	});
	// The other shards are written: the next attempt changes nothing there.
	for (const { error } of failed) throw error;
}
