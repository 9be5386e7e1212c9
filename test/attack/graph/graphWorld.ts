import { UsageError } from "../../../tools/namedProgram.ts";
import {
	count,
	flag,
	type Given,
	number,
	text,
} from "../../../tools/programOptions.ts";
import type { SHARED, Trial, World } from "../world.ts";
import { attack, type Options } from "./attack.ts";
import { type AppOptions, attackApp } from "./attackApp.ts";
import {
	type RecordedRun,
	readRecordedRun,
	recordedRuns,
} from "./recordedRuns.ts";
import { summary } from "./report.ts";
import type { Fault } from "./schedule.ts";

const OPTIONS = {
	minutes: number(
		"how long the attack lasts",
		{ standard: 1, least: 0.1 },
		"M",
	),
	servers: count("server processes", { standard: 3, least: 2 }),
	clients: count("clients", { standard: 14, least: 1 }),
	violations: count("end after so many violations", { standard: 1, least: 1 }),
	app: text(
		"attack the app in this folder: with random operations of its schema, and without a model",
		"DIR",
	),
	schedule: text(
		"repeat the faults of a failed run instead, from the run.json that it kept",
		"FILE",
	),
	known: flag(
		"repeat the faults of all runs in test/attack/graph/recorded/ instead",
	),
};

type GraphOptions = Given<typeof OPTIONS & typeof SHARED>;

export const world: World<typeof OPTIONS> = {
	name: "graph",
	about:
		"Attacks a fleet of real servers with faults and random clients, and compares all that it shows with a model.",
	options: OPTIONS,
	trials: (given) =>
		given.app === null
			? runsOf(given).map(trialOf)
			: [trialOfApp({ ...given, app: given.app })],
};

interface Run extends Options {
	readonly name: string;
	/** Absent: by the seed. */
	readonly faults?: readonly Fault[];
}

/** What a command line asks for. */
export function runsOf(given: GraphOptions): readonly Run[] {
	const { seed, minutes, servers, clients, violations, schedule } = given;
	const options: Options = { seed, minutes, servers, clients, violations };
	const recorded = ([name, run]: readonly [string, RecordedRun]): Run => ({
		...options,
		...run,
		name: `${name}: `,
	});
	if (given.known && schedule !== null) {
		throw new UsageError("--known and --schedule exclude each other.");
	}
	if (given.known) return [...recordedRuns()].map(recorded);
	return schedule === null
		? [{ ...options, name: "" }]
		: [recorded([schedule, readRecordedRun(schedule)])];
}

function trialOfApp(options: AppOptions): Trial {
	return {
		title: `${options.app}: seed ${options.seed}, ${options.minutes} min`,
		run: (context) => attackApp(options, context),
	};
}

function trialOf({ name, faults, ...run }: Run): Trial {
	return {
		title: `${name}seed ${run.seed}, ${run.minutes} min`,
		async run(context) {
			const { schedule, ...result } = await attack(run, {
				...context,
				...(faults && { faults }),
			});
			const { seed, minutes, servers, clients } = run;
			return {
				report: result,
				lines: summary(result),
				broken: result.violations.map(({ promised }) => promised),
				schedule: { seed, minutes, servers, clients, faults: schedule },
			};
		},
	};
}
