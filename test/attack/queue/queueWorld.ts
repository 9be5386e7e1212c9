import { readFileSync } from "node:fs";
import { count, text } from "../../../tools/programOptions.ts";
import type { World } from "../world.ts";
import { type AttackOptions, attackQueue } from "./attackQueue.ts";
import { type Fault, SUBJECTS } from "./schedule.ts";

const OPTIONS = {
	seeds: count("so many runs, with seeds that follow each other", {
		standard: 1,
		least: 1,
	}),
	seconds: count(
		"how long each run is attacked",
		{ standard: 60, least: 5 },
		"S",
	),
	schedule: text(
		"repeat the faults of a failed run instead, from the run.json that it kept",
		"FILE",
	),
};

export const world: World<typeof OPTIONS> = {
	name: "queue",
	about: `Runs workers and producers of jobs on two MySQL servers and a Redis, kills and stops all of them at random,
and compares what ran with what was acknowledged. Hours last seconds, so that rotation runs too.`,
	options: OPTIONS,
	trials({ seed: first, seeds, seconds, schedule }) {
		const runs: readonly AttackOptions[] =
			schedule !== null
				? [readRun(schedule)]
				: Array.from({ length: seeds }, (_, nth) => ({
						seed: first + nth,
						seconds,
						faults: null,
					}));
		return runs.map((run) => ({
			title: `seed ${run.seed}, ${run.seconds} s`,
			async run(context) {
				const { report, evidence } = await attackQueue(run, context);
				const { violations } = report;
				return {
					report: violations.length > 0 ? { ...report, ...evidence } : report,
					lines: [JSON.stringify(report, null, "\t")],
					broken: violations,
					schedule: {
						seed: run.seed,
						seconds: run.seconds,
						faults: evidence.faults,
					},
				};
			},
		}));
	},
};

/** Throws a sentence if the file is not a run of this attack. */
function readRun(file: string): AttackOptions {
	const { seed, seconds, faults } = JSON.parse(
		readFileSync(file, "utf8"),
	) as AttackOptions & { readonly faults: unknown };
	const isFault = ({ subject, kind, at, ms }: Fault) =>
		SUBJECTS.includes(subject) &&
		["freeze", "kill", "stop"].includes(kind) &&
		at >= 0 &&
		ms >= 0;
	const isRun =
		Number.isInteger(seed) &&
		seconds > 0 &&
		Array.isArray(faults) &&
		faults.every(isFault);
	if (isRun) return { seed, seconds, faults };
	throw new Error(`${file} is not the run.json of an attack on the queue.`);
}
