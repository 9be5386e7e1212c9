import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { openTopologyStore } from "../app/openTopology.ts";
import { readConfig } from "../config/config.ts";
import { CorkboardError } from "../errors.ts";
import type { PromotionHosts } from "../fleet/map/promotionHosts.ts";
import type { Loss } from "../fleet/operations/loss.ts";
import type { OperationRecord } from "../fleet/operations/operationRecord.ts";
import {
	isOver,
	isTakenOver,
	needsNoRunner,
	requireRecord,
} from "../fleet/operations/operations.ts";
import {
	describeLostTransactions,
	type Evidence,
} from "../fleet/operations/promoteDead.ts";
import type { PromoteOptions } from "../fleet/operations/promotion.ts";
import {
	type OperationResult,
	recordedResult,
} from "../fleet/resumeOperation.ts";
import { openConfiguredTraces } from "../traces/openConfiguredTraces.ts";
import type { Traces } from "../traces/openTraces.ts";
import { compact } from "../util/compact.ts";
import type { Usage } from "./arguments.ts";
import { option, type Result } from "./command.ts";
import type { CommandContext } from "./commandContext.ts";
import { describeOperation, describeWrites } from "./describeOperation.ts";
import { terminalText } from "./terminalText.ts";
import { duration } from "./values.ts";

interface Fleet extends Pick<PromoteOptions, "store" | "environment"> {
	/** Null: none are configured, or this command has nothing to trace. */
	readonly traces: Traces | null;
}

/** The store of the topology and the account of the operator, for `body`. Throws BAD_CONFIG for an embedded folder. */
export async function withFleet<T>(
	context: CommandContext,
	body: (fleet: Fleet) => Promise<T>,
	{ isTraced = false }: { readonly isTraced?: boolean } = {},
): Promise<T> {
	const config = readConfig(context.env, { secret: "unneeded" });
	const { store: configured } = config;
	if (configured.kind === "embedded") {
		throw new CorkboardError(
			"BAD_CONFIG",
			"An embedded folder has no fleet. Set CORKBOARD_TOPOLOGY.",
		);
	}
	await using store = openTopologyStore(configured);
	await using traces = isTraced ? await openConfiguredTraces(config) : null;
	return await body({ store, environment: context.env, traces });
}

/** The same for what may run a move, which is traced where traces are configured. */
export function withTracedFleet<T>(
	context: CommandContext,
	body: (fleet: Fleet) => Promise<T>,
): Promise<T> {
	return withFleet(context, body, { isTraced: true });
}

/** What `--json` prints of an operation that stands half-way. */
interface HalfWay {
	readonly operation: string;
	readonly step: string | null;
	readonly error: string;
}

/** What `--json` prints of an operation that somebody else has taken over. */
interface TakenOver extends HalfWay {
	/** Who has, or had it last; null if the store does not say. */
	readonly holder: string | null;
	/** The version that was published; null: none, or not yet. */
	readonly version: number | null;
	readonly loss: Loss | null;
}

/** Runs an operation to its end. Its id and its steps are printed on stderr as they come, but not with `--json`. */
async function operate(
	context: CommandContext,
	fleet: Fleet,
	isJson: boolean,
	run: (onStep: (step: string, id: string) => void) => Promise<OperationResult>,
): Promise<Result> {
	let operation: string | null = null;
	const onStep = (step: string, id: string) => {
		if (operation === null && !isJson) context.stderr(id);
		operation = id;
		if (!isJson) context.stderr(step);
	};
	return orHalfWay(
		context,
		fleet,
		() => operation,
		async () => ended(await run(onStep)),
	);
}

/** What a check of an operation has found. */
interface CheckedOperation {
	readonly faults: readonly string[];
	/** What `--json` prints of it. */
	readonly value: unknown;
	readonly lines: readonly string[];
	/** Printed if there are no faults. */
	readonly sound: readonly string[];
	readonly question: string;
	/** Printed before the question. */
	readonly reasons?: readonly string[];
}

/** Prints what was found if there are faults, or nothing is to be changed; else asks, and runs the operation. */
export async function operateAsChecked(
	context: CommandContext,
	fleet: Fleet,
	given: {
		readonly dryRun: boolean;
		readonly yes: boolean;
		readonly json: boolean;
	},
	{ faults, value, lines, sound, question, reasons = [] }: CheckedOperation,
	run: Parameters<typeof operate>[3],
): Promise<Result | number> {
	const hasFaults = faults.length > 0;
	if (hasFaults || given.dryRun) {
		return {
			value,
			lines: [...lines, ...(hasFaults ? faults : sound)],
			code: hasFaults ? 1 : 0,
		};
	}
	if (!given.yes) {
		for (const line of reasons) context.stderr(line);
		if (!(await confirm(context, question))) return 1;
	}
	return operate(context, fleet, given.json, run);
}

/** What is printed of an operation that is over. */
export function ended(result: OperationResult): Result {
	return {
		value: result,
		lines: describeOperation(result),
		code: codeOf(result),
	};
}

/**
 * What `body` returns; if it throws and leaves an operation half-way, that,
 * with the code 3; if somebody else has taken it over, how it has ended, with
 * the code 4. `operation` is the id of what was begun; null: nothing was.
 */
export async function orHalfWay(
	context: CommandContext,
	{ store }: Pick<Fleet, "store">,
	operation: () => string | null,
	body: () => Promise<Result>,
): Promise<Result> {
	try {
		return await body();
	} catch (thrown) {
		const id = operation();
		if (id === null || !(thrown instanceof CorkboardError)) throw thrown;
		if (isTakenOver(thrown)) {
			return takenOver(context, store, id, thrown);
		}
		// If the store does not answer, nobody knows.
		const found = await requireRecord(store, id).catch(() => null);
		if (found !== null && isOver(found.record)) throw thrown;
		const step = found?.record.step ?? null;
		const error = thrown.message;
		const half: HalfWay = { operation: id, step, error };
		return {
			value: half,
			lines: [],
			notes: [
				`corkboard: ${error}\n${id} is half done, at ${step ?? "a step that the store does not say"}. Continue: corkboard operations resume ${id}`,
			],
			code: HALF_WAY,
		};
	}
}

/** How long the one who has taken an operation over is waited for, and how often it is looked. Milliseconds. */
const ENDED_MS = 60_000;
const ENDED_LOOK_MS = 500;

/** Says who has an operation now and, when it is over, how it ended. */
async function takenOver(
	context: CommandContext,
	store: Fleet["store"],
	id: string,
	{ message }: CorkboardError,
): Promise<Result> {
	context.stderr(`corkboard: ${message}`);
	const until = performance.now() + ENDED_MS;
	let record: OperationRecord | null;
	for (;;) {
		// If the store does not answer, the next look may say more.
		record = await requireRecord(store, id).then(
			(found) => found.record,
			() => null,
		);
		if (record !== null && isOver(record)) break;
		if (performance.now() > until) break;
		await sleep(ENDED_LOOK_MS);
	}
	const { step = null, holder = null, version = null } = record ?? {};
	const over = record !== null && isOver(record) ? record : null;
	const lost: TakenOver = {
		operation: id,
		step,
		error: message,
		holder,
		version,
		loss: record?.loss ?? null,
	};
	return {
		value: lost,
		lines: over === null ? [] : describeOperation(recordedResult(over)),
		notes:
			over === null
				? [
						`${id} is at ${step ?? "a step that the store does not say"}. Look at it with: corkboard operations list. If nobody runs it: corkboard operations resume ${id}`,
					]
				: [],
		code: TAKEN_OVER,
	};
}

/** The longest that an option lets something take. */
const MOST_MS = 999_999;

export const MAX_PAUSE = option(
	duration(0, MOST_MS),
	"how long writes may wait for the replica; if it takes longer, everything is undone (default 2s)",
);

export const MAX_LAG = option(
	duration(0, MOST_MS),
	"how far the replica may be behind at first (default 2s)",
);

/** Exit codes of the commands that change the fleet. */
const HALF_WAY = 3;
const TAKEN_OVER = 4;
export const TAKEN_OVER_MEANING =
	"somebody else has taken it over; it says who, and how it has ended";
export const FLEET_CODES: NonNullable<Usage["exitCodes"]> = {
	1: "refused, failed, or rolled back: nothing has changed",
	3: "it is half done, and operations resume continues it; or the new version is published, but not every process serves it yet",
};

/** The exit code of an operation that has ended by itself. */
function codeOf(result: OperationResult): number {
	if ("waves" in result) return needsNoRunner(result.step) ? 0 : HALF_WAY;
	const { version, agreement } = result;
	if (version === null) return 1;
	return (agreement?.missing.length ?? 0) > 0 ? HALF_WAY : 0;
}

/** Whether to continue, by `--yes` or on the terminal. Throws BAD_CONFIG without either. */
export async function isConfirmed(
	context: CommandContext,
	{ yes }: { readonly yes: boolean },
	question: string,
): Promise<boolean> {
	return yes || (await confirm(context, question));
}

/** Asks on the terminal; without one, only `--yes` says yes. */
async function confirm(
	context: CommandContext,
	question: string,
): Promise<boolean> {
	if (!context.isTerminal) {
		throw new CorkboardError("BAD_CONFIG", `${question} Pass --yes to say so.`);
	}
	const reader = createInterface({
		input: context.stdin,
		output: process.stderr,
	});
	try {
		return /^y(es)?$/i.test(
			await reader.question(terminalText(`${question} [y/N] `)),
		);
	} finally {
		reader.close();
	}
}

/** Whether what is lost is given up: by the option, or on the terminal. */
export function lossAccepter(
	isAccepted: boolean,
	context: CommandContext,
	hosts: Pick<PromotionHosts, "from" | "to">,
): (loss: Loss) => Promise<boolean> {
	return async (loss) => {
		if (isAccepted) return true;
		if (!context.isTerminal) return false;
		for (const line of describeWrites(loss)) context.stderr(line);
		return confirm(
			context,
			`${describeLostTransactions(loss, hosts)} Give this up?`,
		);
	};
}

/** Why a primary counts as dead. */
export function describeEvidence(
	{ from, to }: Pick<PromotionHosts, "from" | "to">,
	{ silence, replica, lost, reached, idle, silent }: Evidence,
): readonly string[] {
	return compact([
		silence === null
			? `${from} answers`
			: `${from} does not answer: ${silence}`,
		replica !== null &&
			`${to} ${replica.isReceiving ? "is still connected to it" : `has lost it${replica.error === "" ? "" : `: ${replica.error}`}`}`,
		`processes: ${lost} have lost it, ${reached} reach it, ${idle} do not know, ${silent} do not answer`,
	]);
}
