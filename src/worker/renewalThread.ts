import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { type Held, MAX_JOBS } from "../queue/jobStore.ts";
import { openJobStoreOf } from "../queue/openJobStore.ts";
import { monotonicMs } from "../util/monotonic.ts";
import { reasonOf } from "../util/reasonOf.ts";
import { HeldJobs, keyOf, type RenewalBatch } from "./heldJobs.ts";
import type {
	RenewalCommand,
	RenewalReport,
	RenewalStart,
} from "./renewals.ts";

/** How often it looks at the claims: this part of the shortest, within bounds. */
const LOOKS_PER_CLAIM = 8;
const LEAST_LOOK_MS = 25;
const MOST_LOOK_MS = 1_000;

const { source, ticks, maxBlockMs } = workerData as RenewalStart;
const port = parentPort as NonNullable<typeof parentPort>;
const counter = new Int32Array(ticks);
const held = new HeldJobs();
/** Batches under way, by their place. */
const running = new Map<string, Promise<void>>();
let lastTick = 0;
let lastTickAt = monotonicMs();
let isBlocked = false;
let hasProblem = false;
let endAt = Number.POSITIVE_INFINITY;
let timer: NodeJS.Timeout | undefined;
const store = openJobStoreOf(source);

report({ kind: "ready" });
port.on("message", (command: RenewalCommand) => void obey(command));
look();

async function obey(command: RenewalCommand): Promise<void> {
	if (command.kind === "hold") held.hold(command.claims);
	if (command.kind === "drop") {
		held.drop(command.jobs);
		// Nothing has to be renewed sooner for it.
		return;
	}
	if (command.kind === "endBy") endAt = command.at;
	if (command.kind === "source") store.switchTo(command.source);
	if (command.kind === "stop") {
		clearTimeout(timer);
		port.close();
		await Promise.all(running.values());
		await store[Symbol.asyncDispose]();
		return;
	}
	// It may have to be renewed sooner than what was there.
	clearTimeout(timer);
	look();
}

function look(): void {
	const now = monotonicMs();
	if (now >= endAt) {
		say("the worker did not end in time: its process is killed");
		process.kill(process.pid, "SIGKILL");
	}
	watchMainThread(now);
	if (!isBlocked) {
		for (const batch of held.due(now, MAX_JOBS)) renewOnce(batch);
	}
	const shortest = held.shortestMs() ?? Number.POSITIVE_INFINITY;
	const lookMs = Math.max(
		LEAST_LOOK_MS,
		Math.min(MOST_LOOK_MS, shortest / LOOKS_PER_CLAIM, maxBlockMs / 4),
	);
	timer = setTimeout(look, lookMs);
}

/** While a batch of a place is under way, the others of it wait. */
function renewOnce(batch: RenewalBatch): void {
	const { queue, shard } = batch.place;
	const key = `${queue} ${shard}`;
	if (running.has(key)) return;
	running.set(
		key,
		renew(batch).finally(() => running.delete(key)),
	);
}

async function renew({ place, jobs, claimMs }: RenewalBatch): Promise<void> {
	const at = monotonicMs();
	try {
		const renewed = await store.renew(place, jobs, claimMs);
		const names = new Set(renewed.map(keyOf));
		const lost = jobs.filter((job) => !names.has(keyOf(job)));
		held.renewed(renewed, at);
		if (renewed.length > 0) {
			report({ kind: "renewed", jobs: renewed.map(plain), at });
		}
		lose(lost);
		if (hasProblem) {
			hasProblem = false;
			report({ kind: "problem", message: null });
		}
	} catch (error) {
		hasProblem = true;
		report({
			kind: "problem",
			message: reasonOf(error),
		});
		lose(held.overdue(jobs, monotonicMs()));
	}
}

function lose(jobs: readonly Held[]): void {
	if (jobs.length === 0) return;
	held.drop(jobs);
	report({ kind: "lost", jobs: jobs.map(plain) });
}

function watchMainThread(now: number): void {
	const tick = Atomics.load(counter, 0);
	if (tick !== lastTick) {
		lastTick = tick;
		lastTickAt = now;
		if (isBlocked) say("the event loop runs again: claims are renewed");
		isBlocked = false;
	} else if (!isBlocked && now - lastTickAt > maxBlockMs) {
		isBlocked = true;
		say(
			`a handler has kept the event loop busy for ${Math.round((now - lastTickAt) / 1_000)} s: claims are no longer renewed`,
		);
	}
}

/** The main thread, which writes the log, may be busy. */
function say(message: string): void {
	try {
		writeSync(2, `corkboard worker: ${message}\n`);
	} catch {
		// Nobody reads it.
	}
}

function report(message: RenewalReport): void {
	port.postMessage(message);
}

function plain({ local, bucket, claim }: Held): Held {
	return { local, bucket, claim };
}
