import { createInterface } from "node:readline/promises";
import { openTopologyStore } from "../app/openTopology.ts";
import { readConfig } from "../config/config.ts";
import { CorkboardError } from "../errors.ts";
import type { PromotionHosts } from "../ops/fleet/exchangeHosts.ts";
import type { Loss } from "../ops/fleet/loss.ts";
import { isOver, requireRecord } from "../ops/fleet/operations.ts";
import type { PromoteOptions, PromotionResult } from "../ops/fleet/promote.ts";
import {
	type DeadResult,
	describeLoss,
	type Evidence,
} from "../ops/fleet/promoteDead.ts";
import { type ParsedArguments, type Usage, UsageError } from "./arguments.ts";
import type { CommandContext } from "./commandContext.ts";

/** The store of the topology and the account of the operator, for `body`. Throws BAD_CONFIG for an embedded folder. */
export async function withFleet<T>(
	context: CommandContext,
	body: (options: Pick<PromoteOptions, "store" | "environment">) => Promise<T>,
): Promise<T> {
	const { store: place } = readConfig(context.env, { secret: "unneeded" });
	if (place.kind === "embedded") {
		throw new CorkboardError(
			"BAD_CONFIG",
			"An embedded folder has no fleet. Set CORKBOARD_TOPOLOGY.",
		);
	}
	await using store = openTopologyStore(place);
	return await body({ store, environment: context.env });
}

/** What `--json` prints of an operation that stands half-way. */
export interface HalfWay {
	readonly operation: string;
	readonly step: string | null;
	readonly error: string;
}

/**
 * The exit code of `body`; 3 where it throws and leaves an operation half-way,
 * which is then said on stderr, and on stdout with `--json`. `operation` is
 * the id of what was begun; null: nothing was.
 */
export async function orHalfWay(
	context: CommandContext,
	{ store }: Pick<PromoteOptions, "store">,
	isJson: boolean,
	operation: () => string | null,
	body: () => Promise<number>,
): Promise<number> {
	try {
		return await body();
	} catch (thrown) {
		const id = operation();
		if (id === null || !(thrown instanceof CorkboardError)) throw thrown;
		// Where the store does not answer, nobody knows.
		const found = await requireRecord(store, id).catch(() => null);
		if (found !== null && isOver(found.record)) throw thrown;
		const step = found?.record.step ?? null;
		const error = thrown.message;
		const half: HalfWay = { operation: id, step, error };
		if (isJson) context.stdout(JSON.stringify(half, null, "\t"));
		context.stderr(
			`corkboard: ${error}\n${id} stands half-way, at ${step ?? "a step that the store does not say"}. Go on: corkboard operations resume ${id}`,
		);
		return HALF_WAY;
	}
}

export const MAX_PAUSE: Usage["options"][string] = {
	value: "MS",
	description:
		"how long writes may wait for the replica before all is undone (2000)",
};

/** Of an option; null where it is not given. Throws UsageError. */
export function milliseconds(
	name: string,
	text: string | undefined,
): number | null {
	if (text === undefined) return null;
	if (/^[0-9]{1,6}$/.test(text)) return Number(text);
	throw new UsageError(
		`--${name} must be milliseconds from 0 to 999999, got ${text}.`,
	);
}

/** Exit codes of the commands that change the fleet. */
export const HALF_WAY = 3;
export const FLEET_CODES: NonNullable<Usage["exitCodes"]> = {
	1: "refused, failed, or rolled back: nothing has changed",
	3: "it stands half-way, and operations resume goes on; or the new version is published, but not every process serves it yet",
};

/** Of a promotion that has ended by itself. */
export function codeOf({
	version,
	agreement,
}: Pick<PromotionResult, "version" | "agreement">): number {
	if (version === null) return 1;
	return (agreement?.missing.length ?? 0) > 0 ? HALF_WAY : 0;
}

/** Asks on the terminal; without one, only `--yes` says yes. */
export async function confirm(
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
		return /^y(es)?$/i.test(await reader.question(`${question} [y/N] `));
	} finally {
		reader.close();
	}
}

/** Whether what is lost is given up: by the option, or on the terminal. */
export function lossAccepter(
	{ "accept-loss": accept }: ParsedArguments["options"],
	context: CommandContext,
	hosts: Pick<PromotionHosts, "from" | "to">,
): (loss: Loss) => Promise<boolean> {
	return async (loss) => {
		if (accept !== undefined) return true;
		if (!context.isTerminal) return false;
		for (const line of describeWrites(loss)) context.stderr(line);
		return confirm(context, `${describeLoss(loss, hosts)} Give this up?`);
	};
}

/** Why a primary counts as dead. */
export function describeEvidence(
	{ from, to }: Pick<PromotionHosts, "from" | "to">,
	{ silence, replica, lost, reached, idle, silent }: Evidence,
): readonly string[] {
	return [
		silence === null
			? `${from} answers`
			: `${from} does not answer: ${silence}`,
		...(replica === null
			? []
			: [
					`${to} ${replica.isReceiving ? "counts as connected to it still" : `has lost it${replica.error === "" ? "" : `: ${replica.error}`}`}`,
				]),
		`processes: ${lost} have lost it, ${reached} reach it, ${idle} do not know, ${silent} do not answer`,
	];
}

const SHOWN_WRITES = 20;

function describeWrites({ writes }: Loss): readonly string[] {
	const named = writes.filter(({ wrote }) => wrote.length > 0);
	const shown = named.slice(0, SHOWN_WRITES);
	return [
		...shown.map(
			({ gtid, at, wrote }) =>
				`  ${new Date(at).toISOString()} ${gtid} ${wrote.join(", ")}`,
		),
		...(named.length > shown.length
			? [
					`  and ${named.length - shown.length} more, in operations list --all --json`,
				]
			: []),
	];
}

/** What an operator reads of a promotion that is over. */
export function describePromotion({
	operation,
	from,
	to,
	version,
	pauseMs,
	agreement,
	isFollowing,
	...rest
}: PromotionResult | DeadResult): readonly string[] {
	if (version === null) {
		return [
			`${operation}: rolled back; ${from} is the primary, nothing changed`,
		];
	}
	const agreed = agreement?.agreed.length ?? 0;
	const missing = agreement?.missing ?? [];
	return [
		`${operation}: published version ${version}: ${to} is the primary in the place of ${from}`,
		...(pauseMs === null
			? []
			: [
					`the old primary took no writes for ${Math.round(pauseMs)} ms until then`,
				]),
		...(agreement?.by === "members"
			? [
					`${agreed} of ${agreed + missing.length} processes serve it`,
					...missing.map(
						({ id, oldest }) => `  ${id} still runs version ${oldest}`,
					),
				]
			: []),
		...(isFollowing ? [`${from} follows ${to}, and takes no writes`] : []),
		...("loss" in rest && rest.loss !== null
			? [
					describeLoss(rest.loss, { from, to }),
					...describeWrites(rest.loss),
					`Next: corkboard verify --repair, because edges, counts and lookups may disagree until then; and corkboard replica add NEW --of ${to}.`,
				]
			: []),
	];
}
