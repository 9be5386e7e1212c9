import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseJobId } from "../../../src/queue/jobId.ts";
import { playSchedule, type TrialContext } from "../world.ts";
import { type AskedJob, examine, type Findings } from "./evidence.ts";
import { Producers } from "./producers.ts";
import { type Fault, scheduleFaults } from "./schedule.ts";
import { type QueueServices, startQueueServices, until } from "./services.ts";

/** After the faults everything has to be done by then. */
const SETTLE_MS = 180_000;

export interface AttackOptions {
	readonly seed: number;
	readonly seconds: number;
	/** Null: by the seed. */
	readonly faults: readonly Fault[] | null;
}

/** What a run that broke a promise leaves for those who look for the cause. */
export interface QueueEvidence {
	readonly faults: readonly Fault[];
	readonly asked: readonly AskedJob[];
	readonly workers: unknown;
	readonly changes: unknown;
}

export interface QueueAttackReport extends Findings {
	readonly seed: number;
	readonly seconds: number;
	readonly faults: Readonly<Record<string, number>>;
	/** Jobs by outcome. */
	readonly asked: Readonly<Partial<Record<AskedJob["outcome"], number>>>;
	/** Acknowledged jobs that came from the outbox of a write. */
	readonly ofWrites: number;
	readonly deadlocks: number;
	/** How often rotation did each step. */
	readonly rotation: Readonly<Record<string, number>>;
	readonly longestStallMs: number;
	/** From the last fault until no job and no outbox entry was left. */
	readonly settledMs: number;
}

/** One run: producers and workers under faults, and what came of it. */
export async function attackQueue(
	{ seed, seconds, faults: given }: AttackOptions,
	{ say, keep, signal }: TrialContext,
): Promise<{
	readonly report: QueueAttackReport;
	readonly evidence: QueueEvidence;
}> {
	await using resources = new AsyncDisposableStack();
	const violations: string[] = [];
	const services = resources.use(
		await startQueueServices((name, how) =>
			violations.push(`${name} ended by itself: ${how}`),
		),
	);
	const producers = await Producers.open(services.env, seed, resources);
	const stop = new AbortController();
	const producing = producers.run(stop.signal);
	producing.catch(() => {});
	const faults = given ?? scheduleFaults(seed, seconds * 1_000);
	const began = Date.now();
	const progress = setInterval(
		() =>
			say(
				`${Math.round((Date.now() - began) / 1_000)} s: ${producers.asked.length} jobs`,
			),
		10_000,
	);
	try {
		await Promise.all([
			sleep(seconds * 1_000, undefined, { signal }).catch(() => {}),
			playSchedule(faults, (fault) => inject(services, fault), {
				signal,
				laneOf: ({ subject }) => subject,
			}),
		]);
	} finally {
		clearInterval(progress);
		stop.abort();
	}
	await producing;
	const calmAt = Date.now();
	let left = 0;
	await until(
		"all jobs to be done",
		async () => {
			left = await producers.unfinished().catch(() => -1);
			return left === 0;
		},
		SETTLE_MS,
	).catch(() =>
		violations.push(
			`after ${SETTLE_MS / 1_000} s without a fault ${left} jobs or outbox entries are left`,
		),
	);
	const settledMs = Date.now() - calmAt;
	await Promise.all(services.workers.map((worker) => worker.end("SIGKILL")));
	const workers = services.workers.flatMap((worker) => worker.notes());
	const changes = await services.stateChanges();
	const { asked } = producers;
	const found = examine({
		asked,
		workers,
		changes,
		localOf,
		isOver: left === 0,
	});
	const deadlocks = await services.deadlocks();
	if (deadlocks > 0) violations.push(`${deadlocks} deadlocks`);
	const steps = workers.flatMap(({ notes }) =>
		notes.flatMap((note) => (note.kind === "rotation" ? [note] : [])),
	);
	const report: QueueAttackReport = {
		seed,
		seconds,
		faults: countBy(
			faults,
			({ subject, kind }) => `${kind} ${subject.replace(/\d/, "")}`,
		),
		asked: countBy(asked, ({ outcome }) => outcome),
		ofWrites: asked.filter(
			({ outcome, from }) => outcome === "acknowledged" && from === "outbox",
		).length,
		...found,
		violations: [...violations, ...found.violations],
		deadlocks,
		rotation: countBy(
			steps.filter(({ isDone }) => isDone),
			({ step }) => step,
		),
		longestStallMs: Math.round(
			Math.max(0, ...steps.map(({ stallMs }) => stallMs ?? 0)),
		),
		settledMs,
	};
	if (report.violations.length > 0) {
		await keep([
			[services.folder, "services"],
			...(["mysql0", "mysql1"] as const).map(
				(name): readonly [string, string] => [
					join(services.servers[name].folder, "log"),
					`${name}.log`,
				],
			),
		]);
	}
	return { report, evidence: { faults, asked, workers, changes } };
}

async function inject(
	{ serverOf }: QueueServices,
	{ subject, kind, ms }: Fault,
): Promise<void> {
	const target = serverOf(subject);
	if ("pause" in target) {
		if (kind === "freeze") {
			target.pause();
			await sleep(ms);
			target.resume();
			return;
		}
		await target.kill(kind === "kill" ? "SIGKILL" : "SIGTERM");
		await sleep(ms);
		await target.restart();
		return;
	}
	if (kind === "freeze") {
		target.freeze();
		await sleep(ms);
		target.thaw();
		return;
	}
	await target.end(kind === "kill" ? "SIGKILL" : "SIGTERM");
	await sleep(ms);
	await target.start();
}

function localOf(id: string): string {
	const parsed = parseJobId(id);
	if (parsed === null) throw new TypeError(`expected a job's id but got ${id}`);
	return parsed.local;
}

function countBy<T, Name extends string>(
	all: readonly T[],
	nameOf: (one: T) => Name,
): Readonly<Record<Name, number>> {
	const counts = {} as Record<Name, number>;
	for (const one of all) {
		const name = nameOf(one);
		counts[name] = (counts[name] ?? 0) + 1;
	}
	return counts;
}
