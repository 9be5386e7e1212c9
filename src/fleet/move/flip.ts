import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Difference } from "../ferry/compareRows.ts";
import { Ferry } from "../ferry/ferry.ts";
import { outboxSize } from "../ferry/movedOutbox.ts";
import type { Pace } from "../ferry/pace.ts";
import { HOST_DATABASE } from "../map/databases.ts";
import { otherSide } from "../operations/moveFacts.ts";
import { raiseLocalIds, readCounters } from "../server/localIds.ts";
import { cutOver } from "./cutOver.ts";
import { databasesOf, parkedName } from "./findMove.ts";
import type { Looking } from "./looking.ts";
import { ferryName, type MoveRun } from "./moveRun.ts";
import { makeHostDatabase } from "./newHost.ts";
import { forbidden } from "./wishes.ts";

const LOOK_MS = 1_000;
const AGAIN_MS = 1_000;
const MAX_TRIES = 10;
/** Entries that are handed over while writes wait. */
const MAX_ENTRIES = 1_000;
/** A transaction that is open for longer would hold the fence up. Seconds. */
const LONG_S = 1;
const MARGIN = 1_000_000n;

/**
 * Brings a wave to the other side: copies it there, or, on the way back, brings the
 * parked copy up to date; compares all of it; and lets it go over when it may. False:
 * somebody wants the operation for something else.
 */
export async function flip(
	run: MoveRun,
	index: number,
	pace: Pace,
	looking: Looking,
): Promise<boolean> {
	const { options, operation, facts } = run;
	const {
		lookMs = LOOK_MS,
		againMs = AGAIN_MS,
		maxTries = MAX_TRIES,
	} = options;
	const wave = run.wave(index);
	const isFirst = wave.flips === 0;
	await operation.requireHeld();
	if (isFirst) await makeHostDatabase(run);
	await using ferry = await openFerry(run, index, pace, looking.signal);
	try {
		if (isFirst) {
			await ferry.prepare();
			await run.onStep("prepared");
			await ferry.copy();
			await run.onStep("copied");
		}
		await ferry.follow();
		requireSame(run, await ferry.verify());
		await run.onStep("verified");
		await raiseIds(run, index);
		await run.onStep("ids raised");
		for (let nth = 0; nth < maxTries; ) {
			const wishes = looking.now;
			if (wishes.isLeaving) return false;
			run.requireRunning();
			const waits =
				forbidden(wishes, operation.record.id, flipped(run), new Date()) ??
				(await notReady(run, index, ferry, wishes.maxLagMs));
			report(run, index, ferry, waits);
			if (waits !== null) {
				await sleep(lookMs);
				continue;
			}
			const result = await cutOver(run, index, ferry, wishes.maxPauseMs);
			if (result.isFlipped) return true;
			nth += 1;
			report(run, index, ferry, `another try: ${result.why}`);
			await sleep(againMs * 2 ** Math.min(nth - 1, 9));
		}
	} catch (thrown) {
		if (!looking.now.isLeaving) throw thrown;
		return false;
	}
	throw new CorkboardError(
		"UNAVAILABLE",
		`${facts.list} ${wave.range.join(" to ")} did not go over in ${maxTries} tries; ${run.operation.record.log.at(-2) ?? ""}. Writes go on where they were. Try again: corkboard operations resume ${operation.record.id}.`,
	);
}

/** Brings the parked copy up to date, and compares it with the one in use: throws CONFLICT where they differ. */
export async function rehearse(
	run: MoveRun,
	index: number,
	pace: Pace,
	signal: AbortSignal,
): Promise<void> {
	const wave = run.wave(index);
	await run.operation.requireHeld();
	await using ferry = await openFerry(run, index, pace, signal);
	await ferry.follow();
	requireSame(run, await ferry.verify());
	const { primary } = run.servers.at(wave.at);
	// A busy host goes on meanwhile: what it had when this was asked is enough.
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
	const isFirst = wave.flips === 0;
	return Ferry.open({
		name: ferryName(run, index, wave.flips),
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
		`${differences.length} rows differ between the two copies, the first in ${first.table}, ${first.key}: ${first.kind}. Nothing has gone over, and nothing is dropped. Somebody else has written to a copy, or this is a defect: look at the rows, then corkboard move cancel ${run.operation.record.id}.`,
	);
}

/** Why the wave cannot go over at this moment; null: it can. */
async function notReady(
	run: MoveRun,
	index: number,
	ferry: Ferry,
	maxLagMs: number,
): Promise<string | null> {
	const { facts, servers } = run;
	const wave = run.wave(index);
	const { primary, replica } = servers.at(wave.at);
	if (ferry.failure !== null) throw ferry.failure;
	const { lagMs } = ferry.progress();
	if (lagMs === null || lagMs > maxLagMs) {
		return `the stream is ${lagMs === null ? "not there" : `${Math.round(lagMs)} ms behind`}`;
	}
	const entries = await outboxSize(
		primary,
		databasesOf(facts.list, wave.range),
	);
	if (entries > MAX_ENTRIES) {
		return `${entries} entries of these shards are in the outbox of ${primary.name}`;
	}
	for (const server of [primary, ...(replica === null ? [] : [replica])]) {
		const [open] = await server.row(
			"long transactions",
			"SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_started < NOW(6) - INTERVAL ? SECOND AND trx_mysql_thread_id <> 0",
			[LONG_S],
		);
		if (Number(open) > 0) {
			return `${open} transactions on ${server.name} are open for more than ${LONG_S} s`;
		}
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
	const own = wave.flips === 0 ? databases : databases.map(parkedName);
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

/** How many waves went over in this direction. */
function flipped({ facts }: MoveRun): number {
	return facts.waves.filter(({ at, flips }) => at === facts.aim && flips > 0)
		.length;
}

/** For `move status`, with the next sign of life. */
function report(
	run: MoveRun,
	index: number,
	ferry: Ferry,
	waitsFor: string | null,
): void {
	run.operation.report(
		JSON.stringify({
			wave: index,
			waitsFor,
			...ferry.progress(),
		}),
	);
}
