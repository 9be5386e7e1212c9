/**
 * `npm test`: format and lint, types, and every test file but the slow ones, in twice
 * as many processes at once as there are cores, and in up to five times as many while cores are idle.
 * Its last line is `N passed, N failed`. `--help` shows the other forms.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { compileArtifacts } from "./examples/artifacts.ts";
import { type ProcessResult, runFiles } from "./runner/file.ts";
import { type Group, groupsOf } from "./runner/groups.ts";
import { stopGroup } from "./runner/leftovers.ts";
import {
	matchFiles,
	type RunOptions,
	readRunOptions,
	USAGE,
} from "./runner/options.ts";
import { makeRunFolder } from "./runner/runFolder.ts";
import { idleCoresOf, runInSlots } from "./runner/schedule.ts";
import { needsServers } from "./runner/servers.ts";
import { keepTimes, slowestFirst, testFiles } from "./runner/testFiles.ts";
import { Watchdog } from "./runner/watchdog.ts";
import { describeProgram, findProgram } from "./services/program.ts";

const ROOT = join(import.meta.dirname, "..");
const PROGRAMS = [
	"mysqld",
	"mariadbd",
	"postgres",
	"redis-server",
	"memcached",
] as const;
/** A process in which no test starts or ends, and which prints nothing, for this long is stopped: the longest test takes 105 s alone, and more than 300 on busy cores. */
const PROCESS_STALL_MS = 600_000;
/** The run is stopped if nothing is reported for this long. The first download of the servers may take most of it. */
const STALL_MS = 900_000;
/** How often the use of the cores is looked at. In half a second all are often busy by chance, and a job fewer would run. */
const LOOK_MS = 2_000;
/** CI stops a run after 90 minutes and would print no result. */
const WHOLE_LIMIT_MS = 4_800_000;

const options = optionsOrExit();
const { part, patterns, isQuick } = options;
const isWhole = patterns.length === 0 && !isQuick;

const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
	process.on(name, () => stop.abort(new Error(`stopped by ${name}`)));
}
const limit = setTimeout(
	() => stop.abort(new Error(`stopped after ${WHOLE_LIMIT_MS / 1_000} s`)),
	WHOLE_LIMIT_MS,
).unref();
const watchdog = new Watchdog(STALL_MS, () =>
	stop.abort(
		new Error(`stopped: nothing was reported for ${STALL_MS / 1_000} s`),
	),
);

let passed = 0;
let failed = 0;
const details: string[] = [];

function optionsOrExit(): RunOptions {
	try {
		const options = readRunOptions(process.argv.slice(2));
		if (options !== null) return options;
		console.log(USAGE);
		process.exit(0);
	} catch (error) {
		console.error(`test: ${error instanceof Error ? error.message : error}`);
		process.exit(2);
	}
}

function fail(title: string, failures: readonly string[], output = ""): void {
	failed += failures.length;
	details.push(
		[
			`✗ ${title}`,
			...failures.map(indented),
			...(output.trim() === "" ? [] : ["  it printed:", indented(output)]),
		].join("\n"),
	);
}

function indented(text: string): string {
	return text.trimEnd().replaceAll(/^/gm, "    ");
}

/** A command of a package, as an npm script would run it. */
async function check(command: string, ...args: string[]): Promise<void> {
	const path = join(ROOT, "node_modules", ".bin");
	const temporary = mkdtempSync(join(folder, `${command}-`));
	const child = spawn(join(path, command), args, {
		cwd: ROOT,
		env: {
			...process.env,
			PATH: path + delimiter + process.env.PATH,
			TMPDIR: temporary,
		},
		detached: true,
		stdio: ["ignore", "pipe", "pipe"],
	});
	const stopping = () => void stopGroup(child, temporary);
	stop.signal.addEventListener("abort", stopping);
	let output = "";
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding("utf8").on("data", (chunk: string) => {
			output += chunk;
		});
	}
	try {
		const [code, signal] = await once(child, "close");
		if (code === 0) passed++;
		else fail(command, [`ended with ${signal ?? code}`], output);
		console.log(`${code === 0 ? "✓" : "✗"} ${command} ${args.join(" ")}`);
	} catch (error) {
		fail(command, [String(error)]);
	} finally {
		stop.signal.removeEventListener("abort", stopping);
		watchdog.progress();
	}
}

/** Beside the checks, and where it counts against no file's time: the first run downloads them. */
async function fetchServers(): Promise<void> {
	for (const name of PROGRAMS) {
		console.log(describeProgram(await findProgram(name)));
		watchdog.progress();
	}
}

async function run(group: Group): Promise<void> {
	const result = await runFiles(group, {
		root: ROOT,
		folder,
		stallMs: PROCESS_STALL_MS,
		signal: stop.signal,
		onProgress: () => watchdog.progress(),
	});
	cpuSeconds += result.cpuSeconds;
	report(result);
}

function report({
	files,
	failures,
	seeds,
	output,
	...took
}: ProcessResult): void {
	for (const { file, passed: count, failures, ...took } of files) {
		passed += count;
		seconds.set(file, took.seconds);
		if (failures.length > 0) {
			fail(file, failures, files.length === 1 ? output : "");
		}
		print(failures.length === 0, `${file}  ${count}`, took);
	}
	if (files.length > 1) {
		const what = `the process of these ${files.length} files`;
		const isFine = failures.length === 0;
		if (!isFine || files.some(({ failures }) => failures.length > 0)) {
			fail(`${what}, ${files[0]?.file} and others`, failures, output);
		}
		print(isFine, what, took);
	}
	for (const line of seeds) console.log(indented(line.slice(0, 500)));
}

function print(
	isFine: boolean,
	what: string,
	{ seconds, cpuSeconds }: Pick<ProcessResult, "seconds" | "cpuSeconds">,
): void {
	console.log(
		`${isFine ? "✓" : "✗"} ${what} in ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU`,
	);
}

const { chosen: matching, unmatched } = matchFiles(testFiles(ROOT), options);
const chosen = isQuick
	? matching.filter((file) => !needsServers(ROOT, file))
	: // A mistyped pattern is reported at once, not after the files of the others.
		unmatched.length > 0
		? []
		: matching;
const seconds = new Map<string, number>();
let cpuSeconds = 0;
const folder = makeRunFolder();
// Node keeps what it compiled here: hundreds of processes load the same modules.
process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
// What files make once and share is here: nothing of an earlier run.
process.env.TEST_RUN_FOLDER = join(folder, "shared");
try {
	compileArtifacts();
} catch (error) {
	// The files that need none of them are run all the same.
	fail("relay-compiler", [String(error)]);
}
try {
	const served = new Set(chosen.filter((file) => needsServers(ROOT, file)));
	let areFetched = served.size === 0;
	const fetching = areFetched
		? Promise.resolve()
		: fetchServers().then(() => {
				areFetched = true;
			});
	// Who needs them gets the error.
	fetching.catch(() => {});
	const checks =
		(isWhole && part !== "rest") || isQuick
			? [
					() => check("biome", "ci", "."),
					() => check("tsc"),
					() => check("tsc", "-p", "examples/pinboard"),
				]
			: [];
	const groups = [...slowestFirst(ROOT, groupsOf(ROOT, chosen))];
	/** The next group; until the servers are there, the next that needs none. */
	const take = () => {
		const at = groups.findIndex(([file]) => areFetched || !served.has(file));
		return at < 0 ? undefined : groups.splice(at, 1)[0];
	};
	const cores = availableParallelism();
	await runInSlots(
		[
			...checks,
			...groups.map(() => async () => {
				let group = take();
				if (group === undefined) {
					await fetching;
					group = take();
				}
				if (group !== undefined) await run(group);
			}),
		],
		{
			// Most files wait for servers and deadlines half of their time.
			least: 2 * cores,
			most: 5 * cores,
			idleCores: idleCoresOf(),
			nextLook: (signal) => sleep(LOOK_MS, undefined, { signal, ref: false }),
		},
		(job) => job(),
		stop.signal,
	);
} finally {
	clearTimeout(limit);
	watchdog[Symbol.dispose]();
	rmSync(folder, { recursive: true, force: true });
}

if (stop.signal.aborted) fail("the run", [String(stop.signal.reason)]);
for (const pattern of unmatched) {
	fail("the run", [`expected a test file like ${pattern} but found none`]);
}
keepTimes(ROOT, seconds);
if (isWhole || isQuick) {
	const took = [...seconds].toSorted(([, a], [, b]) => b - a).slice(0, 10);
	const lines = took.map(([file, s]) => `  ${s.toFixed(1)} s  ${file}`);
	console.log(`the slowest:\n${lines.join("\n")}`);
	console.log(
		`${Math.round(performance.now() / 1_000)} s, ${Math.round(cpuSeconds)} s of CPU`,
	);
}
if (details.length > 0) console.log(`\n${details.join("\n\n")}\n`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
