import { setTimeout as sleep } from "node:timers/promises";
import type {
	AtEnd,
	AtEndResult,
	BeforePage,
} from "../graph/read/beforePage.ts";
import type { Writes } from "../graph/types.ts";
import { appendEdges, continueList } from "../graph/write/appendEdges.ts";
import { WritePipeline } from "../graph/write/pipeline.ts";
import type { Id } from "../id/ids.ts";
import type { CallOptions } from "../trace.ts";
import { BoundedMap } from "../util/boundedMap.ts";
import { rootsOf } from "./candidates/origins.ts";
import { relatedTo } from "./candidates/related.ts";
import { FEED_CHANNELS } from "./diagnostics.ts";
import {
	type ChosenItems,
	chooseFor,
	chunkSize,
	type LeftOutItem,
	MAX_CHUNK,
	MIN_CHUNK,
} from "./generator.ts";
import type { FeedParts } from "./parts.ts";
import type { PoolRow } from "./pools/pools.ts";
import {
	endOfFeed,
	MAX_FEED,
	settleInParts,
	trimFeed,
	trimPool,
} from "./settle.ts";

/** How long a look at the feed waits for new items; then it shows the feed as it is. Milliseconds. */
export const LOOK_MS = 150;
/** The same for a user whose items have to be read from those whom it follows. */
const RETURNING_MS = 300;
/** Between two looks that add items: clients fetch again by themselves. Milliseconds. */
const HOLD_MS = 30_000;
/** What a look may read besides the page: an edge and an item for each item that it adds, and the pool. */
export const LOOK_COST = 2 * MAX_CHUNK + 8;
/** Users of whom a process remembers when they looked. */
const REMEMBERED_USERS = 100_000;
/** How long a process remembers what a look left waiting. Milliseconds. */
const LEFT_MS = 10 * 60_000;
/** After a look that failed, the next one adds more. */
const GROWTH = 1.5;

export interface HomeFeedOptions {
	/** Whether reading the feed adds items to it; else only `refresh` does. */
	readonly addsOnRead: boolean;
	readonly lookMs?: number;
	readonly returningMs?: number;
	readonly holdMs?: number;
	/** Called between the steps of a look, with the name of the one that follows. Tests stop there. */
	readonly beforeStep?: (step: LookStep, user: Id) => Promise<void> | void;
}

/** The steps of a look, in order: docs/consistency.md, "The home feed". */
type LookStep = "choose" | "append" | "settle" | "note" | "trim";

/** Why an item is in the feed of a user. */
type FeedReason = Pick<PoolRow, "source" | "via" | "changedAt">;

/** What resolvers use of the feeds. */
export interface FeedOfRequest {
	/** Adds what waits, whenever the last look was. Returns how many items it has added so far. */
	refresh(viewer: Id, call?: CallOptions): Promise<number>;
	/** How many items wait, at most `cap`; null if that is not known. */
	waiting(viewer: Id, cap: number): Promise<number | null>;
	/** Why each item is in the feed; null for one that is not, or of which it is not known any more. Throws if the pool cannot be read. */
	reasons(
		viewer: Id,
		items: readonly FeedItem[],
	): Promise<readonly (FeedReason | null)[]>;
	/** Takes an item out of the feed for good. */
	hide(
		viewer: Id,
		item: FeedItem,
		request: { readonly writes: Writes },
	): Promise<void>;
	/** Items that stand next to one (./candidates/related.ts), the best first: 20 at most. Rejects if they cannot be read. */
	related(viewer: Id | null, item: Id): Promise<readonly Id[]>;
}

/** An item, and the one it was first saved from, or itself. */
export interface FeedItem {
	readonly item: Id;
	readonly origin: Id;
}

/**
 * The home feeds, on top of the list that the graph has of each and of the pools
 * (docs/feed.md). A look adds items: on top before the first page is read, and at the
 * end if a page reaches it. It chooses them, adds them to the list in one
 * transaction, and only then, off-line, takes them from the pool. So an item is never in neither, and the list is the one memory of what
 * was shown. Nothing here fails a page: what cannot be added now is added later.
 */
export class HomeFeeds implements FeedOfRequest, AsyncDisposable {
	readonly parts: FeedParts;
	readonly #options: Required<Omit<HomeFeedOptions, "beforeStep">> &
		Pick<HomeFeedOptions, "beforeStep">;
	/** Looks under way in this process. */
	readonly #running = new Map<Id, Promise<Look>>();
	/** Looks whose items are being taken from the pools. */
	readonly #settling = new Map<Id, Promise<void>>();
	/** When users may look again, by `performance.now()`. */
	readonly #heldUntil: BoundedMap<number>;
	/** How many items a look is to add that follows failed ones. */
	readonly #grown: BoundedMap<number>;
	/** How many items the last look left waiting. Not all of them are in a pool: some were read from those whom the user follows. */
	readonly #left: BoundedMap<number>;
	readonly #background = new Set<Promise<void>>();

	constructor(parts: FeedParts, options: HomeFeedOptions) {
		this.parts = parts;
		this.#options = {
			lookMs: LOOK_MS,
			returningMs: RETURNING_MS,
			holdMs: HOLD_MS,
			...options,
		};
		const bounds = { maxWeight: REMEMBERED_USERS, weigh: () => 1 };
		this.#heldUntil = new BoundedMap(bounds);
		this.#grown = new BoundedMap(bounds);
		this.#left = new BoundedMap(bounds);
	}

	async related(viewer: Id | null, item: Id): Promise<readonly Id[]> {
		const found = await relatedTo(this.parts, viewer, item);
		return found.map(({ item }) => item);
	}

	/** Before the first page of a viewer's own feed. */
	readonly beforePage: BeforePage = ({ viewer, call }) => {
		const held = (this.#heldUntil.get(viewer) ?? 0) - performance.now();
		if (held > 0) return { reads: 0, validMs: held };
		if (!this.#options.addsOnRead) {
			this.#hold(viewer, this.#options.holdMs);
			this.#later(() => this.#note(viewer, { visitedAt: this.parts.now() }));
			return { reads: 0, validMs: this.#options.holdMs };
		}
		// Items could not be added now, and to find that out would take until the deadline.
		const { storage } = this.parts.store;
		const mapping = this.parts.model.list;
		if (storage.map.isOnStandby({ mapping, from: viewer })) {
			return { reads: 0, validMs: 0 };
		}
		// Its items come with the next page.
		if (this.#running.has(viewer)) return { reads: 0, validMs: 0 };
		return this.#look(viewer, call, "visit").then((look) => ({
			reads: look === null ? LOOK_COST : Math.min(LOOK_COST, look.reads),
			validMs: 0,
		}));
	};

	/** Adds the next items at the end of a viewer's own feed. */
	readonly atEnd: AtEnd = async ({ viewer, isProbe, call }) => {
		const said = (outcome: AtEndResult["outcome"], reads = 0): AtEndResult => ({
			outcome,
			reads,
			validMs: 0,
		});
		if (!this.#options.addsOnRead) {
			return { ...said("ended"), validMs: this.#options.holdMs };
		}
		const held = (this.#heldUntil.get(viewer) ?? 0) - performance.now();
		if (isProbe && held > 0 && this.#left.get(viewer) === 0) {
			// The last look left nothing. What came since is for the next visit.
			return { ...said("ended"), validMs: held };
		}
		const { storage } = this.parts.store;
		const mapping = this.parts.model.list;
		if (storage.map.isOnStandby({ mapping, from: viewer })) return said("more");
		if (isProbe) {
			return said((await this.#mayContinue(viewer)) ? "more" : "ended", 1);
		}
		// What it adds comes with the next page.
		if (this.#running.has(viewer)) return said("more");
		const [head] = await this.parts.store.readHeads(
			[{ mapping, from: viewer }],
			1,
		);
		const count = head instanceof Error ? 0 : (head?.count ?? 0);
		// One more chunk would be trimmed.
		if (count > MAX_FEED - MAX_CHUNK) return said("ended", 1);
		const look = await this.#look(viewer, call, "end");
		if (look === null) return said("more", LOOK_COST);
		const reads = Math.min(LOOK_COST, look.reads);
		if (look.added > 0 || look.isMoved) return said("continued", reads);
		return said(look.isPartial ? "more" : "ended", reads);
	};

	/** Whether anything waits. If that is not known in time, something may. */
	async #mayContinue(viewer: Id): Promise<boolean> {
		if ((this.#left.get(viewer) ?? 0) > 0) return true;
		const late = new AbortController();
		const timeout = sleep(this.#options.lookMs, true, { signal: late.signal });
		timeout.catch(() => {});
		// What the last look added still waits until it is settled.
		const settled = this.#settling.get(viewer) ?? Promise.resolve();
		const waiting = settled
			.then(() => this.waiting(viewer, 1))
			.then((count) => count !== 0);
		try {
			return await Promise.race([waiting, timeout]);
		} finally {
			late.abort();
		}
	}

	async refresh(viewer: Id, call?: CallOptions): Promise<number> {
		// That one may fail for its own reason, as when its client has gone.
		await this.#running.get(viewer)?.catch(() => {});
		const look = await this.#look(viewer, call, "refresh");
		return look?.added ?? 0;
	}

	async waiting(viewer: Id, cap: number): Promise<number | null> {
		try {
			return await this.parts.pools.waiting(viewer, cap);
		} catch {
			return null;
		}
	}

	async reasons(
		viewer: Id,
		items: readonly FeedItem[],
	): Promise<readonly (FeedReason | null)[]> {
		const rows = await this.parts.pools.find(
			viewer,
			await this.#rootsOf(items),
		);
		return rows.map((row, at) =>
			row?.state === "taken" && row.item === items[at]?.item ? row : null,
		);
	}

	async hide(
		viewer: Id,
		{ item, origin }: FeedItem,
		{ writes }: { readonly writes: Writes },
	): Promise<void> {
		const { pools, now } = this.parts;
		const feed = this.parts.model.list;
		// The removed edge alone keeps it out.
		await writes.setEdge(feed, viewer, item, false);
		const roots = await this.#rootsOf([{ item, origin }]);
		const [row = null] = await pools.find(viewer, roots);
		if (row === null) return;
		await pools.settle(viewer, { taken: [], dropped: [row] }, now());
	}

	/** By what pools name the pictures. */
	#rootsOf(items: readonly FeedItem[]): Promise<readonly Id[]> {
		return rootsOf(this.parts, items);
	}

	/** Resolves when everything that was left for later is done, or has failed. */
	async flush(): Promise<void> {
		while (this.#running.size + this.#background.size > 0) {
			await Promise.allSettled([
				...this.#running.values(),
				...this.#background,
			]);
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.flush();
	}

	/** Null if it did not end in time, or failed. */
	async #look(
		viewer: Id,
		call: CallOptions | undefined,
		kind: LookKind,
	): Promise<Look | null> {
		const began = performance.now();
		let isReturning = false;
		let isLate = false;
		const look = this.#add(viewer, call, kind, () => {
			isReturning = true;
		});
		this.#running.set(viewer, look);
		const ended = look.then(
			(look) => ({ ...look, outcome: "added" as const }),
			() => {
				this.#failed(viewer);
				return { ...NOTHING, outcome: "failed" as const };
			},
		);
		void ended.then(({ outcome, added, leftOut }) => {
			this.#running.delete(viewer);
			FEED_CHANNELS.feedLook.publish({
				outcome: isLate && outcome === "added" ? "late" : outcome,
				added,
				leftOut: countByReason(leftOut),
				ms: performance.now() - began,
			});
		});
		const { lookMs, returningMs } = this.#options;
		let timer: NodeJS.Timeout | undefined;
		const late = new Promise<null>((resolve) => {
			const onTime = () => {
				const leftMs = (isReturning ? returningMs : lookMs) - sinceMs(began);
				if (leftMs > 1) timer = setTimeout(onTime, leftMs);
				else {
					isLate = true;
					resolve(null);
				}
			};
			timer = setTimeout(onTime, lookMs);
		});
		const result = await Promise.race([ended, late]);
		clearTimeout(timer);
		call?.trace?.note?.(describe(result, sinceMs(began)));
		return result?.outcome === "added" ? result : null;
	}

	async #add(
		viewer: Id,
		call: CallOptions | undefined,
		kind: LookKind,
		onReturning: () => void,
	): Promise<Look> {
		const { parts } = this;
		const { holdMs } = this.#options;
		const now = parts.now();
		await this.#step("choose", viewer);
		const grown = this.#grown.get(viewer) ?? 0;
		const choice = await chooseFor(parts, viewer, {
			...(call && { call }),
			minSize: grown,
			onReturning,
			isHeld: ({ generatedAt }) =>
				kind === "visit" && now >= generatedAt && now - generatedAt < holdMs,
		});
		if (choice === null) {
			// Another process added items just now.
			this.#hold(viewer, holdMs / 2);
			return NOTHING;
		}
		const { chosen, leftOut } = choice;
		await this.#step("append", viewer);
		const items = chosen.map(({ item }) => item);
		const added =
			kind === "end"
				? await this.#continue(viewer, items, call)
				: await appendEdges(
						new WritePipeline(parts.store, call),
						parts.model.list,
						viewer,
						items,
					);
		this.#grown.delete(viewer);
		if (kind !== "end") this.#hold(viewer, holdMs);
		const isLeft = ({ reason }: LeftOutItem) => reason === "waiting";
		this.#left.set(viewer, leftOut.filter(isLeft).length, LEFT_MS);
		if (added !== null) {
			const settling = this.#settle(viewer, choice, kind).finally(() => {
				if (this.#settling.get(viewer) === settling) {
					this.#settling.delete(viewer);
				}
			});
			this.#settling.set(viewer, settling);
			this.#later(() => settling);
		}
		return {
			added: added?.length ?? 0,
			isMoved: added === null,
			isPartial:
				choice.isPartial ||
				leftOut.some(({ reason }) => reason === "unavailable"),
			waiting: chosen.length + leftOut.length,
			leftOut,
			reads: 8 + 2 * (chosen.length + leftOut.length),
		};
	}

	/** Adds items behind the last one. Null: the feed continues there already. */
	async #continue(
		viewer: Id,
		items: readonly Id[],
		call: CallOptions | undefined,
	): Promise<readonly Id[] | null> {
		const { store, model } = this.parts;
		const last = await endOfFeed(this.parts, viewer);
		if (last === null) return [];
		return continueList(
			new WritePipeline(store, call),
			model.list,
			viewer,
			last,
			items,
		);
	}

	/** The feed has the items: whatever fails here is found again by the next look, or by the job. */
	async #settle(
		viewer: Id,
		choice: ChosenItems,
		kind: LookKind,
	): Promise<void> {
		const { parts } = this;
		const { chosen, leftOut, size, isPulled, isPartial } = choice;
		const of = (...reasons: readonly LeftOutItem["reason"][]) =>
			leftOut
				.filter(({ reason }) => reasons.includes(reason))
				.map(({ entry }) => entry);
		const now = parts.now();
		try {
			await this.#step("settle", viewer);
			await settleInParts(parts, viewer, {
				taken: [...chosen, ...of("shown", "known")],
				dropped: of("invisible", "own", "dropped"),
			});
			await this.#step("note", viewer);
			// A visit within the next half minute may still add what is new on top.
			await this.#note(
				viewer,
				kind === "end"
					? { visitedAt: now }
					: { visitedAt: now, generatedAt: now, asked: size },
			);
			await this.#step("trim", viewer);
			await trimFeed(parts, viewer);
			await trimPool(parts, viewer);
			// The next look reads only what is newer than this one.
			if (isPulled || isPartial) await parts.rebuildLater?.(viewer);
		} catch {
			await parts.settleLater?.(viewer);
		}
	}

	#failed(viewer: Id): void {
		const size = Math.max(MIN_CHUNK, this.#grown.get(viewer) ?? 0);
		this.#grown.set(viewer, Math.min(MAX_CHUNK, Math.ceil(size * GROWTH)));
		this.#later(async () => {
			const visit = await this.parts.pools.visit(viewer);
			const asked = Math.min(MAX_CHUNK, Math.ceil(chunkSize(visit) * GROWTH));
			await this.#note(viewer, { visitedAt: this.parts.now(), asked });
		});
	}

	#note(
		viewer: Id,
		visit: Parameters<FeedParts["pools"]["noteVisit"]>[1],
	): Promise<void> {
		return this.parts.pools.noteVisit(viewer, visit);
	}

	#hold(viewer: Id, ms: number): void {
		this.#heldUntil.set(viewer, performance.now() + ms, ms);
	}

	async #step(step: LookStep, user: Id): Promise<void> {
		await this.#options.beforeStep?.(step, user);
	}

	/** Nobody waits for it; what fails is done again by others. */
	#later(run: () => Promise<unknown>): void {
		const running: Promise<void> = run()
			.then(
				() => {},
				() => {},
			)
			.finally(() => this.#background.delete(running));
		this.#background.add(running);
	}
}

/** A visit adds on top unless the last one was just now, a refresh always; at the end of the list items are added behind it. */
type LookKind = "visit" | "refresh" | "end";

interface Look {
	readonly added: number;
	/** The list did not end any more where it was to be continued. */
	readonly isMoved: boolean;
	/** Whether items may be missing because something did not answer. */
	readonly isPartial: boolean;
	readonly waiting: number;
	readonly leftOut: readonly LeftOutItem[];
	/** Edges and objects. */
	readonly reads: number;
}

const NOTHING: Look = {
	added: 0,
	isMoved: false,
	isPartial: false,
	waiting: 0,
	leftOut: [],
	reads: 8,
};

function sinceMs(began: number): number {
	return performance.now() - began;
}

function countByReason(
	leftOut: readonly LeftOutItem[],
): ReadonlyMap<string, number> {
	const counts = new Map<string, number>();
	for (const { reason } of leftOut) {
		counts.set(reason, (counts.get(reason) ?? 0) + 1);
	}
	return counts;
}

/** For explain: names and numbers only. */
function describe(
	look: (Look & { readonly outcome: "added" | "failed" }) | null,
	ms: number,
): string {
	const took = `${ms.toFixed(0)} ms`;
	if (look === null) return `freshen: not in time, ${took}`;
	if (look.outcome === "failed") return `freshen: failed, ${took}`;
	const reasons = [...countByReason(look.leftOut)].map(
		([reason, count]) => `${count} ${reason}`,
	);
	return `freshen: ${look.added} of ${look.waiting} added${
		reasons.length === 0 ? "" : `, left out: ${reasons.join(", ")}`
	}, ${took}`;
}
