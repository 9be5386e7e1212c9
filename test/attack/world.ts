import { cp, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
	count,
	flag,
	type Given,
	optionLines,
	type ProgramOptions,
	readProgramOptions,
	text,
} from "../../tools/programOptions.ts";

/** Real servers under load and faults, and a judge of what they answer. All of them are run by `runWorld`. */
export interface World<Options extends ProgramOptions> {
	readonly name: string;
	/** What `--help` says of it, before its options. */
	readonly about: string;
	/** Beside those that all have. */
	readonly options: Options;
	/** What a command line asks for, one after the other. Throws UsageError. */
	trials(given: Given<Options & typeof SHARED>): readonly Trial[];
}

/** One run of a world. */
export interface Trial {
	/** `seed 7, 60 s` */
	readonly title: string;
	run(context: TrialContext): Promise<Outcome>;
}

export interface TrialContext {
	/** How far it is, for people. */
	say(line: string): void;
	/** Ends it early. */
	readonly signal: AbortSignal;
	/** Keeps files and folders of what is still running, if a promise was broken: where from, and under which name. */
	keep(
		files: readonly (readonly [from: string, name: string])[],
	): Promise<void>;
}

export interface Outcome {
	/** What `--json` prints, and what is kept if a promise was broken. */
	readonly report: object;
	/** What is printed without `--json`. */
	readonly lines: readonly string[];
	/** Each promise that was broken, as a sentence. */
	readonly broken: readonly string[];
	/** What `--schedule` repeats, kept as run.json if a promise was broken. */
	readonly schedule?: object;
}

/** What all worlds take. */
export const SHARED = {
	seed: count(
		"the random seed: the same gives the same faults and choices (default: random)",
		{
			standard: Math.floor(Math.random() * 1_000_000),
			least: 0,
			isUnsaid: true,
		},
	),
	keep: text(
		"where logs, the report and the schedule of a run go that broke a promise (default: a new temporary folder)",
		"FOLDER",
	),
	json: flag("print reports as JSON"),
	help: flag("print this"),
};

export function usageOf(world: World<ProgramOptions>): string {
	return [
		`Usage: npm run attack -- ${world.name} [options]`,
		"",
		world.about,
		"",
		...optionLines({ ...world.options, ...SHARED }),
		"",
		"It exits with 0 if no promise was broken, else with 1. It needs Linux.",
	].join("\n");
}

/** Runs what a command line asks for, and returns the exit code. */
export async function runWorld<Options extends ProgramOptions>(
	world: World<Options>,
	args: readonly string[],
): Promise<number> {
	const given = readProgramOptions({ ...world.options, ...SHARED }, args);
	const { json, keep } = given as Given<typeof SHARED>;
	const interrupt = new AbortController();
	for (const name of ["SIGINT", "SIGTERM"] as const) {
		process.once(name, () => interrupt.abort());
	}
	let broken = 0;
	for (const trial of world.trials(given)) {
		if (interrupt.signal.aborted) break;
		console.error(trial.title);
		const evidence = new Evidence(world.name, keep);
		const outcome = await trial.run({
			say: (line) => console.error(line),
			signal: interrupt.signal,
			keep: (files) => evidence.add(files),
		});
		console.log(
			json ? JSON.stringify(outcome.report) : outcome.lines.join("\n"),
		);
		if (outcome.broken.length === 0) continue;
		broken += outcome.broken.length;
		console.error(
			`${outcome.broken.length} promises were broken:\n${outcome.broken.join("\n")}\nevidence is in ${await evidence.write(outcome)}`,
		);
	}
	return broken === 0 ? 0 : 1;
}

/** The folder of a run that broke a promise: a clean run makes none. */
class Evidence {
	readonly #world: string;
	readonly #keep: string | null;
	#folder: string | null = null;

	constructor(world: string, keep: string | null) {
		this.#world = world;
		this.#keep = keep;
	}

	async add(files: Parameters<TrialContext["keep"]>[0]): Promise<void> {
		const folder = await this.#open();
		for (const [from, name] of files) {
			// A server that never started has no log.
			await cp(from, join(folder, name), { recursive: true }).catch(() => {});
		}
	}

	async write({ report, schedule, broken }: Outcome): Promise<string> {
		const folder = await this.#open();
		const put = (name: string, value: object) =>
			writeFile(join(folder, name), `${JSON.stringify(value)}\n`);
		await put("report.json", report);
		if (schedule !== undefined) {
			const found = broken.join("; ");
			await put("run.json", { version: "this checkout", found, ...schedule });
		}
		return folder;
	}

	async #open(): Promise<string> {
		this.#folder ??=
			this.#keep ??
			(await mkdtemp(join(tmpdir(), `corkboard-attack-${this.#world}-`)));
		await mkdir(this.#folder, { recursive: true });
		return this.#folder;
	}
}

/** When something goes wrong, and for how long. Milliseconds since the beginning. */
export interface TimedFault {
	readonly at: number;
	readonly ms: number;
}

/** Does each fault at its time. Those of one lane follow each other, however long each takes; null: it has no lane. */
export async function playSchedule<Fault extends TimedFault>(
	faults: readonly Fault[],
	inject: (fault: Fault) => Promise<void>,
	{
		signal,
		laneOf = () => null,
	}: {
		/** Ends it: what has begun is waited for. */
		readonly signal: AbortSignal;
		readonly laneOf?: (fault: Fault) => string | null;
	},
): Promise<void> {
	const began = performance.now();
	const lanes = new Map<string, Promise<void>>();
	const running: Promise<void>[] = [];
	for (const fault of faults) {
		const ms = began + fault.at - performance.now();
		if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => {});
		if (signal.aborted) break;
		const lane = laneOf(fault);
		const before = lane === null ? undefined : lanes.get(lane);
		const done = (async () => {
			await before;
			if (!signal.aborted) await inject(fault);
		})();
		// Waited for at the end, with what it fails with.
		done.catch(() => {});
		running.push(done);
		if (lane !== null) lanes.set(lane, done);
	}
	await Promise.all(running);
}
