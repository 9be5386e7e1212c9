import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { GRACE_MS, kill, leftovers, stopGroup } from "./leftovers.ts";
import type { Report } from "./reporter.ts";
import { Watchdog } from "./watchdog.ts";

/** The result of one test file. */
export interface FileResult {
	readonly file: string;
	readonly passed: number;
	/** Each in full: a failed test with its stack, or another problem. */
	readonly failures: readonly string[];
	/** Lines with the seeds that repeat random tests. */
	readonly seeds: readonly string[];
	/** What the file printed, or the end of it. */
	readonly output: string;
	readonly seconds: number;
	/** Used by its process and all that this started. */
	readonly cpuSeconds: number;
}

const LEAN = join(import.meta.dirname, "lean.ts");
const REPORTER = join(import.meta.dirname, "reporter.ts");
const OUTPUT_LIMIT = 64 * 1024;
/** How often the reports are read (ms). */
const LOOK_MS = 250;

export interface FileOptions {
	readonly root: string;
	/** A folder for this run; the file gets one inside it. */
	readonly folder: string;
	/** A file in which no test starts or ends, and which prints nothing, for this long is stopped. */
	readonly stallMs: number;
	readonly signal: AbortSignal;
	/** Called when the file has reported something. */
	readonly onProgress?: () => void;
}

/** Runs one file in a process, a process group and a TMPDIR of its own. */
export async function runFile(
	file: string,
	options: FileOptions,
): Promise<FileResult> {
	const started = performance.now();
	const name = file.replaceAll(/[^A-Za-z0-9]+/g, "-");
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
			file,
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
	const tests = events.filter((report) => report.kind === "test");
	for (const { path, outcome, error } of tests) {
		const title = path.join(" › ");
		if (outcome === "failed") failures.push(`${title}\n${error}`);
		else if (outcome !== "passed") failures.push(`${title}: is ${outcome}`);
	}
	for (const report of events) {
		if (report.kind === "late") failures.push(report.message);
	}
	if (ended === "exited") {
		const text = readFileSync(join(options.root, file), "utf8");
		failures.push(
			...quietFaults(child, events, tests.length, failures.length),
			...onlyIn(text),
			...asyncSuitesIn(text),
		);
		if (failures.length === 0) failures.push(...missingIn(text, events));
	}
	return {
		file,
		passed: tests.filter(({ outcome }) => outcome === "passed").length,
		failures,
		seeds: output().match(/^.*\bseed\b.*$/gim) ?? [],
		output: output(),
		seconds: (performance.now() - started) / 1_000,
		cpuSeconds: events.find((report) => report.kind === "end")?.cpuSeconds ?? 0,
	};
}

/** node exits 0 where no test ran; and a process may fail after its last test passed. */
function quietFaults(
	child: ChildProcess,
	events: readonly Report[],
	tests: number,
	failures: number,
): readonly string[] {
	if (tests === 0 || !events.some((report) => report.kind === "end")) {
		return [`has no tests, or ended before they did: ${status(child)}`];
	}
	if (child.exitCode !== 0 && failures === 0) {
		return [`failed although its tests passed: ${status(child)}`];
	}
	return [];
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
	{ stallMs, signal, onProgress }: FileOptions,
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
