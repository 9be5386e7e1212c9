import assert from "node:assert/strict";
import pinsApp from "../../pins/app.ts";
import { type Corkboard, openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { type HomeFeedOptions, HomeFeeds } from "../../src/feed/homeFeeds.ts";
import type { PoolStore } from "../../src/feed/pools/pools.ts";
import { HALF_LIFE_MS, scoreOf } from "../../src/feed/scores.ts";
import type { Source } from "../../src/feed/sources.ts";
import { View } from "../../src/graph/read/view.ts";
import type { Page } from "../../src/graph/types.ts";
import type { Id } from "../../src/id/ids.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

/** An embedded Corkboard with home feeds, for one file of tests. No worker runs: tests say what is in pools, or start one. */
export interface FeedWorld extends AsyncDisposable {
	readonly corkboard: Corkboard;
	readonly feed: HomeFeeds;
	readonly pools: PoolStore;
	/** Data of an operation without errors. */
	ask<T = Record<string, unknown>>(
		viewer: Id | null,
		source: string,
	): Promise<T>;
	user(): Promise<User>;
	follow(follower: Id, followed: Id): Promise<void>;
	unfollow(follower: Id, followed: Id): Promise<void>;
	pin(owner: User, details?: string): Promise<Id>;
	/** Lets pins wait in a pool. */
	offer(user: Id, pins: readonly Id[], via: Id, options?: Offer): Promise<void>;
	/** A feed over the same graph and pools as another process has it; tests say how. */
	another(options?: Partial<HomeFeedOptions>, pools?: PoolStore): HomeFeeds;
	/** One look of a device, from the start; returns the ids of the page. */
	look(feed: HomeFeeds, user: Id, first?: number): Promise<readonly Id[]>;
	/** One page of a device. */
	page(
		feed: HomeFeeds,
		user: Id,
		args: { readonly first: number; readonly after?: string },
	): Promise<Page>;
	deletePin(owner: User, pin: Id): Promise<void>;
	/** Deletes what the user's last visits left in memory: the next look adds again. */
	visited(user: Id, daysAgo?: number): Promise<void>;
}

export interface User {
	readonly id: Id;
	readonly board: Id;
}

export interface Offer {
	readonly source?: Source;
	readonly origin?: Id;
	/** How good the pins are: 0 and more. */
	readonly quality?: number;
}

/** One page of a user's own feed, as a device reads it. */
async function pageOf(
	device: HomeFeeds,
	user: Id,
	args: { readonly first: number; readonly after?: string },
): Promise<Page> {
	const { store, model } = device.parts;
	const mapping = model.list;
	const view = new View(store, user, undefined, {
		before: new Map([[mapping.name, device.beforePage]]),
		atEnd: new Map([[mapping.name, device.atEnd]]),
		limitAge() {},
	});
	const fields = {
		edges: true,
		hasNextPage: true,
		hasPreviousPage: false,
		cursors: true,
		totalCount: false,
	};
	const [page] = await view.readPages(mapping, [user], { ...args, fields });
	assert.ok(page && "edges" in page);
	return page;
}

export async function openFeedWorld(
	/** Settings. */
	env: Readonly<Record<string, string>> = {},
): Promise<FeedWorld> {
	await using opened = new AsyncDisposableStack();
	const folder = opened.use(temporaryFolder());
	const corkboard = opened.use(
		await openCorkboard(
			pinsApp,
			readConfig({
				CORKBOARD_DATA: folder.path,
				CORKBOARD_DEMO: "off",
				...env,
			}),
		),
	);
	const feed = corkboard.feed;
	assert.ok(feed);
	const { pools } = feed.parts;
	let users = 0;
	const ask: FeedWorld["ask"] = async (viewer, source) => {
		const { data, errors } = await corkboard.query(source, { viewer });
		assert.equal(errors, undefined, JSON.stringify(errors));
		return data as never;
	};
	const made = async (viewer: Id | null, mutation: string, path: string) => {
		const data = await ask<Record<string, Record<string, { id: Id }>>>(
			viewer,
			`mutation { ${mutation} { ${path} { id } } }`,
		);
		const [payload] = Object.values(data);
		return payload?.[path]?.id as Id;
	};
	const resources = opened.move();
	return {
		corkboard,
		feed,
		pools,
		ask,
		async user() {
			const username = `user_${++users}`;
			const id = await made(
				null,
				`createUser(input: {username: "${username}"})`,
				"user",
			);
			const board = await made(
				id,
				'createBoard(input: {name: "board"})',
				"board",
			);
			return { id, board };
		},
		async follow(follower, followed) {
			await made(
				follower,
				`followUser(input: {userId: "${followed}"})`,
				"user",
			);
		},
		async unfollow(follower, followed) {
			await made(
				follower,
				`unfollowUser(input: {userId: "${followed}"})`,
				"user",
			);
		},
		pin: ({ id, board }, details = "a pin") =>
			made(
				id,
				`createPin(input: {boardId: "${board}", details: "${details}"})`,
				"pin",
			),
		async offer(user, pins, via, options = {}) {
			const { source = "user", origin, quality = 0 } = options;
			const now = Date.now();
			const entries = pins.map((pin, at) => ({
				source,
				item: pin,
				origin: origin ?? pin,
				via,
				score: scoreOf({
					quality,
					createdAt: now - at * 60_000,
					halfLifeMs: HALF_LIFE_MS,
				}),
			}));
			await pools.add(user, entries, now);
		},
		another(options = {}, own = pools) {
			return new HomeFeeds(
				{ ...feed.parts, pools: own, pull: async () => [] },
				{
					addsOnRead: true,
					lookMs: 60_000,
					returningMs: 60_000,
					holdMs: 0,
					...options,
				},
			);
		},
		async look(device, user, first = 100) {
			const { nodes } = await pageOf(device, user, { first });
			return nodes.map((node) => ("id" in node ? node.id : assert.fail()));
		},
		async deletePin({ id }, pin) {
			await ask(
				id,
				`mutation { deletePin(input: {pinId: "${pin}"}) { deletedPinId } }`,
			);
		},
		page: pageOf,
		async visited(user, daysAgo = 0) {
			const at = Date.now() - daysAgo * 86_400_000;
			await pools.noteVisit(user, {
				visitedAt: at,
				generatedAt: Math.max(1, at - 60_000),
				asked: 25,
				rebuiltAt: at,
			});
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}
