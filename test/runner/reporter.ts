import { readFileSync } from "node:fs";
import { inspect } from "node:util";

/** A line of what a test file's process reports to the runner. */
export type Report =
	| {
			readonly kind: "test";
			/** Its own name and those of the suites and tests around it, outermost first. */
			readonly path: readonly string[];
			readonly outcome: "passed" | "failed" | "skipped" | "todo" | "empty";
			/** What failed, with its stack; empty if nothing did. */
			readonly error: string;
	  }
	/** A test or suite begins to run, or has run: the order is that of time, where results come in the order of the file. */
	| (Used & { readonly kind: "started" | "completed"; readonly name: string })
	/** Something came up after the test it belongs to had passed. */
	| { readonly kind: "late"; readonly message: string }
	/** All tests have ended: a file that stops before this point did not run them. */
	| (Used & { readonly kind: "end" });

/** Up to then, since the process started. */
export interface Used {
	readonly seconds: number;
	/** With all that it started and waited for. */
	readonly cpuSeconds: number;
}

interface Event {
	readonly type: string;
	readonly data: {
		readonly name?: string;
		readonly nesting?: number;
		readonly message?: string;
		readonly skip?: unknown;
		readonly todo?: unknown;
		readonly details?: {
			readonly type?: string;
			readonly error?: { readonly cause?: unknown };
		};
	};
}

const UNCAUGHT = ["uncaughtException", "unhandledRejection"] as const;

/** `node:test` reports an uncaught error of no test without its stack. */
function print(error: unknown): void {
	console.error("uncaught:", error);
}

/** A reporter of `node --test-reporter`, which takes a module's default export and nothing else. */
export default async function* report(
	events: AsyncIterable<Event>,
): AsyncGenerator<string> {
	for (const name of UNCAUGHT) process.on(name, print);
	const around: string[] = [];
	/** By nesting: whether the suite that runs there had a test. */
	const isFilled: boolean[] = [];
	for await (const { type, data } of events) {
		const { nesting = 0 } = data;
		if (type === "test:start") isFilled[nesting] = false;
		// From here on an error ends the process, as it does without listeners.
		if (type === "test:summary") {
			for (const name of UNCAUGHT) process.off(name, print);
		}
		const line = reportOf(type, data, around, isFilled[nesting] ?? false);
		if (type === "test:pass" || type === "test:fail") {
			isFilled[nesting - 1] = true;
		}
		if (line) yield `${JSON.stringify(line)}\n`;
	}
}

function reportOf(
	type: string,
	data: Event["data"],
	around: string[],
	isFilled: boolean,
): Report | undefined {
	const { name = "", nesting = 0, message = "" } = data;
	if (type === "test:start") around.splice(nesting, around.length, name);
	if (type === "test:dequeue") return { kind: "started", name, ...used() };
	if (type === "test:complete") return { kind: "completed", name, ...used() };
	if (type === "test:summary") return { kind: "end", ...used() };
	if (type === "test:diagnostic" && /after the test ended/.test(message)) {
		return { kind: "late", message };
	}
	const failed = type === "test:fail";
	if (type !== "test:pass" && !failed) return undefined;
	const error = failed ? errorText(data.details?.error) : "";
	// A suite that failed for no other reason than its tests has said so already.
	const isSuite = data.details?.type === "suite" && !data.skip && !data.todo;
	// A loop over files or cases that finds none makes a suite without tests, which passes.
	const isEmpty = isSuite && !failed && !isFilled;
	if (isSuite && !isEmpty) {
		if (!failed || /subtests? failed/.test(error)) return undefined;
	}
	return {
		kind: "test",
		path: [...around.slice(0, nesting), name],
		outcome: isEmpty ? "empty" : outcome(data, failed),
		error,
	};
}

/** `skip: ""` is a skip without a reason. A todo test may fail without a report. */
function outcome(data: Event["data"], failed: boolean) {
	if (data.skip !== undefined && data.skip !== false) return "skipped";
	if (data.todo !== undefined && data.todo !== false) return "todo";
	return failed ? "failed" : "passed";
}

/** node:test wraps what a test threw; the wrapper's stack is its own. */
function errorText(error: { readonly cause?: unknown } | undefined): string {
	const thrown = error?.cause ?? error;
	return thrown instanceof Error
		? inspect(thrown, { depth: 6 })
		: String(thrown);
}

function used(): Used {
	return { seconds: performance.now() / 1_000, cpuSeconds: cpuSeconds() };
}

/** What this process and all that it started and waited for used, servers too (proc(5); elsewhere without them). */
function cpuSeconds(): number {
	try {
		const stat = readFileSync("/proc/self/stat", "latin1");
		// From the third field on: "pid (name) state …", and a name may hold anything.
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		// utime, stime, cutime and cstime, in ticks.
		return fields.slice(11, 15).reduce((sum, n) => sum + Number(n), 0) / TICKS;
	} catch {
		const { user, system } = process.cpuUsage();
		return (user + system) / 1_000_000;
	}
}

/** Clock ticks of a second, on each Linux. */
const TICKS = 100;
