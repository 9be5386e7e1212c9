import { findUser } from "../../app/findUser.ts";
import { CorkboardError } from "../../errors.ts";
import {
	type ExplainedItem,
	explainItem,
	type ItemVerdict,
} from "../../feed/explainItem.ts";
import {
	ACTIVE_MS,
	type ChosenItems,
	chooseFor,
	type LeftOutReason,
} from "../../feed/generator.ts";
import { enqueueUserWork } from "../../feed/jobs/feedUser.ts";
import type { FeedParts } from "../../feed/parts.ts";
import type {
	PoolAdmin,
	PoolEntry,
	PoolShardStats,
	Pools,
} from "../../feed/pools/pools.ts";
import { type Id, parseId, unpackId } from "../../id/ids.ts";
import { Jobs } from "../../queue/enqueue/jobs.ts";
import { LocalHints } from "../../queue/hints.ts";
import { compact } from "../../util/compact.ts";
import { formatNumber, plural } from "../../util/format.ts";
import { columns, UsageError } from "../arguments.ts";
import {
	argument,
	command,
	DRY_RUN_FLAG,
	flag,
	optional,
	type Result,
} from "../command.ts";
import {
	type FeedOfCommand,
	openFeedForCommand,
	timeOf,
} from "../feedCommand.ts";
import { createProgressLine } from "../progress.ts";
import {
	accessOf,
	failuresAsJson,
	openQueuesForCommand,
	reportFailures,
} from "../queue/queueCommand.ts";
import { table } from "../table.ts";

/** Most items that are listed as left out. */
const LISTED = 20;

const WHY_LEFT_OUT: Readonly<Record<LeftOutReason, string>> = {
	shown: "it is in the feed, or was",
	known: "the same thing was shown, or hidden, as another item",
	own: "it is the user's own",
	invisible: "it is deleted, or the user may not see it",
	unfollowed: "the user does not follow what it came through any more",
	unavailable: "its host does not answer",
	dropped: "it was hidden, or the ranker decided never to show it",
	waiting: "others are better: it waits for the look after",
};

const WHY: Readonly<Record<ItemVerdict, string>> = {
	...WHY_LEFT_OUT,
	listed: "it is in the feed",
	removed:
		"it was in the feed: the user hid it, stopped following what it came through, or it was among the oldest",
	known: "the same thing was shown, was hidden or waits, as another item",
	next: "the next look adds it",
	behind:
		"it waits behind so many better ones of its source that the next look does not consider it",
	notFollowed: "the user follows nothing that it belongs to",
	inactive:
		"the user did not look at the feed for two weeks, so nothing is pushed; the next look reads what is new",
	missing:
		"the user follows what it could come through, but it is not in the pool: its job has not run (jobs list feedItem), or it is older than what a pool is filled with; feeds rebuild fills it again",
};

const explain = command({
	summary:
		"Says what the next visit of a home feed would add, or why an item is in it or not.",
	arguments: { user: argument("USER"), item: optional("ITEM") },
	details:
		"USER is a username or an id, ITEM an id. It reads as the user would, and changes nothing: no item is added to the pool or taken from it.",
	async run({ user: name, item }, context) {
		await using resources = new AsyncDisposableStack();
		const feed = await openFeedForCommand(context, resources);
		const user = await findUser(feed.corkboard, name);
		return item === undefined
			? nextLook(feed.parts, user)
			: explanationOf(feed, user, item);
	},
});

async function nextLook(parts: FeedParts, user: Id): Promise<Result> {
	const choice = await chooseFor(parts, user, {});
	return { value: choiceAsJson(user, choice), lines: choiceLines(choice) };
}

function choiceLines(choice: ChosenItems): readonly string[] {
	const { chosen, leftOut, visit, isPartial } = choice;
	const looked = timeOf(visit?.visitedAt ?? null);
	return compact([
		looked === null
			? "The user has not looked at the feed yet."
			: `The last look was at ${looked}.`,
		isPartial &&
			"Some of those whom the user follows cannot be read now, so their items are missing here. A job adds them after the next visit.",
		chosen.length === 0
			? "The next look adds nothing."
			: `The next look adds ${plural(chosen.length, "item")}:`,
		...listed(chosen.map((entry) => [entry, ""])),
		leftOut.length > 0 && "Left out:",
		...listed(
			leftOut
				.slice(0, LISTED)
				.map(({ entry, reason }) => [entry, WHY_LEFT_OUT[reason]]),
		),
		leftOut.length > LISTED &&
			`  … and ${leftOut.length - LISTED} more, which --json has`,
	]);
}

function listed(
	items: readonly (readonly [PoolEntry, string])[],
): readonly string[] {
	if (items.length === 0) return [];
	return table([
		["item", "source", "through", "score", "why not"],
		...items.map(([{ item, source, via, score }, why]) => [
			item,
			source,
			via,
			String(score),
			why,
		]),
	]).map((line) => `  ${line}`);
}

/** docs/reference/commands-json.md describes this shape: scripts rely on it. */
function choiceAsJson(
	user: Id,
	{ chosen, leftOut, size, visit, isPulled, isPartial }: ChosenItems,
) {
	return {
		user,
		visitedAt: timeOf(visit?.visitedAt ?? null),
		addedAt: timeOf(visit?.generatedAt ?? null),
		size,
		readsFollowed: isPulled,
		isPartial,
		chosen: chosen.map(entryAsJson),
		leftOut: leftOut.map(({ entry, reason }) => ({
			...entryAsJson(entry),
			reason,
		})),
	};
}

function entryAsJson({ item, origin, source, via, score }: PoolEntry) {
	return { item, origin, source, via, score };
}

async function explanationOf(
	{ corkboard, parts }: FeedOfCommand,
	user: Id,
	given: string,
): Promise<Result> {
	const id = parseId(given);
	const isItem =
		id !== "malformed" &&
		id !== "reserved" &&
		corkboard.model.objectsByNumber.get(unpackId(id).type)?.name ===
			parts.model.item;
	if (!isItem) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`ITEM must be the id of an item of the feed (${parts.model.item}), got ${JSON.stringify(given)}.`,
		);
	}
	const explained = await explainItem(parts, user, id);
	return {
		value: itemAsJson(user, id, explained),
		lines: itemLines(id, explained),
	};
}

function itemLines(
	id: Id,
	{ verdict, entry, changedAt, place, follows }: ExplainedItem,
): readonly string[] {
	const at = timeOf(changedAt);
	const rows: (readonly [string, string])[] = compact([
		["item", id],
		["verdict", `${verdict}: ${WHY[verdict]}`],
		place !== null && (["place", String(place)] as const),
		...(entry === null
			? []
			: ([
					["source", entry.source],
					["through", entry.via],
					["score", String(entry.score)],
				] as const)),
		at !== null && (["since", at] as const),
		[
			"followed",
			follows.map(({ source, via }) => `${source} ${via}`).join(", ") || "none",
		],
	]);
	return columns(rows).map((line) => line.slice(2));
}

/** docs/reference/commands-json.md describes this shape: scripts rely on it. */
function itemAsJson(
	user: Id,
	item: Id,
	{ verdict, entry, changedAt, place, follows }: ExplainedItem,
) {
	return {
		user,
		item,
		verdict,
		source: entry?.source ?? null,
		via: entry?.via ?? null,
		score: entry?.score ?? null,
		changedAt: timeOf(changedAt),
		place,
		follows,
	};
}

/** Jobs of one statement. */
const TOGETHER = 500;

const rebuild = command({
	summary:
		"Lets jobs fill the pool of a user, or of all active ones, from what they follow.",
	arguments: { user: optional("USER") },
	options: {
		all: flag(
			"all users who looked at their feed in the last two weeks, as the pools know them",
		),
		dryRun: DRY_RUN_FLAG,
	},
	details:
		"USER is a username or an id. It fills pools that were lost. The jobs have the lowest priority. A job that already waits is not made twice, so an interrupted run can be repeated. Users whose visits were lost too need no job: their next visit reads what they follow.",
	exitCodes: { 130: "interrupted" },
	async run({ user, all, dryRun }, context) {
		if (all === (user !== undefined)) {
			throw new UsageError("Give either USER or --all.");
		}
		await using resources = new AsyncDisposableStack();
		const { corkboard, parts } = await openFeedForCommand(context, resources);
		const queues = resources.use(
			await openQueuesForCommand(context, accessOf(dryRun)),
		);
		const jobs = new Jobs(queues.store, new LocalHints(), null);
		const signal = context.interruptSignal();
		const progress = createProgressLine(context);
		const pages =
			user === undefined
				? activeUsers(parts.pools, parts.now())
				: [[await findUser(corkboard, user)]];
		let users = 0;
		let enqueued = 0;
		for await (const page of pages) {
			if (signal.aborted) break;
			users += page.length;
			if (!dryRun) {
				const done = await enqueueUserWork(jobs, "rebuild", page);
				enqueued += done.filter(({ isMerged }) => !isMerged).length;
			}
			progress.update(`${formatNumber(users)} users`);
		}
		progress.end();
		return {
			value: { dryRun, users, enqueued },
			lines: [
				dryRun
					? `${plural(users, "pool")} would be filled`
					: `${plural(enqueued, "job")} enqueued for ${plural(users, "user")}; queues stats feedUser shows how many are left`,
			],
			...(signal.aborted && {
				notes: ["interrupted: run it again to continue"],
				code: 130,
			}),
		};
	},
});

async function* activeUsers(
	pools: Pools & PoolAdmin,
	now: number,
): AsyncGenerator<readonly Id[], void> {
	for (const shard of pools.shards) {
		let after: Id | null = null;
		for (;;) {
			const page: readonly Id[] = await pools.activeUsers(shard, {
				after,
				activeSince: now - ACTIVE_MS,
				limit: TOGETHER,
			});
			if (page.length > 0) yield page;
			if (page.length < TOGETHER) break;
			after = page.at(-1) ?? null;
		}
	}
}

const stats = command({
	isWatched: true,
	summary: "Counts what waits for home feeds on each shard of the pools.",
	details:
		"Rows and users are estimates on MySQL. Rows are items in pools: waiting, taken or dropped.",
	exitCodes: { 1: "a shard does not answer, or an error" },
	async run(_given, context) {
		await using resources = new AsyncDisposableStack();
		const { parts } = await openFeedForCommand(context, resources);
		const { pools } = parts;
		const [stats, pulled] = await Promise.all([
			pools.stats(),
			pools.pulled().catch(() => null),
		]);
		const shards: PoolShardStats[] = [];
		const failures = new Map<number, CorkboardError>();
		for (const [at, one] of stats.entries()) {
			if (one instanceof CorkboardError)
				failures.set(pools.shards[at] ?? at, one);
			else shards.push(one);
		}
		return {
			value: {
				shards,
				pulledProducers: pulled?.length ?? null,
				failures: failuresAsJson(failures),
			},
			lines: [
				...table([
					["shard", "host", "rows", "users", "on disk", "a user"],
					...shards.map(({ shard, host, rows, users, bytes }) => [
						String(shard),
						host,
						formatNumber(rows),
						formatNumber(users),
						bytes === 0 ? "" : kilobytes(bytes),
						bytes === 0 || users === 0 ? "" : kilobytes(bytes / users),
					]),
				]),
				`producers that are pulled: ${pulled === null ? "not known" : formatNumber(pulled.length)}`,
			],
			...reportFailures(failures),
		};
	},
});

function kilobytes(bytes: number): string {
	return `${formatNumber(Math.round(bytes / 1_000))} kB`;
}

export const verbs = {
	explain,
	rebuild,
	stats,
};
