import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { seededRandom } from "../../../src/util/random.ts";
import type { TrialContext } from "../world.ts";
import { Actor } from "./actors.ts";
import { startAttackFleet } from "./attackFleet.ts";
import type { Violation } from "./checks.ts";
import { FaultInjector } from "./faults.ts";
import { checkLogs, finish } from "./finish.ts";
import { Model } from "./model.ts";
import { Freshness } from "./register.ts";
import { type AttackResult, describeViolation } from "./report.ts";
import { type Fault, scheduleFaults } from "./schedule.ts";
import type { Session } from "./session.ts";
import { Timeline } from "./timeline.ts";

export interface Options {
	readonly seed: number;
	readonly minutes: number;
	readonly servers: number;
	readonly clients: number;
	/** How many violations end the run. */
	readonly violations: number;
}

const PROGRESS_MS = 10_000;
/** A server holds its caches and requests in far less. Megabytes. */
const MEMORY_LIMIT_MB = 800;
/** The links are in this process: while it is paused, so are they. Milliseconds. */
const LAG_LIMIT_MS = 250;
const LAG_STEP_MS = 50;
const BUSY_PERCENT = 60;

/** One run: a fleet, its clients and faults, the last comparison, and what broke. */
export async function attack(
	options: Options,
	given: TrialContext & {
		/** Instead of the seed's schedule. */
		readonly faults?: readonly Fault[];
	},
): Promise<AttackResult & { readonly schedule: readonly Fault[] }> {
	const { seed, minutes, servers, clients } = options;
	const { say: print, signal: interrupt, keep } = given;
	const stop = new AbortController();
	// Without the last comparison then.
	interrupt.addEventListener("abort", () => stop.abort());
	const violations: AttackResult["violations"][number][] = [];
	let session: Session | undefined;
	const report = (violation: Violation) => {
		const key = (one: Violation) => `${one.kind} ${one.objects.join()}`;
		if (violations.some((one) => key(one) === key(violation))) return;
		if (violations.length >= options.violations) return;
		const text = describeViolation(violation, seed, session);
		violations.push({ ...violation, text });
		print(text);
		if (violations.length >= options.violations) stop.abort();
	};
	await using fleet = await startAttackFleet({
		servers,
		ended: (server, how) =>
			report({
				kind: "process",
				promised: "no server ends by itself",
				seen: `server ${server.number} ended: ${how}`,
				objects: [],
			}),
	});
	const timeline = new Timeline(fleet.servers.map(({ number }) => number));
	const model = new Model(new Freshness(timeline));
	session = {
		fleet,
		model,
		timeline,
		report,
		signal: stop.signal,
		statistics: {
			requests: 0,
			reads: 0,
			writes: 0,
			acknowledged: 0,
			unknown: 0,
			refused: 0,
			pages: 0,
			slowest: { ms: 0, what: "" },
		},
	};
	const { statistics } = session;
	const totalMs = minutes * 60_000;
	const schedule = given.faults ?? scheduleFaults(seed, totalMs, servers);
	const actors = Array.from(
		{ length: clients },
		(_, number) => new Actor(session as Session, number, seed),
	);
	const injector = new FaultInjector(
		session,
		actors,
		seededRandom(seed + 1),
		print,
	);
	using _watch = watchLag(timeline);
	print("creating the first users");
	await Promise.all(actors.map((actor) => actor.prepare()));
	const startedAt = timeline.now();
	let largestServerMb = 0;
	let isComplete = false;
	const seconds = () => (timeline.now() - startedAt) / 1_000;
	const progress = setInterval(async () => {
		const sizes = await Promise.all(
			fleet.servers.map(({ pid }) => sizeMb(pid)),
		);
		largestServerMb = Math.max(largestServerMb, ...sizes);
		if (largestServerMb > MEMORY_LIMIT_MB) {
			report({
				kind: "process",
				promised: `no server needs more than ${MEMORY_LIMIT_MB} MB`,
				seen: `${Math.round(largestServerMb)} MB`,
				objects: [],
			});
		}
		print(
			`${seconds().toFixed(0)} s: ${statistics.requests} requests, ${statistics.acknowledged} writes acknowledged, ${statistics.unknown} unknown, ${statistics.refused} refused, ${statistics.pages} pages, ${injector.count} faults, ${injector.moves} moves, servers of at most ${Math.round(largestServerMb)} MB`,
		);
	}, PROGRESS_MS);
	try {
		const end = setTimeout(() => stop.abort(), totalMs);
		await Promise.all([
			...actors.map((actor) => actor.run()),
			injector.run(schedule),
		]);
		clearTimeout(end);
		if (violations.length === 0 && !interrupt.aborted) {
			print(
				`${seconds().toFixed(0)} s: faults are over, comparing the whole graph`,
			);
			await finish(session, seededRandom(seed + 2), injector.imports);
			isComplete = violations.length === 0;
		}
		await checkLogs(session);
	} finally {
		clearInterval(progress);
	}
	if (violations.length > 0) {
		await keep(
			fleet.servers.map(({ logFile, number }) => [
				logFile,
				`server${number}.log`,
			]),
		);
	}
	return {
		seed,
		seconds: Math.round(seconds()),
		isComplete,
		faults: injector.count,
		moves: injector.moves,
		statistics,
		largestServerMb: Math.round(largestServerMb),
		violations,
		schedule,
	};
}

function watchLag(timeline: Timeline): Disposable {
	let last = timeline.now();
	const timer = setInterval(() => {
		const now = timeline.now();
		if (now - last > LAG_LIMIT_MS + LAG_STEP_MS) {
			timeline.end(
				timeline.begin(
					`the driver was paused for ${Math.round(now - last)} ms`,
					"all",
					{ from: last },
				),
			);
		}
		last = now;
		if (isBusy()) timeline.noteBusy();
	}, LAG_STEP_MS);
	return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Whether tasks waited for a processor most of the last ten seconds (Linux, pressure stall information). */
function isBusy(): boolean {
	try {
		const text = readFileSync("/proc/pressure/cpu", "utf8");
		return Number(/some avg10=([\d.]+)/.exec(text)?.[1] ?? 0) > BUSY_PERCENT;
	} catch {
		return false;
	}
}

async function sizeMb(pid: number | null): Promise<number> {
	if (pid === null) return 0;
	const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
	return Number(/VmRSS:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
}
