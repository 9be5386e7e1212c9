import { findUser } from "../../app/findUser.ts";
import { CorkboardError } from "../../errors.ts";
import {
	type ExplainedPin,
	explainPin,
	type PinVerdict,
} from "../../feed/explainPin.ts";
import {
	type ChosenPins,
	chooseFor,
	type LeftOutReason,
} from "../../feed/generator.ts";
import type { FeedParts } from "../../feed/parts.ts";
import type { PoolEntry } from "../../feed/pools/pools.ts";
import { type Id, parseId, unpackId } from "../../id/ids.ts";
import { compact } from "../../util/compact.ts";
import { plural } from "../../util/format.ts";
import { columns } from "../arguments.ts";
import { argument, command, optional, type Result } from "../command.ts";
import {
	type FeedOfCommand,
	openFeedForCommand,
	timeOf,
} from "../feedCommand.ts";
import { table } from "../table.ts";

/** Of the pins that are left out. */
const LISTED = 20;

const WHY_LEFT_OUT: Readonly<Record<LeftOutReason, string>> = {
	shown: "it is in the feed, or was",
	known: "the same picture was shown, or hidden, as another pin",
	own: "it is the user's own",
	invisible: "it is deleted, or the user may not see it",
	unfollowed: "the user does not follow what it came through any more",
	unavailable: "its host does not answer",
	dropped: "it was hidden, or the ranker decided never to show it",
	waiting: "others are better: it waits for the look after",
};

const WHY: Readonly<Record<PinVerdict, string>> = {
	...WHY_LEFT_OUT,
	listed: "it is in the feed",
	removed:
		"it was in the feed: the user hid it, stopped following what it came through, or it was among the oldest",
	known: "the same picture was shown, was hidden or waits, as another pin",
	next: "the next look adds it",
	behind:
		"it waits behind so many better ones of its source that the next look does not consider it",
	notFollowed: "the user follows neither its owner, nor its board or interests",
	inactive:
		"the user did not look at the feed for two weeks, so nothing is pushed; the next look reads what is new",
	missing:
		"the user follows what it could come through, but it is not in the pool: its job has not run (jobs list feedPin), or it is older than what a pool is filled with; feeds rebuild fills it again",
};

export const { usage, run } = command({
	summary:
		"Says what the next visit of a home feed would add, or why a pin is in it or not.",
	arguments: { user: argument("USER"), pin: optional("PIN") },
	details:
		"USER is a username or an id, PIN an id. It reads as the user would, and changes nothing: no pin is added or taken from the pool.",
	async run({ user: name, pin }, context) {
		await using resources = new AsyncDisposableStack();
		const feed = await openFeedForCommand(context, resources);
		const user = await findUser(feed.corkboard, name);
		return pin === undefined
			? nextLook(feed.parts, user)
			: explanationOf(feed, user, pin);
	},
});

async function nextLook(parts: FeedParts, user: Id): Promise<Result> {
	const choice = await chooseFor(parts, user, {});
	return { value: choiceAsJson(user, choice), lines: choiceLines(choice) };
}

function choiceLines(choice: ChosenPins): readonly string[] {
	const { chosen, leftOut, visit, isPartial } = choice;
	const looked = timeOf(visit?.visitedAt ?? null);
	return compact([
		looked === null
			? "The user has not looked at the feed yet."
			: `The last look was at ${looked}.`,
		isPartial &&
			"Some of those whom the user follows cannot be read now, so their pins lack here; a job adds them after the next look.",
		chosen.length === 0
			? "The next look adds nothing."
			: `The next look adds ${plural(chosen.length, "pin")}:`,
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
	pins: readonly (readonly [PoolEntry, string])[],
): readonly string[] {
	if (pins.length === 0) return [];
	return table([
		["pin", "source", "through", "score", "why not"],
		...pins.map(([{ pin, source, via, score }, why]) => [
			pin,
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
	{ chosen, leftOut, size, visit, isPulled, isPartial }: ChosenPins,
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

function entryAsJson({ pin, origin, source, via, score }: PoolEntry) {
	return { pin, origin, source, via, score };
}

async function explanationOf(
	{ corkboard, parts }: FeedOfCommand,
	user: Id,
	given: string,
): Promise<Result> {
	const id = parseId(given);
	const isPin =
		id !== "malformed" &&
		id !== "reserved" &&
		corkboard.model.objectsByNumber.get(unpackId(id).type)?.name === "Pin";
	if (!isPin) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`PIN must be the id of a pin, got ${JSON.stringify(given)}.`,
		);
	}
	const explained = await explainPin(parts, user, id);
	return {
		value: pinAsJson(user, id, explained),
		lines: pinLines(id, explained),
	};
}

function pinLines(
	id: Id,
	{ verdict, entry, changedAt, place, follows }: ExplainedPin,
): readonly string[] {
	const at = timeOf(changedAt);
	const rows: (readonly [string, string])[] = compact([
		["pin", id],
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
function pinAsJson(
	user: Id,
	pin: Id,
	{ verdict, entry, changedAt, place, follows }: ExplainedPin,
) {
	return {
		user,
		pin,
		verdict,
		source: entry?.source ?? null,
		via: entry?.via ?? null,
		score: entry?.score ?? null,
		changedAt: timeOf(changedAt),
		place,
		follows,
	};
}
