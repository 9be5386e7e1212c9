import { CorkboardError } from "../errors.ts";
import { View } from "../graph/read/view.ts";
import type { Graph } from "../graph/types.ts";
import type { Id } from "../id/ids.ts";
import type { CallOptions } from "../trace.ts";
import type { Candidate, FeedViewer } from "./arrange.ts";
import {
	followedBy,
	type NewestOptions,
	newestOf,
} from "./candidates/newest.ts";
import type { FeedModel } from "./feedModel.ts";
import type { FeedParts } from "./parts.ts";
import type { PoolEntry, PoolRow, Visit } from "./pools/pools.ts";
import { RELATED, type Source } from "./sources.ts";

/**
 * What the generator would add to a home feed now, and why it would not add the
 * rest. Nothing is written: a look at the feed uses it (./homeFeeds.ts), and the command that
 * explains a feed.
 */
export interface ChosenItems {
	/** In the order of the feed, the first on top. */
	readonly chosen: readonly PoolEntry[];
	readonly leftOut: readonly LeftOutItem[];
	/** How many items were asked for. */
	readonly size: number;
	/** Null: the user never looked at the feed, or its pool was lost. */
	readonly visit: Visit | null;
	/** Whether the pool was passed over, because it has nothing of the time since the last look. */
	readonly isPulled: boolean;
	/** Whether some of those whom the user follows could not be read, so that their items are missing. */
	readonly isPartial: boolean;
}

interface ChooseOptions {
	readonly call?: CallOptions;
	/** Items to add at least, if so many wait. */
	readonly minSize?: number;
	/** Called if those whom the user follows have to be read, which takes longer. */
	readonly onReturning?: () => void;
	/** Whether the last visit is too recent. */
	readonly isHeld?: (visit: Visit) => boolean;
}

export interface LeftOutItem {
	readonly entry: PoolEntry;
	readonly reason: LeftOutReason;
}

/**
 * - `shown`: it is in the feed, or was.
 * - `known`: the same picture was shown, or hidden, as another item.
 * - `own`: the viewer's own.
 * - `invisible`: deleted, secret, or of a user who is blocked or has left.
 * - `unfollowed`: the viewer does not follow what it came through any more.
 * - `unavailable`: its host does not answer.
 * - `dropped`: the ranker decided never to show it.
 * - `waiting`: others were better; it waits for the next look.
 */
export type LeftOutReason =
	| "shown"
	| "known"
	| "own"
	| "invisible"
	| "unfollowed"
	| "unavailable"
	| "dropped"
	| "waiting";

/** Items that a look adds: at least, and at most. */
export const MIN_CHUNK = 25;
export const MAX_CHUNK = 100;
/** Candidates are so many times the share of a source. */
const CANDIDATES_FACTOR = 4;
/** Items of each source that say what the viewer is shown usually; with fewer than LEAST_SHOWN nothing is deferred. */
const SHOWN_LIMIT = 50;
const LEAST_SHOWN = 10;
/** No items are pushed to a user who has not looked for so long. */
export const ACTIVE_MS = 14 * 86_400_000;
/** How many of each kind that a returning user follows are read. */
const MAX_PULLED = 200;
/** Items read of all of them together, about. */
const PULLED_ITEMS = 400;

/** Reads as the user: one statement on its pool in each of three calls side by side, and one batch of each kind of what decides. Throws if the pool cannot be read. */
export async function chooseFor(
	parts: FeedParts,
	user: Id,
	options: ChooseOptions & { readonly isHeld?: never },
): Promise<ChosenItems>;
/** Null if `isHeld` says so of the user's last visit. */
export async function chooseFor(
	parts: FeedParts,
	user: Id,
	options: ChooseOptions,
): Promise<ChosenItems | null>;
export async function chooseFor(
	parts: FeedParts,
	user: Id,
	options: ChooseOptions,
): Promise<ChosenItems | null> {
	const { pools, model } = parts;
	const { call } = options;
	const now = parts.now();
	const graph = new View(parts.store, user);
	const limits = limitsFor(model, MAX_CHUNK);
	const shownLimits = everySource(model, SHOWN_LIMIT);
	const [visit, waiting, taken, dropped] = await Promise.all([
		pools.visit(user),
		pools.best(user, limits),
		pools.best(user, shownLimits, "taken"),
		pools.best(user, shownLimits, "dropped"),
	]);
	if (visit !== null && options.isHeld?.(visit)) return null;
	const size = Math.max(chunkSize(visit), options.minSize ?? 0);
	const lastLookAt = visit?.generatedAt ?? 0;
	const isReturning =
		visit === null || visit.visitedAt < now - ACTIVE_MS || lastLookAt === 0;
	const isPulled = isReturning || parts.pull === null;
	if (isPulled) options.onReturning?.();
	let isPartial = false;
	const onUnread = () => {
		isPartial = true;
	};
	const pulled = isPulled
		? await pullFollowed(parts, graph, user, { call, onUnread })
		: ((await parts.pull?.(user, lastLookAt, { onUnread })) ?? []);
	const candidates = merged(
		bestOf(
			waiting.filter(({ state }) => state === "waiting"),
			limitsFor(model, size),
		),
		pulled,
		now,
	);
	const { eligible, leftOut } = await decide(parts, graph, user, candidates, {
		pulled: new Set(pulled.map(({ item }) => item)),
		call,
	});
	const viewer: FeedViewer = {
		id: user,
		now,
		lastLookAt,
		usualScores: usualScores(taken.filter(({ state }) => state === "taken")),
		rates: model.rates,
		hidden: countByVia(dropped.filter(({ state }) => state === "dropped")),
	};
	const byItem = new Map(eligible.map((one) => [one.item, one]));
	const { show, drop } = await parts.ranker.arrange(
		bySource(eligible),
		size,
		viewer,
	);
	const isShown = new Set(show);
	const isDropped = new Set(drop);
	return {
		chosen: show.map((item) => byItem.get(item) as Candidate),
		leftOut: [
			...leftOut,
			...eligible
				.filter(({ item }) => !isShown.has(item))
				.map((entry) => ({
					entry,
					reason: isDropped.has(entry.item)
						? ("dropped" as const)
						: ("waiting" as const),
				})),
		],
		size,
		visit,
		isPulled,
		isPartial,
	};
}

/** How many items the next look is to add. */
export function chunkSize(visit: Pick<Visit, "asked"> | null): number {
	return Math.min(MAX_CHUNK, Math.max(MIN_CHUNK, visit?.asked ?? 0));
}

function limitsFor(model: FeedModel, size: number): Record<Source, number> {
	const limits = everySource(model, 0);
	const sum = model.rates.reduce((total, { rate }) => total + rate, 0);
	for (const { sources, rate } of model.rates) {
		for (const source of sources) {
			limits[source] = Math.ceil((CANDIDATES_FACTOR * size * rate) / sum);
		}
	}
	return limits;
}

/** The best of each source, as many as its limit: to decide on one takes two edges and an object. */
function bestOf(
	rows: readonly PoolRow[],
	limits: Readonly<Record<Source, number>>,
): readonly PoolRow[] {
	return [...Map.groupBy(rows, ({ source }) => source)].flatMap(
		([source, some]) =>
			some.toSorted((a, b) => b.score - a.score).slice(0, limits[source]),
	);
}

function everySource(
	{ sources }: FeedModel,
	limit: number,
): Record<Source, number> {
	return Object.fromEntries(sources.names.map((source) => [source, limit]));
}

/** Reads the items of those whom a user follows now, if nothing was pushed for it. */
async function pullFollowed(
	parts: FeedParts,
	graph: Graph,
	user: Id,
	options: NewestOptions,
): Promise<readonly PoolEntry[]> {
	const producers = await followedBy(
		parts.model,
		graph,
		user,
		MAX_PULLED,
		options.call,
	);
	if (producers.length === 0) return [];
	const each = Math.ceil(PULLED_ITEMS / producers.length);
	const perProducer = Math.min(25, Math.max(3, each));
	return newestOf(parts, graph, producers, perProducer, options);
}

/** One entry a picture: that of the pool, or the best of those that were pulled. */
function merged(
	waiting: readonly PoolRow[],
	pulled: readonly PoolEntry[],
	now: number,
): readonly Candidate[] {
	const byOrigin = new Map<Id, Candidate>();
	for (const { state: _, changedAt, ...entry } of waiting) {
		byOrigin.set(entry.origin, { ...entry, waitingSince: changedAt });
	}
	for (const entry of pulled.toSorted((a, b) => b.score - a.score)) {
		if (byOrigin.has(entry.origin)) continue;
		byOrigin.set(entry.origin, { ...entry, waitingSince: now });
	}
	// Another picture may have the item itself as its origin.
	const byItem = new Map<Id, Candidate>();
	for (const one of byOrigin.values()) {
		if (!byItem.has(one.item)) byItem.set(one.item, one);
	}
	return [...byItem.values()];
}

/** Which candidates may be shown to the user. */
async function decide(
	{ pools, store, model }: FeedParts,
	graph: Graph,
	user: Id,
	candidates: readonly Candidate[],
	{
		pulled,
		call,
	}: {
		readonly pulled: ReadonlySet<Id>;
		readonly call: CallOptions | undefined;
	},
): Promise<{
	readonly eligible: readonly Candidate[];
	readonly leftOut: readonly LeftOutItem[];
}> {
	if (candidates.length === 0) return { eligible: [], leftOut: [] };
	const feed = model.list;
	const items = candidates.map(({ item }) => item);
	const saved = candidates.filter(({ item, origin }) => item !== origin);
	const unknown = candidates.filter(({ item }) => pulled.has(item));
	const [edges, originEdges, known, follows, nodes] = await Promise.all([
		store.storage.read(
			"edges",
			items.map((to) => ({ mapping: feed, from: user, to })),
			call,
		),
		store.storage.read(
			"edges",
			saved.map(({ origin }) => ({ mapping: feed, from: user, to: origin })),
			call,
		),
		unknown.length === 0
			? []
			: findAll(
					pools,
					user,
					unknown.map(({ origin }) => origin),
				),
		followed(model, graph, user, candidates, call),
		graph.readObjects(items, call),
	]);
	const knownOrigins = new Set(
		known
			.filter((row) => row !== null && row.state !== "waiting")
			.map((row) => row?.origin),
	);
	const edgeOfOrigin = new Map(
		saved.map(({ item }, at) => [item, originEdges[at] ?? null]),
	);
	const leftOut: LeftOutItem[] = [];
	const eligible = candidates.filter((entry, at) => {
		const reason = ((): LeftOutReason | null => {
			const edge = edges[at] ?? null;
			const originEdge = edgeOfOrigin.get(entry.item) ?? null;
			const node = nodes[at] ?? null;
			const isFollowed = follows.get(entry.via);
			for (const read of [edge, originEdge, node, isFollowed]) {
				if (read instanceof CorkboardError) return "unavailable";
			}
			if (edge !== null) return "shown";
			if (originEdge !== null || knownOrigins.has(entry.origin)) return "known";
			if (node === null || node instanceof CorkboardError) return "invisible";
			if (model.ownerOf(node.data) === user) return "own";
			return entry.source !== RELATED && isFollowed !== true
				? "unfollowed"
				: null;
		})();
		if (reason !== null) leftOut.push({ entry, reason });
		return reason === null;
	});
	return { eligible, leftOut };
}

/** The entries of many origins, in calls of the size that the port allows. */
async function findAll(
	pools: FeedParts["pools"],
	user: Id,
	origins: readonly Id[],
): Promise<readonly (PoolRow | null)[]> {
	const found: (PoolRow | null)[] = [];
	for (let at = 0; at < origins.length; at += 500) {
		found.push(...(await pools.find(user, origins.slice(at, at + 500))));
	}
	return found;
}

/** Whether the user follows each `via` now; nothing of items that are related. */
async function followed(
	model: FeedModel,
	graph: Graph,
	user: Id,
	candidates: readonly Candidate[],
	call: CallOptions | undefined,
): Promise<ReadonlyMap<Id, boolean | CorkboardError>> {
	const result = new Map<Id, boolean | CorkboardError>();
	await Promise.all(
		model.followed.map(async ({ source, follow }) => {
			const vias = [
				...new Set(
					candidates
						.filter((one) => one.source === source)
						.map(({ via }) => via),
				),
			];
			if (vias.length === 0) return;
			const present = await graph.hasEdges(follow, user, vias, call);
			for (const [at, via] of vias.entries()) {
				result.set(via, present[at] ?? false);
			}
		}),
	);
	return result;
}

function bySource(
	candidates: readonly Candidate[],
): ReadonlyMap<Source, readonly Candidate[]> {
	const pools = Map.groupBy(candidates, ({ source }) => source);
	for (const pool of pools.values()) pool.sort((a, b) => b.score - a.score);
	return pools;
}

/** The median of each source of which enough was shown. */
function usualScores(taken: readonly PoolRow[]): FeedViewer["usualScores"] {
	const scores: Partial<Record<Source, number>> = {};
	for (const [source, rows] of Map.groupBy(taken, ({ source }) => source)) {
		if (rows.length < LEAST_SHOWN) continue;
		const sorted = rows.map(({ score }) => score).sort((a, b) => a - b);
		scores[source] = sorted[Math.floor(sorted.length / 2)] as number;
	}
	return scores;
}

function countByVia(rows: readonly PoolRow[]): ReadonlyMap<Id, number> {
	const counts = new Map<Id, number>();
	for (const { via } of rows) counts.set(via, (counts.get(via) ?? 0) + 1);
	return counts;
}
