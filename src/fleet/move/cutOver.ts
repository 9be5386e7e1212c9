import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Ferry } from "../ferry/ferry.ts";
import { moveRange } from "../map/edits.ts";
import { otherSide } from "../operations/moveFacts.ts";
import { isTakenOver as wasTakenOver } from "../operations/operations.ts";
import { publishMap } from "../operations/publishMap.ts";
import { liftFences } from "../server/fences.ts";
import { fence, openConnections } from "./fence.ts";
import { databasesOf } from "./findMove.ts";
import type { MoveRun } from "./moveRun.ts";
import { park, unpark } from "./park.ts";

/**
 * How long may pass between knowing that it is held and the last of the fences
 * standing. Reads queue behind a fence that waits, so the first try is short; each
 * further one has twice as long, because a busy host needs it. Milliseconds.
 */
const FENCE_MS = 150;
const MOST_FENCE_MS = 500;

/** Within this a server ends what waits for a client that is gone. Milliseconds. */
const DEAD_MS = 1_500;

/** Why a try did not switch a wave; null: it has switched. */
type Hindrance = string | null;

/**
 * Lets a wave switch: fences its databases where they are served, waits for the
 * ferry to have all that was written there, looks once more at what changed last,
 * and publishes the map. Writes to the wave wait meanwhile, at most `maxPauseMs`: then the
 * fences are lifted and nothing has happened. The record says first what is about
 * to be done: so of a publication that is still on its way and the lifting of the
 * fence, exactly one wins.
 */
export async function cutOver(
	run: MoveRun,
	index: number,
	ferry: Ferry,
	maxPauseMs: number,
): Promise<Hindrance> {
	const { tries, range } = run.wave(index);
	await run.advance(
		"cutting over",
		index,
		`cutting over ${range.join(" to ")}`,
		{ tries: tries + 1 },
	);
	let hindrance: Hindrance;
	try {
		hindrance = await tryCutOver(run, index, ferry, maxPauseMs);
	} catch (thrown) {
		if (wasTakenOver(thrown) || !(thrown instanceof CorkboardError))
			throw thrown;
		await lift(run, thrown.message);
		throw thrown;
	}
	if (hindrance !== null) await lift(run, hindrance);
	return hindrance;
}

/** `tries`: with this one. */
function fenceMs(tries: number): number {
	return Math.min(FENCE_MS * 2 ** (tries - 1), MOST_FENCE_MS);
}

async function tryCutOver(
	run: MoveRun,
	index: number,
	ferry: Ferry,
	maxPauseMs: number,
): Promise<Hindrance> {
	const { operation, facts, options } = run;
	const wave = run.wave(index);
	const side = otherSide(wave.at);
	const source = run.servers.at(wave.at).primary;
	const { primary: target, host } = run.servers.at(side);
	const databases = databasesOf(facts.list, wave.range);
	await openConnections(source, databases.length);
	await operation.requireHeld();
	const began = performance.now();
	const left = () => Math.max(1, maxPauseMs - (performance.now() - began));
	const late = (what: string) =>
		performance.now() - began > maxPauseMs
			? `${what} took more than ${maxPauseMs} ms`
			: null;
	const inTheWay = await fence(
		source,
		databases,
		Math.min(fenceMs(wave.tries), maxPauseMs / 2),
	);
	if (inTheWay !== null) return inTheWay;
	await run.happened("fenced", index);
	// After the fence: what ended before it is in it, and nothing comes after.
	const written = await source.executed();
	if (!(await ferry.caughtUp(written, left()))) {
		return `${target.name} did not have the last writes within ${maxPauseMs} ms`;
	}
	await run.happened("caught up", index);
	const { pending, differences } = await ferry.recheck(left());
	const [difference] = differences;
	if (difference !== undefined) {
		throw new CorkboardError(
			"CONFLICT",
			`${differences.length} rows differ between ${source.name} and ${target.name}, the first at ${difference.table}, ${difference.key}: ${difference.kind}. Nothing has switched. This is a defect: keep the record of ${operation.record.id}, and cancel it.`,
		);
	}
	if (pending > 0) return `${pending} rows were not compared in time`;
	await ferry.moveOutbox();
	if (wave.switches > 0) await unpark(target, databases);
	// Where the way back begins: nobody but the ferry has written there.
	const back = await target.executed();
	await run.happened("ready", index);
	const isLate = late("all before the publication");
	if (isLate !== null) return isLate;
	await operation.requireHeld();
	const pauseMs = () => Math.round(performance.now() - began);
	await publishMap(
		options.store,
		operation,
		`move ${facts.list} ${wave.range.join(" to ")} from ${source.name} to ${target.name}, verified`,
		(current) =>
			moveRange(
				current,
				{ list: facts.list, range: wave.range, from: source.name },
				{ primary: host.url, replica: host.replica },
			),
		undefined,
		(version) =>
			run.after("published", index, {
				at: side,
				switches: wave.switches + 1,
				left: written,
				back,
				version,
				pauses: [...wave.pauses, pauseMs()],
				tries: 0,
			}),
	);
	await run.say("published");
	return null;
}

/**
 * Lifts what a cut-over that did not publish has fenced, also another process's, and puts
 * copies that it had brought back out of the way again.
 */
export async function lift(
	run: MoveRun,
	why: string,
	{ isTakenOver = false }: { readonly isTakenOver?: boolean } = {},
): Promise<void> {
	const { operation } = run;
	if (operation.record.step === "lifting") await run.happened("lifting", null);
	else await run.advance("lifting", null, `not cut over: ${why}`);
	await operation.requireHeld();
	await liftAll(run);
	// Its fence may still have waited for a lock in a server that had not noticed its end.
	if (isTakenOver) {
		await sleep(DEAD_MS);
		await operation.requireHeld();
		await liftAll(run);
	}
	await run.advance("lifted", null, "writes continue where they were");
}

async function liftAll({ facts, servers }: MoveRun): Promise<void> {
	for (const side of ["from", "to"] as const) {
		const staying = facts.waves.filter(
			({ at, state }) => at === side && state !== "switched",
		);
		const databases = staying.flatMap(({ range }) =>
			databasesOf(facts.list, range),
		);
		await liftFences(servers.at(side).primary, databases);
		const parked = staying.filter(({ state }) => state === "parked");
		if (parked.length === 0) continue;
		await park(
			servers.at(otherSide(side)).primary,
			parked.flatMap(({ range }) => databasesOf(facts.list, range)),
		);
	}
}
