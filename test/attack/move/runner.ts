import { setTimeout as sleep } from "node:timers/promises";
import { moveFactsIn } from "../../../src/fleet/operations/moveFacts.ts";
import { MOVE_TABLE } from "../../../src/fleet/operations/moveTable.ts";
import type { OperationRecord } from "../../../src/fleet/operations/operationRecord.ts";
import {
	isOver,
	listOperations,
	needsNoRunner,
} from "../../../src/fleet/operations/operations.ts";
import type { TopologyStore } from "../../../src/topology/store.ts";
import {
	type Ended,
	type Environment,
	type Program,
	startProgram,
} from "../../helpers/program.ts";

/** What happened to a command, or to a server while it ran. Milliseconds on the monotonic clock. */
export interface Happened {
	readonly what: string;
	/** The last step that its runner had done. */
	readonly step: string;
	readonly at: number;
	/** When what was away was there again. */
	readonly backAt: number;
}

/** Does something while a command runs; null: it had ended before. */
export type Fault = (program: Program) => Promise<Happened | null>;

/** What is to be reached, and by which command. */
export interface Aim {
	/** As the goal of the record is called then. */
	readonly way: "move" | "reverse" | "complete" | "cancel";
	readonly args: readonly string[];
	/** Null: it makes one. */
	readonly id: string | null;
	/** Where all waves are then. */
	readonly at: "from" | "to";
	readonly step: "way open" | "done" | "rolled back";
}

/** A command, with those that continued with it. */
export interface Ran {
	readonly isReached: boolean;
	/** The end of the last command. */
	readonly ended: Ended;
	/** The id of the move. */
	readonly id: string | null;
	readonly record: OperationRecord | null;
	/** With the time at which the next command began, or this one was over. */
	readonly happened: readonly (Happened & { readonly until: number })[];
	/** How often it was continued. */
	readonly resumed: number;
}

/** How long, and how often, a command that ended half-way is continued. */
export interface Patience {
	/** Beside those that were killed. */
	readonly tries: number;
	/** Before the next one. Milliseconds. */
	readonly betweenMs: number;
	/** The limit for all together, and for one that does not end. Milliseconds. */
	readonly limitMs: number;
}

const PATIENCE: Patience = {
	tries: 5,
	betweenMs: 0,
	limitMs: 6 * 3_600_000,
};
/** A store that was stopped is there again in time. */
const STORE_TRIES = 30;
/** Before a command that was killed is resumed: its guard has that long. Milliseconds. */
const ALONE_MS = 4_000;
/** What a runner prints of its steps. */
const EVENTS: readonly string[] = MOVE_TABLE.map(({ event }) => event);

/** Runs a command, and continues with it, until it has done what it is for. The nth fault comes while the nth command runs. */
export async function runToEnd(
	{ env, store }: { readonly env: Environment; readonly store: TopologyStore },
	aim: Aim,
	faults: readonly Fault[] = [],
	{ tries, betweenMs, limitMs }: Patience = PATIENCE,
): Promise<Ran> {
	const until = performance.now() + limitMs;
	const happened: (Happened & { readonly until: number })[] = [];
	let { id, args: next } = aim;
	for (let attempt = 0; ; attempt++) {
		await using program = startProgram(next, {
			env,
			input: "",
			limitMs,
		});
		const [fault] = faults.slice(attempt);
		const happening = fault?.(program) ?? Promise.resolve(null);
		const ended = await program.ended;
		const found = await happening;
		const record = await recordOf(store, id);
		id ??= record?.id ?? null;
		const isReached =
			record?.step === aim.step &&
			moveFactsIn(record).waves.every(({ at }) => at === aim.at);
		const isLast =
			isReached ||
			attempt === faults.length + tries ||
			performance.now() > until;
		// Half of those that were killed go on at once, while the guard is at it.
		const isKilled = ended.signal === "SIGKILL";
		if (isKilled && Math.random() < 0.5) await sleep(ALONE_MS);
		if (found !== null) happened.push({ ...found, until: performance.now() });
		if (isLast) {
			return { isReached, ended, id, record, happened, resumed: attempt };
		}
		// If nothing was begun, the same is run again.
		const isBegun =
			record !== null &&
			!needsNoRunner(record.step) &&
			moveFactsIn(record).goal === aim.way;
		next = isBegun && id !== null ? ["moves", "resume", id] : aim.args;
		if (!isKilled) await sleep(betweenMs);
	}
}

/** Kills the runner after a time, or a little after one of its steps. */
export function killRunner(when: {
	readonly afterStep: string | null;
	readonly ms: number;
}): Fault {
	return async (program) => {
		const { afterStep, ms } = when;
		const isThere = afterStep === null || (await hasDone(program, afterStep));
		if (!isThere) return null;
		const isOver = await Promise.race([
			program.ended.then(() => true),
			sleep(ms, false),
		]);
		if (isOver) return null;
		const at = performance.now();
		program.send("SIGKILL");
		return { what: "runner killed", step: lastStep(program), at, backAt: at };
	};
}

/** Does something to a server once the runner has done a step; it is there again when that is over. */
export function disturb(
	what: string,
	afterStep: string | null,
	disturbance: () => Promise<void>,
): Fault {
	return async (program) => {
		if (afterStep !== null && !(await hasDone(program, afterStep))) return null;
		const at = performance.now();
		const step = lastStep(program);
		await disturbance();
		return { what, step, at, backAt: performance.now() };
	};
}

async function hasDone(program: Program, step: string): Promise<boolean> {
	try {
		await program.printed("err", new RegExp(`^${step}$`, "m"));
		return true;
	} catch {
		return false;
	}
}

function lastStep(program: Program): string {
	const steps = program
		.err()
		.split("\n")
		.filter((line) => EVENTS.includes(line));
	return steps.at(-1) ?? "none";
}

/** The record of a move, or the newest one that is not over. */
async function recordOf(
	store: TopologyStore,
	id: string | null,
): Promise<OperationRecord | null> {
	for (let attempt = 0; ; attempt++) {
		try {
			const records = await listOperations(store);
			const own = (record: OperationRecord) =>
				id === null ? !isOver(record) : record.id === id;
			return records.findLast(own) ?? null;
		} catch (thrown) {
			if (attempt === STORE_TRIES) throw thrown;
			await sleep(1_000);
		}
	}
}
