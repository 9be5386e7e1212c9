import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { GRACE_MS, kill, leftovers, stopGroup } from "./leftovers.ts";
import type { Report, Used } from "./reporter.ts";
import { Watchdog } from "./watchdog.ts";

/** The result of one test file. */
export interface FileResult {
	readonly file: string;
	readonly passed: number;
	/** Each in full: a failed test with its stack, or another problem. */
	readonly failures: readonly string[];
	readonly seconds: number;
	/** Used by its process, for this file, and by all that it started. */
	readonly cpuSeconds: number;
}

/** The result of a process that ran one test file, or several. */
export interface ProcessResult {
	readonly files: readonly FileResult[];
	/** What is wrong with the process of several files, and not with one of them. */
	readonly failures: readonly string[];
	/** Lines with the seeds that repeat random tests. */
	readonly seeds: readonly string[];
	/** What it printed, or the end of it. */
	readonly output: string;
	readonly seconds: number;
	readonly cpuSeconds: number;
}

const GROUP = join(import.meta.dirname, "group.ts");
const LEAN = join(import.meta.dirname, "lean.ts");
const REPORTER = join(import.meta.dirname, "reporter.ts");
const OUTPUT_LIMIT = 64 * 1024;
/** How often the reports are read (ms). */
const LOOK_MS = 250;

export interface ProcessOptions {
	readonly root: string;
	/** A folder for this run; the process gets one inside it. */
	readonly folder: string;
	/** A process in which no test starts or ends, and which prints nothing, for this long is stopped. */
	readonly stallMs: number;
	readonly signal: AbortSignal;
	/** Called when the process has reported something. */
	readonly onProgress?: () => void;
}

/** Runs one file, or several one after another, in a process, a process group and a TMPDIR of their own. */
export async function runFiles(
	files: readonly [string, ...string[]],
	options: ProcessOptions,
): Promise<ProcessResult> {
	const started = performance.now();
	const name = files[0].replaceAll(/[^A-Za-z0-9]+/g, "-");
	const reports = join(options.folder, `${name}.ndjson`);
	const temporary = join(options.folder, name);
	mkdirSync(temporary);
	const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
	const child = spawn(
		process.execPath,
		[
			`--import=${LEAN}`,
			`--test-reporter=${REPORTER}`,
			`--test-reporter-destination=${reports}`,
			...(files.length > 1 ? [GROUP, ...files] : files),
		],
		{
			cwd: options.root,
			env: { ...environment, TMPDIR: temporary },
			detached: true,
			stdio: ["ignore", "pipe", "pipe"],
		},
	);
	const output = gather(child);
	// All that was printed has come; a process left running may hold the pipes until it is ended.
	const closed = once(child, "close");
	const failures: string[] = [];
	const ended = await end(child, temporary, reports, options);
	if (ended !== "exited") failures.push(ended);
	for (const left of await clearAway(child, temporary)) {
		failures.push(`left running: ${left}`);
	}
	await Promise.race([closed, sleep(GRACE_MS, undefined, { ref: false })]);

	const events = readReports(reports);
	for (const report of events) {
		if (report.kind === "late") failures.push(report.message);
	}
	const whole = {
		seconds: (performance.now() - started) / 1_000,
		cpuSeconds: events.find((report) => report.kind === "end")?.cpuSeconds ?? 0,
	};
	// node exits 0 if no test ran.
	const unfinished =
		ended === "exited"
			? `has no tests, or ended before they did: ${status(child)}`
			: "did not end";
	const results = files.map((file) => {
		const text = readFileSync(join(options.root, file), "utf8");
		const [own, used] =
			files.length > 1
				? [eventsOf(file, events), usedBy(file, events)]
				: [events, whole];
		return { file, ...resultOf(text, own, unfinished), ...used };
	});
	const isFine =
		child.exitCode === 0 && events.some((report) => report.kind === "end");
	if (
		ended === "exited" &&
		!isFine &&
		[failures, ...results.map((result) => result.failures)].flat().length === 0
	) {
		failures.push(`failed although its tests passed: ${status(child)}`);
	}
	const [only] = results;
	const isOnly = only !== undefined && results.length === 1;
	return {
		files: isOnly
			? [{ ...only, failures: [...failures, ...only.failures] }]
			: results,
		failures: isOnly ? [] : failures,
		seeds: output().match(/^.*\bseed\b.*$/gim) ?? [],
		output: output(),
		...whole,
	};
}

/** The events of one of several files, as if it had run alone. */
function eventsOf(file: string, events: readonly Report[]): readonly Report[] {
	return events.flatMap((report): readonly Report[] => {
		if (report.kind === "completed" && report.name === file) {
			return [{ ...report, kind: "end" }];
		}
		if (report.kind !== "test" || report.path[0] !== file) return [];
		// The file itself, if it did not load or has no tests.
		if (report.path.length === 1) {
			return report.outcome === "empty" ? [] : [report];
		}
		return [{ ...report, path: report.path.slice(1) }];
	});
}

/** What one of several files took: the process loads all of them before the first runs, and that is no file's. */
function usedBy(file: string, events: readonly Report[]): Used {
	const at = (kind: "started" | "completed") =>
		events.find((report) => report.kind === kind && report.name === file) as
			| Used
			| undefined;
	const [from, to] = [at("started"), at("completed")];
	if (!from || !to) return { seconds: 0, cpuSeconds: 0 };
	return {
		seconds: to.seconds - from.seconds,
		cpuSeconds: to.cpuSeconds - from.cpuSeconds,
	};
}

/** Judges a file by its text and its events. */
function resultOf(
	text: string,
	events: readonly Report[],
	unfinished: string,
): Pick<FileResult, "passed" | "failures"> {
	const failures: string[] = [];
	const tests = events.filter((report) => report.kind === "test");
	for (const { path, outcome, error } of tests) {
		const title = path.join(" › ");
		if (outcome === "failed") failures.push(`${title}\n${error}`);
		else if (outcome !== "passed") failures.push(`${title}: is ${outcome}`);
	}
	if (tests.length === 0 || !events.some((report) => report.kind === "end")) {
		failures.push(unfinished);
	}
	failures.push(...onlyIn(text), ...asyncSuitesIn(text));
	if (failures.length === 0) failures.push(...missingIn(text, events));
	return {
		passed: tests.filter(({ outcome }) => outcome === "passed").length,
		failures,
	};
}

/** With `only`, node does not report the other tests at all: only the source shows it. */
function onlyIn(text: string): readonly string[] {
	return text
		.split("\n")
		.flatMap((line, n) =>
			/\b(?:test|it|describe|suite)\.only\(|\bonly: ?true\b/.test(line)
				? [`line ${n + 1} runs one test only: ${line.trim()}`]
				: [],
		);
}

/** What follows an `await` in a suite is no longer known to be in it (lean.ts). */
function asyncSuitesIn(text: string): readonly string[] {
	return [...text.matchAll(ASYNC_SUITE)].map(
		([line]) => `a suite is async, so its tests may not be in it: ${line}`,
	);
}

const ASYNC_SUITE = /^\t*(?:describe|suite)\(.*\basync\b.*$/gm;

/** Tests that the file has by their titles, and that did not run: behind a condition, in a function that nobody calls. */
function missingIn(text: string, events: readonly Report[]): readonly string[] {
	const ran = new Set(
		events.flatMap((event) =>
			event.kind === "test" ? [event.path.at(-1)] : [],
		),
	);
	return [...text.matchAll(TITLE)].flatMap(([, literal = ""]) => {
		const title = JSON.parse(literal) as string;
		return ran.has(title) ? [] : [`${title}: did not run`];
	});
}

/** A title without a template, at the start of a statement. */
const TITLE = /^\t*(?:await )?(?:test|it)\(\s*("(?:[^"\\\n]|\\.)*")/gm;

/** Waits for the end of the process, or stops it. Returns which. */
async function end(
	child: ChildProcess,
	temporary: string,
	reports: string,
	{ stallMs, signal, onProgress }: ProcessOptions,
): Promise<"exited" | string> {
	const stalled = new AbortController();
	using watchdog = new Watchdog(stallMs, () => stalled.abort());
	let size = 0;
	// A test that takes long says how far it is.
	for (const stream of [child.stdout, child.stderr]) {
		stream?.on("data", () => {
			watchdog.progress();
			onProgress?.();
		});
	}
	const look = setInterval(() => {
		const now = statSync(reports, { throwIfNoEntry: false })?.size ?? 0;
		if (now === size) return;
		size = now;
		watchdog.progress();
		onProgress?.();
	}, LOOK_MS);
	try {
		await once(child, "exit", {
			signal: AbortSignal.any([stalled.signal, signal]),
		});
		return "exited";
	} catch (error) {
		if (!stalled.signal.aborted && !signal.aborted) throw error;
		const running = runningTests(readReports(reports));
		await stopGroup(child, temporary);
		return signal.aborted
			? "was stopped"
			: `reported and printed nothing for ${stallMs / 1_000} s while ${running} ran: too slow, or something is still open`;
	} finally {
		clearInterval(look);
	}
}

/** The tests and suites that have started and not ended, outermost first. */
function runningTests(events: readonly Report[]): string {
	const running: string[] = [];
	for (const report of events) {
		if (report.kind === "started") running.push(report.name);
		else if (report.kind === "completed") {
			const at = running.lastIndexOf(report.name);
			if (at >= 0) running.splice(at, 1);
		}
	}
	return running.length === 0 ? "no test" : `"${running.join('", "')}"`;
}

/** Ends what the file left running. Returns what did not end by itself in time. */
async function clearAway(
	child: ChildProcess,
	temporary: string,
): Promise<readonly string[]> {
	const pid = child.pid ?? 0;
	const deadline = performance.now() + GRACE_MS;
	let left = leftovers(pid, temporary);
	while (left.length > 0 && performance.now() < deadline) {
		await sleep(50);
		left = leftovers(pid, temporary);
	}
	for (const { pid } of left) kill(pid, "SIGKILL");
	while (leftovers(pid, temporary).length > 0) await sleep(10);
	return left.map(({ pid, command }) => `${pid} ${command}`);
}

function gather(child: ChildProcess): () => string {
	let text = "";
	for (const stream of [child.stdout, child.stderr]) {
		stream?.setEncoding("utf8").on("data", (chunk: string) => {
			text = (text + chunk).slice(-OUTPUT_LIMIT);
		});
	}
	return () => text;
}

function readReports(file: string): readonly Report[] {
	let text = "";
	try {
		text = readFileSync(file, "utf8");
	} catch {
		// The process never started its reporter: the caller reports that.
	}
	return text
		.split("\n")
		.slice(0, -1)
		.map((line) => JSON.parse(line) as Report);
}

function status(child: ChildProcess): string {
	return child.signalCode ?? `exit code ${child.exitCode}`;
}
