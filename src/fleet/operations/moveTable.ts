import { CorkboardError } from "../../errors.ts";

/**
 * What a move of shards can be, what happens to it, and what undoes that: all of it in
 * one table. The runner goes by it, `moves show` and the commands that turn a move
 * around read it, docs/consistency/moving-shards.md is written from it, and the tests
 * kill the runner after each of its events.
 */

/** What a wave is. */
export const WAVE_STATES = [
	"waiting",
	"switched",
	"parked",
	"dropping",
	"closed",
	"cancelled",
] as const;
type WaveState = (typeof WAVE_STATES)[number];

export const ABOUT_WAVE_STATES: Readonly<Record<WaveState, string>> = {
	waiting: "nothing is on the other side, or copies that nobody uses",
	switched: "the other side serves it; the former copy is fenced",
	parked: "the former copy has another name, and is the way back",
	dropping: "the way back was rehearsed; the former copy may be half dropped",
	closed: "the former copy is dropped",
	cancelled: "it never switched, and its copies are dropped",
};

/** What the record of a move says of the whole of it. */
export const MOVE_STEPS = [
	"locked",
	"moving",
	"cutting over",
	"lifting",
	"way open",
	"done",
	"rolled back",
] as const;
type MoveStep = (typeof MOVE_STEPS)[number];

export const ABOUT_MOVE_STEPS: Readonly<Record<MoveStep, string>> = {
	locked: "nothing was changed",
	moving: "shards are copied; no database is fenced",
	"cutting over":
		"databases of the running wave may be fenced where they are served",
	lifting:
		"they are served where they were, and their fences are about to be lifted",
	"way open":
		"all waves are where they are to be, and can go back; nobody runs it, and it locks nothing",
	done: "over: at least one wave is on the other side for good",
	"rolled back": "over: all waves are where they were",
};

/** What is done with one wave, without a break. */
export type Task = "switch" | "park" | "close" | "cancel";

/**
 * - `cancel`: `moves cancel` drops what was copied.
 * - `lift`: the runner lifts the fences, or its guard if it has died.
 * - `reverse`: `moves reverse` brings the wave back, with what was written since.
 * - `as before`: what undoes what was done to the wave before.
 */
export type Undo = "cancel" | "lift" | "reverse" | "as before";

export interface Transition {
	readonly task: Task | "lift" | "begin" | "end";
	/** What has happened, as it is printed and traced. */
	readonly event: string;
	/** The steps of the record in which it can happen. */
	readonly during: readonly MoveStep[];
	/** The states of the wave in which it can; absent: it is not about one wave. */
	readonly wave?: readonly WaveState[];
	/** The step of the record from then on; absent: as before. */
	readonly step?: MoveStep;
	/** The state of the wave from then on; absent: as before. */
	readonly state?: WaveState;
	/** What undoes it; null: only another move does. */
	readonly undo: Undo | null;
	/** What is done by then. */
	readonly about: string;
}

const BEFORE_SWITCH = ["waiting", "parked"] as const;

/** The steps of a move in their order, there and back. */
export const MOVE_TABLE = [
	{
		task: "begin",
		event: "locked",
		during: ["locked"],
		undo: "cancel",
		about: "the record is written, and the hosts are locked",
	},
	{
		task: "begin",
		event: "begun",
		during: ["locked", "way open"],
		step: "moving",
		undo: "as before",
		about: "a runner works on it",
	},
	{
		task: "switch",
		event: "prepared",
		during: ["moving"],
		wave: ["waiting"],
		undo: "cancel",
		about: "its tables are there",
	},
	{
		task: "switch",
		event: "copied",
		during: ["moving"],
		wave: ["waiting"],
		undo: "cancel",
		about: "its rows are there; what changes is followed from here",
	},
	{
		task: "switch",
		event: "verified",
		during: ["moving"],
		wave: BEFORE_SWITCH,
		undo: "as before",
		about: "all rows are the same on both sides",
	},
	{
		task: "switch",
		event: "ids raised",
		during: ["moving"],
		wave: BEFORE_SWITCH,
		undo: "as before",
		about: "the other side gives no id that this side gave",
	},
	{
		task: "switch",
		event: "cutting over",
		during: ["moving"],
		wave: BEFORE_SWITCH,
		step: "cutting over",
		undo: "lift",
		about: "the record says that a fence may be there",
	},
	{
		task: "switch",
		event: "fenced",
		during: ["cutting over"],
		wave: BEFORE_SWITCH,
		undo: "lift",
		about: "writes wait",
	},
	{
		task: "switch",
		event: "caught up",
		during: ["cutting over"],
		wave: BEFORE_SWITCH,
		undo: "lift",
		about: "the other side has all that was written",
	},
	{
		task: "switch",
		event: "ready",
		during: ["cutting over"],
		wave: BEFORE_SWITCH,
		undo: "lift",
		about: "the last rows are compared, and outbox entries are there",
	},
	{
		task: "switch",
		event: "published",
		during: ["cutting over"],
		wave: BEFORE_SWITCH,
		step: "moving",
		state: "switched",
		undo: "reverse",
		about: "the map names the other side",
	},
	{
		task: "lift",
		event: "lifting",
		// Moving: the runner had lifted them by itself, a moment before its guard took the move over.
		during: ["moving", "cutting over", "lifting"],
		step: "lifting",
		undo: "as before",
		about: "it was not published, and cannot be any more",
	},
	{
		task: "lift",
		event: "lifted",
		during: ["lifting"],
		step: "moving",
		undo: "as before",
		about: "writes continue where they were",
	},
	{
		task: "park",
		event: "agreed",
		during: ["moving"],
		wave: ["switched"],
		undo: "reverse",
		about: "all processes serve the new map",
	},
	{
		task: "park",
		event: "renamed",
		during: ["moving"],
		wave: ["switched"],
		undo: "reverse",
		about: "no process finds the former copy any more",
	},
	{
		task: "park",
		event: "parked",
		during: ["moving"],
		wave: ["switched"],
		state: "parked",
		undo: "reverse",
		about: "late transactions and outbox entries were looked for",
	},
	{
		task: "close",
		event: "rehearsed",
		during: ["moving"],
		wave: ["parked"],
		undo: "reverse",
		about: "the former copy has everything, and could take over again",
	},
	{
		task: "close",
		event: "dropping",
		during: ["moving"],
		wave: ["parked"],
		state: "dropping",
		undo: null,
		about: "the record says that the former copy may be half dropped",
	},
	{
		task: "close",
		event: "closed",
		during: ["moving"],
		wave: ["dropping"],
		state: "closed",
		undo: null,
		about: "the former copy is dropped",
	},
	{
		task: "cancel",
		event: "cancelled",
		during: ["moving"],
		wave: ["waiting"],
		state: "cancelled",
		undo: null,
		about: "what was copied is dropped",
	},
	{
		task: "end",
		event: "way open",
		during: ["moving"],
		step: "way open",
		undo: "reverse",
		about: "all waves are over, and some can go back",
	},
	{
		task: "end",
		event: "done",
		during: ["moving"],
		step: "done",
		undo: null,
		about: "nothing is left of the former copies",
	},
	{
		task: "end",
		event: "rolled back",
		during: ["moving"],
		step: "rolled back",
		undo: null,
		about: "nothing is left on the other side",
	},
] as const satisfies readonly Transition[];

export type MoveEvent = (typeof MOVE_TABLE)[number]["event"];
const ROWS: readonly Transition[] = MOVE_TABLE;

/** What an event does to a record at `step` and to a wave in `state`. Throws INTERNAL if it cannot happen there. */
export function transition(
	event: MoveEvent,
	step: string,
	state: WaveState | null,
): Transition {
	const row = ROWS.find((each) => each.event === event);
	if (row !== undefined && canHappen(row, step, state)) return row;
	throw new CorkboardError(
		"INTERNAL",
		`A move that is ${step}${state === null ? "" : `, with a wave that is ${state},`} cannot be ${event}.`,
	);
}

function canHappen(
	{ during, wave }: Transition,
	step: string,
	state: WaveState | null,
): boolean {
	if (!during.some((each) => each === step)) return false;
	return wave === undefined
		? state === null
		: state !== null && wave.includes(state);
}

/** What happens in a task, in order. */
export function eventsOf(task: Transition["task"]): readonly MoveEvent[] {
	return MOVE_TABLE.filter((row) => row.task === task).map(
		({ event }) => event,
	);
}

/** Whether databases may be fenced for it where they are served, at this step of the record. */
export function mayBeFenced(step: string): boolean {
	return step === "cutting over" || step === "lifting";
}

/** What undoes what was done to a wave; null: only another move does, or nothing was done. */
export function undoOf(state: WaveState): Undo | null {
	if (state === "waiting") return "cancel";
	return ROWS.find((row) => row.state === state)?.undo ?? null;
}

interface WavePosition {
	readonly state: WaveState;
	/** Which side serves it. */
	readonly at: "from" | "to";
	readonly alone?: "from" | "to" | undefined;
}

interface Goal {
	readonly goal: "move" | "reverse" | "complete" | "cancel";
	readonly aim: "from" | "to";
	readonly keepsWay: boolean;
}

/** What is to be done next with a wave; null: nothing, it is where it is to be. */
export function nextTask(
	{ state, at, alone }: WavePosition,
	{ goal, aim, keepsWay }: Goal,
): Task | null {
	switch (state) {
		case "closed":
		case "cancelled":
			return null;
		case "switched":
			return "park";
		case "dropping":
			return "close";
		case "waiting":
			return goal === "move" ? "switch" : "cancel";
		case "parked":
			if (alone !== undefined) return at === alone ? "close" : "switch";
			if (goal === "cancel") return null;
			if (at !== aim) return "switch";
			return goal === "complete" || (goal === "reverse" && !keepsWay)
				? "close"
				: null;
	}
}

/** How a move ends whose waves are all where they are to be. */
export function endOf(
	waves: readonly WavePosition[],
): "way open" | "done" | "rolled back" {
	if (waves.some(({ state }) => state === "parked")) return "way open";
	return waves.some(({ state, at }) => state === "closed" && at === "to")
		? "done"
		: "rolled back";
}
