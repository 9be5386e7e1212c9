import { setTimeout as sleep } from "node:timers/promises";
import type { Id } from "../../src/id/ids.ts";
import type { Mapping } from "../../src/model/types.ts";
import {
	STORAGE_CHANNELS,
	type StandbyEvent,
} from "../../src/storage/diagnostics.ts";
import { openMysqlStorage } from "../../src/storage/mysql/mysqlStorage.ts";
import {
	type KeyResult,
	PRESENT,
	type ScanResult,
} from "../../src/storage/rows.ts";
import type { OpenedStorage, Storage } from "../../src/storage/storage.ts";
import { MODEL, pin, topologyOn, user } from "./storageModel.ts";

/** A list that is placed on feeds. */
export const SHOW_PIN: Mapping = {
	name: "showPin",
	table: "user_home_feed",
	from: "User",
	prefixKeys: null,
	to: "Pin",
	field: "homeFeed",
	order: "NEWEST_FIRST",
	inverse: null,
	place: "FEEDS",
};

const FEED_MODEL = {
	...MODEL,
	mappings: new Map([...MODEL.mappings, [SHOW_PIN.name, SHOW_PIN]]),
};

/** The graph on one host, and the feeds of its shards on a pair. */
export function openFeeds(
	graph: string,
	feeds: { readonly primary: string; readonly replica?: string },
	limits: { readonly readMs?: number } = {},
): Promise<OpenedStorage> {
	return openMysqlStorage({
		model: FEED_MODEL,
		topology: {
			...topologyOn(graph),
			feeds: [{ range: [0, 3], ...feeds }],
		},
		limits,
	});
}

/** A chunk on top of a list, in one commit: `size` pins, numbered from `first`. */
export async function addChunk(
	storage: Storage,
	from: Id,
	first: number,
	size: number,
): Promise<void> {
	const tos = Array.from({ length: size }, (_, at) => pin(first + at));
	const keys = tos.map((to) => ({ mapping: SHOW_PIN, from, to }));
	await storage.transact({
		shard: storage.map.shardOfLists(SHOW_PIN, 0),
		lists: [{ mapping: SHOW_PIN, from }],
		edges: keys,
		decide: ({ lists: [list] }) => ({
			result: null,
			edges: keys.map((key, at) => ({
				...key,
				sequence: (list?.lastSequence ?? 0) + size - at,
				state: PRESENT,
				version: 1,
			})),
		}),
	});
}

export async function readPage(
	storage: Storage,
	from: Id,
	after?: { readonly sequence: number; readonly to: Id },
): Promise<KeyResult<ScanResult>> {
	const [page] = await storage.read("lists", [
		{
			mapping: SHOW_PIN,
			from,
			backward: false,
			limit: 20,
			mayBeStale: true,
			...(after && { after }),
		},
	]);
	return page as KeyResult<ScanResult>;
}

export interface TimedRead {
	/** When it began. Milliseconds of `performance.now()`. */
	readonly at: number;
	readonly ms: number;
	readonly failed: boolean;
	readonly isStale: boolean;
}

export interface RunningReads {
	/** Those that have ended, in the order of their ends. */
	readonly reads: readonly TimedRead[];
	/** Reads that did not begin, because the process was paused when their time came. */
	readonly skipped: number;
	end(): Promise<void>;
}

/** Pages of the lists of some users, so many a second, until it is ended: each read begins when its time has come, whatever became of those before. */
export function startReads(
	storage: Storage,
	perSecond: number,
	users: number,
): RunningReads {
	const reads: TimedRead[] = [];
	const running = new Set<Promise<void>>();
	let isOver = false;
	let started = 0;
	let skipped = 0;
	const read = async () => {
		const at = performance.now();
		const page = await readPage(storage, user(1 + (started % users)));
		const failed = page instanceof Error;
		const isStale = !failed && page.isStale === true;
		reads.push({ at, ms: performance.now() - at, failed, isStale });
	};
	const began = performance.now();
	const loop = (async () => {
		while (!isOver) {
			const due = ((performance.now() - began) / 1_000) * perSecond;
			// After a stillness of the process: not all at once.
			if (due - started > perSecond / 10) {
				skipped += Math.floor(due) - started;
				started = Math.floor(due);
			}
			while (started < due) {
				started += 1;
				const one = read();
				running.add(one);
				void one.finally(() => running.delete(one));
			}
			await sleep(1_000 / perSecond);
		}
	})();
	return {
		reads,
		get skipped() {
			return skipped;
		},
		async end() {
			isOver = true;
			await loop;
			await Promise.all(running);
		},
	};
}

/** What pairs report, until disposed. */
export function collectEvents(): Disposable & {
	readonly events: readonly StandbyEvent[];
	count(event: string): number;
} {
	const events: StandbyEvent[] = [];
	const add = (message: StandbyEvent) => events.push(message);
	STORAGE_CHANNELS.standby.subscribe(add);
	return {
		events,
		count: (event) => events.filter((one) => one.event === event).length,
		[Symbol.dispose]: () => {
			STORAGE_CHANNELS.standby.unsubscribe(add);
		},
	};
}
