import { setImmediate as nextTurn } from "node:timers/promises";
import { CorkboardError } from "../errors.ts";
import { HOUR_US, MADE_HOURS } from "./bucket.ts";
import { QUEUE_CHANNELS } from "./diagnostics.ts";
import type { JobStore, ShardOfQueue } from "./jobStore.ts";
import type { LiveSettings } from "./liveSettings.ts";
import {
	isRefused,
	type Keep,
	keptCap,
	type Refused,
	type RotationStore,
	type Round,
	type Span,
} from "./rotationStore.ts";
import type { QueueSettings } from "./settings.ts";

/** Rounds of one queue and shard are so far apart: disk comes back no later for hours that were kept for a day, and a look costs the database some 30 ms of CPU. */
export const ROUND_MS = 180_000;

/** Jobs that one call moves, and how many such calls a round makes. */
const MOVED_TOGETHER = 500;
const MOVES = 40;

/** Steps of one span: SQLite gives back in small ones. */
const MOST_STEPS = 2_000;

/** After a refusal the next round comes later each time. */
const MOST_BETWEEN_MS = 3_600_000;

/** Rotation that was refused for so long is worth a warning. */
export const REFUSED_WARNING_MS = 6 * 3_600_000;

/**
 * What becomes of a span:
 *
 * - `keep`: jobs that succeeded are still to be kept.
 * - `give back`: nothing in it is to be kept.
 * - `finish`: it was swapped out by a process that ended then.
 * - `move on`: what is to be kept is little, and moves to later spans first.
 * - `wait`: what is left are jobs that run.
 * - `hold`: what is to be kept is too much to copy. It stays until it is less.
 * - `empty`: nothing is in it. It is removed with others of its kind.
 */
export type Decision =
	| "keep"
	| "give back"
	| "finish"
	| "move on"
	| "wait"
	| "hold"
	| "empty";

interface DecidedSpan extends Span {
	readonly decision: Decision;
	/** A sentence for operators. */
	readonly why: string;
}

/** What a round did. */
export interface RotationReport {
	readonly spans: readonly DecidedSpan[];
	/** The size of files that are gone. */
	readonly bytes: number;
	readonly moved: number;
	readonly heldBytes: number;
	/** Spans that were made ahead, and empty ones that were removed. */
	readonly made: number;
	readonly dropped: number;
	readonly refused: string | null;
	/** It was refused because another process rotates the queue, in a round that takes longer than rounds are apart. */
	readonly isUnderWay: boolean;
}

type RotationSettings = Pick<QueueSettings, "keepSucceededMs" | "keepFailedMs">;

export function keepOf(now: number, settings: RotationSettings): Keep {
	return {
		succeededAfter: now - settings.keepSucceededMs * 1_000,
		failedAfter: now - settings.keepFailedMs * 1_000,
	};
}

export function decide(
	span: Span,
	now: number,
	settings: RotationSettings,
): DecidedSpan {
	const decided = (decision: Decision, why: string) => ({
		...span,
		decision,
		why,
	});
	if (span.isSwappedOut) {
		return decided("finish", "A process was ended while it gave it back.");
	}
	if (span.isEmpty) return decided("empty", "No job is left.");
	const until = (span.bucket + 1) * HOUR_US + settings.keepSucceededMs * 1_000;
	if (now < until) {
		return decided(
			"keep",
			`Jobs that succeeded are kept until ${new Date(until / 1_000).toISOString()} at least.`,
		);
	}
	const { pending, running, succeeded, failed } = span;
	const movable = pending + succeeded + failed;
	const kept = movable + running;
	if (kept === 0) return decided("give back", "Nothing is to be kept.");
	const parts = Object.entries({ pending, running, succeeded, failed })
		.filter(([, count]) => count > 0)
		.map(([state, count]) => `${count} ${state}`)
		.join(", ");
	const cap = keptCap(span.rows);
	if (kept > cap) {
		return decided(
			"hold",
			`Too many jobs to move are to be kept: ${parts} (counted up to ${cap + 1} each).`,
		);
	}
	if (movable > 0) return decided("move on", `To be kept: ${parts}.`);
	return decided("wait", `To be kept: ${parts}.`);
}

/** What a round would do now, span by span; nothing is changed. */
export async function planRotation(
	store: RotationStore & Pick<JobStore, "now">,
	at: ShardOfQueue,
	settings: RotationSettings,
): Promise<readonly DecidedSpan[]> {
	const now = await store.now(at.shard);
	const spans = await store.spans(at, keepOf(now, settings));
	return spans.map((span) => decide(span, now, settings));
}

/**
 * One round of a queue on a shard: makes spans ahead, finishes what another
 * process left, and gives back what need not be kept. It can end anywhere and
 * be done again, even by two processes at once.
 */
export async function rotate(
	store: RotationStore & Pick<JobStore, "now">,
	at: ShardOfQueue,
	settings: RotationSettings,
	options: {
		/** False to do only what needs no change of the jobs' table. */
		readonly mayChange?: boolean;
	} = {},
): Promise<RotationReport> {
	const total = { bytes: 0, moved: 0, made: 0, dropped: 0 };
	let refused: Refused | null = null;
	let mayChange = options.mayChange ?? true;
	const accepted = <T extends object>(outcome: T | Refused): outcome is T => {
		if (!isRefused(outcome)) return true;
		refused ??= outcome;
		mayChange = false;
		return false;
	};
	if (mayChange) {
		const ahead = await store.ahead(at, MADE_HOURS);
		if (accepted(ahead)) total.made += ahead.spans;
	}
	const now = await store.now(at.shard);
	const keep = keepOf(now, settings);
	const spans = (await store.spans(at, keep)).map((span) =>
		decide(span, now, settings),
	);
	/** Whether the span is done. */
	const giveBack = async (span: Span) => {
		for (let step = 0; step < MOST_STEPS; step++) {
			const given = await store.giveBack(at, span, keep);
			if (!accepted(given)) return;
			total.bytes += given.bytes;
			total.moved += given.rescued;
			if (given.isDone) return;
			// SQLite does its steps in this process, which has other things to do.
			await nextTurn();
		}
	};
	// Jobs in what another process left are out of the reach of workers, and of the rest.
	for (const span of spans) {
		if (span.decision === "finish") await giveBack(span);
	}
	for (const span of spans) {
		if (span.decision === "give back" && mayChange) await giveBack(span);
		if (span.decision !== "move on") continue;
		for (let call = 0; call < MOVES; call++) {
			const moved = await store.moveOn(at, span, keep, MOVED_TOGETHER);
			total.moved += moved;
			if (moved < MOVED_TOGETHER) break;
		}
	}
	if (mayChange && spans.some(({ decision }) => decision === "empty")) {
		const dropped = await store.dropEmpty(at);
		if (accepted(dropped)) total.dropped += dropped.spans;
	}
	const held = spans.filter(({ decision }) => decision === "hold");
	const { refused: reason = null, isUnderWay = false } =
		(refused as Refused | null) ?? {};
	return {
		spans,
		...total,
		heldBytes: held.reduce((sum, { bytes }) => sum + bytes, 0),
		refused: reason,
		isUnderWay,
	};
}

/**
 * A round, if it is due and no other process has taken it; null otherwise. After
 * a refusal the table is not changed for 3, 6, 12 … 60 minutes.
 */
export async function rotateIfDue(
	store: RotationStore & Pick<JobStore, "now" | "hostOf">,
	at: ShardOfQueue,
	settings: RotationSettings,
): Promise<RotationReport | null> {
	const round = await store.takeRound(at, ROUND_MS);
	if (round === null) return null;
	const began = performance.now();
	const mayChange = round.now >= round.changesAt;
	try {
		const report = await rotate(store, at, settings, { mayChange });
		const isOwn = mayChange && !report.isUnderWay;
		const ended = isOwn ? afterChanges(round, report.refused) : round;
		if (isOwn) await store.endRound(at, ended);
		publishRound(store, at, began, report, ended);
		return report;
	} catch (error) {
		publishRound(store, at, began, null, round, error);
		throw error;
	}
}

function afterChanges(round: Round, refused: string | null): Round {
	if (refused === null) {
		return { ...round, refusals: 0, refusedSince: null, changesAt: 0 };
	}
	const { now, refusals, refusedSince } = round;
	const waitMs = Math.min(ROUND_MS * 2 ** refusals, MOST_BETWEEN_MS);
	return {
		now,
		refusals: refusals + 1,
		refusedSince: refusedSince ?? now,
		// Not just after the round that it is meant for.
		changesAt: now + (waitMs - ROUND_MS / 2) * 1_000,
	};
}

function publishRound(
	store: Pick<JobStore, "hostOf">,
	at: ShardOfQueue,
	began: number,
	report: RotationReport | null,
	{ now, refusedSince }: Round,
	error?: unknown,
): void {
	if (!QUEUE_CHANNELS.queueRotation.hasSubscribers) return;
	QUEUE_CHANNELS.queueRotation.publish({
		kind: "round",
		...at,
		host: store.hostOf(at.shard) ?? "",
		ms: performance.now() - began,
		bytes: report?.bytes ?? 0,
		moved: report?.moved ?? 0,
		heldBytes: report?.heldBytes ?? 0,
		refusedForMs: refusedSince === null ? 0 : (now - refusedSince) / 1_000,
		refused: report?.isUnderWay ? null : (report?.refused ?? null),
		...(error !== undefined && { error }),
	});
}

/**
 * The rounds of all queues that are due and that no other process has taken:
 * shards beside each other, the queues of a shard one after the other. What fails
 * is reported by its round, and done again by the next one.
 */
export async function rotateQueues(
	store: JobStore & RotationStore,
	settings: LiveSettings,
	signal: AbortSignal,
): Promise<void> {
	await Promise.all(
		store.shards.map(async (shard) => {
			for (const queue of settings.queues) {
				const own = settings.settingsOf(queue);
				if (own === null) continue;
				if (signal.aborted) return;
				try {
					await rotateIfDue(store, { queue, shard }, own);
				} catch (error) {
					if (!(error instanceof CorkboardError)) throw error;
				}
			}
		}),
	);
}
