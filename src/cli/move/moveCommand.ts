import type { MovedList } from "../../fleet/move/findMove.ts";
import type { MoveOptions } from "../../fleet/move/moveRun.ts";
import type { MovePlan } from "../../fleet/move/planMove.ts";
import type { MoveResult } from "../../fleet/move/result.ts";
import { isCutOverWish, type Wishes } from "../../fleet/move/wishes.ts";
import { MOVED_LISTS } from "../../fleet/operations/moveFacts.ts";
import { redactHostUrl } from "../../topology/hostUrl.ts";
import { compact } from "../../util/compact.ts";
import { UsageError } from "../arguments.ts";
import { DRY_RUN_FLAG, option, type Result, YES } from "../command.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	ended,
	isConfirmed,
	orHalfWay,
	withFleet,
	withTracedFleet,
} from "../fleetCommand.ts";
import { table } from "../table.ts";
import {
	duration,
	formatSeconds,
	formatShards,
	integer,
	type Kind,
	oneOf,
	SHARDS,
} from "../values.ts";
import { runGuarded } from "./runGuarded.ts";

/** What moves: `256-511`, or a list and a range of it. */
export const MOVED: Kind<string> = {
	name: "SHARDS",
	expected:
		"shards such as 256-511, or lookups, feeds or pools and a range of them",
	read: (given) =>
		SHARDS.read(given) !== undefined ||
		MOVED_LISTS.some((list) => list === given)
			? given
			: undefined,
};

/** Throws UsageError. */
export function movedIn(given: readonly string[]): {
	readonly list: MovedList;
	readonly range: readonly [number, number];
} {
	const [first, second, ...more] = given;
	const list = MOVED_LISTS.find((name) => name === first);
	const range = SHARDS.read((list === undefined ? first : second) ?? "");
	const isWhole = list === undefined ? second === undefined : true;
	if (range === undefined || !isWhole || more.length > 0) {
		throw new UsageError(
			`SHARDS must be ${MOVED.expected}, got ${given.join(" ")}.`,
		);
	}
	return { list: list ?? "shards", range };
}

const CUT_OVER: Kind<string> = {
	name: "WHEN",
	expected: "auto, ask or hours of the day in UTC such as 22:00-04:00",
	// Hours are typed.
	values: ["auto", "ask"],
	read: (given) => (isCutOverWish(given) ? given : undefined),
};
const MOST_MS = 999_999;

/** What can be changed while it runs, too. */
export const WISHES = {
	rate: option(
		integer(1, 10_000_000, "ROWS"),
		"copy and compare at most so many rows a second (default: no limit)",
	),
	maxPause: option(
		duration(50, MOST_MS),
		"how long writes may wait while a wave switches; if it takes longer, it is tried again later (default 1s)",
	),
	maxLag: option(
		duration(0, MOST_MS),
		"how far the stream may be behind when a wave switches (default 200ms)",
	),
	settle: option(
		duration(0, MOST_MS),
		"how long to wait after a wave has switched, before its former copy is renamed (default 30s)",
	),
	cutOver: option(
		CUT_OVER,
		"when waves switch: auto (default), ask (by moves cut-over) or hours such as 22:00-04:00 UTC",
	),
	killBlockers: option(
		oneOf("on|off", ["on", "off"]),
		"on: end clients' transactions that are open for more than 1 s and keep a wave from switching (default off)",
	),
};

/** Those that were given. */
export function wishesOf({
	rate,
	maxPause,
	maxLag,
	settle,
	cutOver,
	killBlockers,
}: {
	readonly rate: number | undefined;
	readonly maxPause: number | undefined;
	readonly maxLag: number | undefined;
	readonly settle: number | undefined;
	readonly cutOver: string | undefined;
	readonly killBlockers: string | undefined;
}): Partial<Wishes> {
	return {
		...(rate !== undefined && { rate }),
		...(maxPause !== undefined && { maxPauseMs: maxPause }),
		...(maxLag !== undefined && { maxLagMs: maxLag }),
		...(settle !== undefined && { settleMs: settle }),
		...(cutOver !== undefined && { cutOver }),
		...(killBlockers !== undefined && { killsBlockers: killBlockers === "on" }),
	};
}

/** What each command takes that asks before it changes the direction of a move. */
export const REDIRECTING = { dryRun: DRY_RUN_FLAG, yes: YES };

/** Looks whether a move can be taken another way, asks, and does it. */
export async function redirectMove(
	context: CommandContext,
	given: {
		readonly id: string;
		readonly dryRun: boolean;
		readonly yes: boolean;
		readonly json: boolean;
	},
	question: string,
	run: (options: MoveOptions) => Promise<MoveResult>,
): Promise<Result | number> {
	const { id, dryRun, json } = given;
	const now = await withFleet(context, (fleet) =>
		run({ ...fleet, isDryRun: true }),
	);
	if (dryRun) {
		return { value: now, lines: [`${id}: it can be done. ${question}`] };
	}
	if (!(await isConfirmed(context, given, question))) return 1;
	return runOnMove(context, id, json, run);
}

/** Runs what continues with a move, from another state than its runner had. */
export async function runOnMove(
	context: CommandContext,
	id: string,
	isJson: boolean,
	run: (options: MoveOptions) => Promise<MoveResult>,
): Promise<Result> {
	return withTracedFleet(context, async (fleet) => {
		const signal = context.interruptSignal();
		const onStep = (step: string) => {
			if (!isJson) context.stderr(step);
		};
		const options = { ...fleet, signal, onStep };
		return await orHalfWay(
			context,
			fleet,
			() => id,
			async () => ended(await runGuarded(context, options, id, run)),
		);
	});
}

/** What `shards move --dry-run --json` prints. */
export function planValue(plan: MovePlan) {
	const { found, faults, ...sizes } = plan;
	const { list, range, from, to, isNew } = found;
	const bare = ({ name, replica }: typeof from) => ({
		name,
		replica: replica === null ? null : redactHostUrl(replica),
	});
	return {
		list,
		range,
		from: bare(from),
		to: bare(to),
		isNew,
		...sizes,
		faults,
	};
}

/** What an operator reads of a plan. */
export function planLines({
	found: { list, range, from, to, isNew },
	waves,
	rows,
	bytes,
	needsBytes,
	seconds,
	largest,
	notes,
}: MovePlan): readonly string[] {
	return compact([
		`${list} ${formatShards(range)} from ${from.name} to ${to.name}${isNew ? ", which is new" : ""}: about ${rows} rows, ${formatBytes(bytes)}; about ${formatSeconds(seconds)} at the measured rate`,
		`${to.name} needs about ${formatBytes(needsBytes)} of free disk, with its binary log: MySQL does not say how much it has`,
		largest !== null &&
			`the largest is ${largest.database}, ${formatBytes(largest.bytes)}`,
		...table([
			["wave", list, "rows", "size"],
			...waves.map((wave, at) => [
				String(at + 1),
				formatShards(wave.range),
				String(wave.rows),
				formatBytes(wave.bytes),
			]),
		]),
		"writes to a wave wait while it switches, at most --max-pause; reads do not",
		...notes,
	]);
}

export function formatBytes(bytes: number): string {
	if (bytes < 1e9) return `${Math.ceil(bytes / 1e6)} MB`;
	return bytes < 1e12
		? `${(bytes / 1e9).toFixed(1)} GB`
		: `${(bytes / 1e12).toFixed(1)} TB`;
}
