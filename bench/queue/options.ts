import { parseArgs } from "node:util";
import { numberOf, UsageError } from "../../tools/namedProgram.ts";
import { LOAD_NAMES, type LoadName } from "./loads/names.ts";
import type { Flush } from "./servers.ts";
import { SYSTEM_NAMES, type SystemName } from "./systems.ts";

export interface Options {
	readonly systems: readonly SystemName[];
	readonly loads: readonly LoadName[];
	readonly rounds: number;
	/** After which no measurement begins. */
	readonly minutes: number;
	/** Jobs of `burn`. */
	readonly jobs: number;
	/** The length of `steady` and `idle`. */
	readonly seconds: number;
	/** Jobs that wait in backlog and delayed. */
	readonly backlog: number;
	readonly blockSeconds: number;
	readonly snapshotMinutes: number;
	/** Jobs of life: of an hour, and of the first one. */
	readonly lifeJobs: number;
	readonly lifeBurst: number;
	readonly flush: Flush;
	readonly out: string;
	readonly json: boolean;
	/** Folders with results to show in the documentation; nothing is measured then. */
	readonly publish: readonly string[];
}

export const USAGE = `usage: npm run bench -- queue [options]

  --quick            90 seconds: few jobs, one round, the most important systems
  --loads NAMES      separated by commas: ${LOAD_NAMES.join(" ")}
  --systems NAMES    separated by commas: ${SYSTEM_NAMES.join(" ")}
  --rounds N         (default 3; with --quick 1)
  --minutes N        begin no measurement after so long (default 60; 1.3)
  --jobs N           of burn (default 200000; 5000)
  --seconds N        of steady and idle (default 20; 5)
  --backlog N        jobs that wait in backlog and delayed (default 1000000)
  --block N          seconds that the handler of blocks keeps its event loop busy (default 120)
  --snapshot N       minutes that snapshot holds one open (default 10)
  --life N           jobs that life enqueues in an hour (default 1200)
  --burst N          and in its first (default 20000)
  --flush KIND       relaxed: commits are on disk within a second (default);
                     strict: before they are acknowledged
  --out FOLDER       where results go (default data/bench/queue-<time>)
  --publish FOLDERS  make the results in these folders, separated by commas, those of
                     bench/results/queue.md, and measure nothing
  --json             print the results as JSON at the end

Ctrl-C ends it: what was measured is kept, and the report is made of it.`;

const QUICK_SYSTEMS: readonly SystemName[] = [
	"corkboard",
	"graphile",
	"bullmq",
	"pinlater-2015",
	"seed-2020",
];

export function readOptions(args: readonly string[]): Options {
	const { values } = parse(args);
	const quick = values.quick === true;
	const { flush = "relaxed" } = values;
	if (flush !== "relaxed" && flush !== "strict") {
		throw new UsageError(`--flush must be relaxed or strict, got ${flush}.`);
	}
	return {
		systems: namesOf(
			"systems",
			values.systems,
			SYSTEM_NAMES,
			quick ? QUICK_SYSTEMS : SYSTEM_NAMES,
		),
		loads: namesOf(
			"loads",
			values.loads,
			LOAD_NAMES,
			quick ? ["burn", "steady"] : LOAD_NAMES,
		),
		rounds: numberOf("rounds", values.rounds, quick ? 1 : 3, 1),
		minutes: numberOf("minutes", values.minutes, quick ? 1.3 : 60),
		jobs: numberOf("jobs", values.jobs, quick ? 5_000 : 200_000, 1),
		seconds: numberOf("seconds", values.seconds, quick ? 5 : 20, 1),
		backlog: numberOf("backlog", values.backlog, 1_000_000),
		blockSeconds: numberOf("block", values.block, 120, 1),
		snapshotMinutes: numberOf("snapshot", values.snapshot, 10, 2),
		lifeJobs: numberOf("life", values.life, 1_200, 1),
		lifeBurst: numberOf("burst", values.burst, 20_000, 1),
		flush,
		out:
			values.out ?? `data/bench/queue-${new Date().toISOString().slice(0, 19)}`,
		json: values.json === true,
		publish: (values.publish ?? "").split(",").filter((name) => name !== ""),
	};
}

function parse(args: readonly string[]) {
	return parseArgs({
		args: [...args],
		options: {
			quick: { type: "boolean" },
			loads: { type: "string" },
			systems: { type: "string" },
			rounds: { type: "string" },
			minutes: { type: "string" },
			jobs: { type: "string" },
			seconds: { type: "string" },
			backlog: { type: "string" },
			block: { type: "string" },
			snapshot: { type: "string" },
			life: { type: "string" },
			burst: { type: "string" },
			flush: { type: "string" },
			out: { type: "string" },
			publish: { type: "string" },
			json: { type: "boolean" },
		},
	});
}

function namesOf<Name extends string>(
	option: string,
	text: string | undefined,
	known: readonly Name[],
	otherwise: readonly Name[],
): readonly Name[] {
	if (text === undefined) return otherwise;
	const names = text.split(",").filter((name) => name !== "");
	const unknown = names.filter((name) => !known.includes(name as Name));
	if (unknown.length > 0 || names.length === 0) {
		throw new UsageError(
			`--${option} knows no ${unknown.join(", ") || "name that is empty"}. Known: ${known.join(" ")}.`,
		);
	}
	return known.filter((name) => names.includes(name));
}
