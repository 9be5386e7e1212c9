import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Pace } from "../../util/pace.ts";
import type { Difference } from "../ferry/compareRows.ts";
import { Ferry } from "../ferry/ferry.ts";
import { outboxSize } from "../ferry/movedOutbox.ts";
import { HOST_DATABASE } from "../map/databases.ts";
import { otherSide } from "../operations/moveFacts.ts";
import { readCounters } from "../server/localIds.ts";
import { raiseLocalIds } from "../server/raiseLocalIds.ts";
import { cutOver } from "./cutOver.ts";
import { blockersOf, killBlockers } from "./fence.ts";
import { databasesOf, parkedName } from "./findMove.ts";
import { ferryName, type MoveRun } from "./moveRun.ts";
import { makeHostDatabase } from "./newHost.ts";
import { RENAME_MS } from "./park.ts";
import { forbidden, type Wishes } from "./wishes.ts";
import type { WishWatcher } from "./wishWatcher.ts";

const LOOK_MS = 1_000;
const AGAIN_MS = 1_000;
const MAX_TRIES = 10;
/** Entries that are handed over while writes wait. */
const MAX_ENTRIES = 1_000;
/** A transaction that is open for longer would hold the fence up. Seconds. */
const LONG_S = 1;
const MARGIN = 1_000_000n;

/** How a task ended that did not fail. `left`: a command waits for the operation, to do something else with it. */
export type Ended = "done" | "left";

/**
 * Brings a wave to the other side, which takes hours: copies it there, or, on the way
 * back, brings the parked copy up to date; compares all of it; and switches it when
 * that is allowed.
 */
export async function switchWave(
	run: MoveRun,
	index: number,
	pace: Pace,
	watcher: WishWatcher,
): Promise<Ended> {
	const isFirst = run.wave(index).switches === 0;
	await run.operation.requireHeld();
	if (isFirst) await makeHostDatabase(run);
	await using ferry = await openFerry(run, index, pace, watcher.signal);
	using _reports = reportsOf(run, index, ferry);
	const progress = () => ferry.progress();
	try {
		if (isFirst) await copyWave(run, index, ferry);
		await ferry.follow();
		return await run.part(
			"stream",
			index,
			async () => {
				await compareWave(run, index, ferry);
				return await cutOverWhenReady(run, index, ferry, watcher);
			},
			{ rows: () => progress().streamed.rows },
		);
	} catch (thrown) {
		watcher.requireHeld();
		if (!watcher.now.isLeaving) throw thrown;
		return "left";
	}
}

async function copyWave(
	run: MoveRun,
	index: number,
	ferry: Ferry,
): Promise<void> {
	await run.part("compare tables", index, () => ferry.prepare());
	await run.happened("prepared", index);
	await run.part("copy", index, () => ferry.copy(), {
		rows: () => ferry.progress().rows.copied,
	});
	await run.happened("copied", index);
}

async function compareWave(
	run: MoveRun,
	index: number,
	ferry: Ferry,
): Promise<void> {
	requireSame(run, await verified(run, index, ferry));
	await run.happened("verified", index);
	await run.part("raise ids", index, () => raiseIds(run, index));
	await run.happened("ids raised", index);
}

/** Waits until the wave may switch, and tries it. Throws UNAVAILABLE if all tries were in vain. */
async function cutOverWhenReady(
	run: MoveRun,
	index: number,
	ferry: Ferry,
	watcher: WishWatcher,
): Promise<Ended> {
	const { options, operation, facts } = run;
	const {
		lookMs = LOOK_MS,
		againMs = AGAIN_MS,
		maxTries = MAX_TRIES,
	} = options;
	for (let nth = 0; nth < maxTries; ) {
		watcher.requireHeld();
		const wishes = watcher.now;
		if (wishes.isLeaving) return "left";
		run.requireRunning();
		const waits =
			forbidden(wishes, operation.record.id, switchedIn(run), new Date()) ??
			(await notReady(run, index, ferry, wishes));
		run.report({ waitsFor: waits });
		if (waits !== null) {
			await sleep(lookMs);
			continue;
		}
		const hindrance = await run.part(
			"cut over",
			index,
			() => cutOver(run, index, ferry, wishes.maxPauseMs),
			{ showsSteps: true },
		);
		if (hindrance === null) return "done";
		nth += 1;
		run.report({ waitsFor: `another try: ${hindrance}` });
		await sleep(againMs * 2 ** Math.min(nth - 1, 9));
	}
	const { range } = run.wave(index);
	throw new CorkboardError(
		"UNAVAILABLE",
		`${facts.list} ${range.join(" to ")} did not switch in ${maxTries} tries; ${operation.record.log.at(-2) ?? ""}. Writes continue where they were. Try again: corkboard operations resume ${operation.record.id}.`,
	);
}

function verified(
	run: MoveRun,
	index: number,
	ferry: Ferry,
): Promise<readonly Difference[]> {
	return run.part("verify", index, () => ferry.verify(), {
		rows: () => ferry.progress().verified.rows,
	});
}

/** Brings the parked copy up to date, and compares it with the one in use: throws CONFLICT if they differ. */
export async function rehearse(
	run: MoveRun,
	index: number,
	pace: Pace,
	signal: AbortSignal,
): Promise<void> {
	const wave = run.wave(index);
	await run.operation.requireHeld();
	await using ferry = await openFerry(run, index, pace, signal);
	using _reports = reportsOf(run, index, ferry);
	await ferry.follow();
	requireSame(run, await verified(run, index, ferry));
	const { primary } = run.servers.at(wave.at);
	// A busy host continues meanwhile: what it had when this was asked is enough.
	if (!(await ferry.caughtUp(await primary.executed(), 60_000))) {
		throw new CorkboardError(
			"UNAVAILABLE",
			`The way back to ${run.servers.at(otherSide(wave.at)).primary.name} does not keep up with ${primary.name}, so nothing is dropped.`,
		);
	}
	await ferry.stop();
}

function openFerry(
	run: MoveRun,
	index: number,
	pace: Pace,
	signal: AbortSignal,
): Promise<Ferry> {
	const { facts, servers, options } = run;
	const wave = run.wave(index);
	const source = servers.at(wave.at);
	const target = servers.at(otherSide(wave.at));
	const isFirst = wave.switches === 0;
	return Ferry.open({
		name: ferryName(run, index, wave.switches),
		source: source.primary,
		replica: source.replica,
		target: target.primary,
		targetReplica: target.replica,
		databases: databasesOf(facts.list, wave.range).map((each) => ({
			source: each,
			target: isFirst ? each : parkedName(each),
		})),
		from: isFirst ? null : wave.back,
		pace,
		parallel: options.parallel ?? 2,
		signal,
	});
}

function requireSame(run: MoveRun, differences: readonly Difference[]): void {
	const [first] = differences;
	if (first === undefined) return;
	throw new CorkboardError(
		"CONFLICT",
		`${differences.length} rows differ between the two copies, the first in ${first.table}, ${first.key}: ${first.kind}. Nothing has switched, and nothing is dropped. Somebody else has written to a copy, or this is a defect: look at the rows, then corkboard moves cancel ${run.operation.record.id}.`,
	);
}

/** Why the wave cannot switch at this moment; null: it can. */
async function notReady(
	run: MoveRun,
	index: number,
	ferry: Ferry,
	wishes: Wishes,
): Promise<string | null> {
	const { facts, servers } = run;
	const wave = run.wave(index);
	const { primary, replica } = servers.at(wave.at);
	if (ferry.failure !== null) throw ferry.failure;
	const { lagMs, tables } = ferry.progress();
	const renameMs = tables.total * RENAME_MS;
	if (wave.switches > 0 && renameMs > wishes.maxPauseMs) {
		return `to rename ${tables.total} tables back takes about ${renameMs} ms, more than --max-pause: corkboard moves set ${run.operation.record.id} --max-pause ${2 * Math.ceil(renameMs / 1_000)}s`;
	}
	if (lagMs === null || lagMs > wishes.maxLagMs) {
		return `the stream is ${lagMs === null ? "not there" : `${Math.round(lagMs)} ms behind`}`;
	}
	const entries = await outboxSize(
		primary,
		databasesOf(facts.list, wave.range),
	);
	if (entries > MAX_ENTRIES) {
		return `${entries} entries of these shards are in the outbox of ${primary.name}`;
	}
	const databases = databasesOf(facts.list, wave.range);
	for (const server of [primary, ...(replica === null ? [] : [replica])]) {
		const open = await blockersOf(server, databases, LONG_S);
		const [first] = open;
		if (first === undefined) continue;
		if (wishes.killsBlockers) await killBlockers(server, open);
		return `${open.length} transactions on ${server.name} are open for more than ${LONG_S} s, such as connection ${first.connection} of ${first.who} for ${first.seconds} s`;
	}
	return null;
}

/**
 * The counters on the other side come after those of both: rows were copied with
 * their ids, and a late deletion of an outbox entry must not meet another one.
 */
async function raiseIds(run: MoveRun, index: number): Promise<void> {
	const { facts, servers } = run;
	const wave = run.wave(index);
	const databases = databasesOf(facts.list, wave.range);
	const hasOutbox = facts.list === "shards" || facts.list === "feeds";
	const own = wave.switches === 0 ? databases : databases.map(parkedName);
	const outbox = hasOutbox ? [HOST_DATABASE] : [];
	const source = await readCounters(servers.at(wave.at).primary, [
		...databases,
		...outbox,
	]);
	const target = servers.at(otherSide(wave.at)).primary;
	const counters = await readCounters(target, [...own, ...outbox]);
	const behind = [...counters.values()].flatMap((counter) => {
		const { schema, table, next } = counter;
		const at = own.indexOf(schema);
		const name = at === -1 ? schema : databases[at];
		const there = source.get(`${name}.${table}`)?.next ?? 1n;
		const here = next ?? 1n;
		return here > there + MARGIN / 2n
			? []
			: [{ ...counter, next: here > there ? here : there }];
	});
	await run.operation.requireHeld();
	await raiseLocalIds(target, behind);
}

/** How many waves have switched in this direction. */
function switchedIn({ facts }: MoveRun): number {
	return facts.waves.filter(
		({ at, switches }) => at === facts.aim && switches > 0,
	).length;
}

/** Says how far a wave is, until it is disposed of. */
function reportsOf(run: MoveRun, index: number, ferry: Ferry): Disposable {
	const report = () => run.report({ wave: index, ...ferry.progress() });
	const timer = setInterval(report, LOOK_MS).unref();
	return { [Symbol.dispose]: () => clearInterval(timer) };
}
