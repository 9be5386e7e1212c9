import { SYSTEM_NAMES, type SystemName } from "../systems.ts";
import { blocks } from "./blocks.ts";
import { bodies } from "./bodies.ts";
import { burnDown } from "./burnDown.ts";
import { idle } from "./idle.ts";
import { life } from "./life.ts";
import type { Load } from "./load.ts";
import type { LoadName } from "./names.ts";
import { snapshot } from "./snapshot.ts";
import { steady } from "./steady.ts";

const HINTED = SYSTEM_NAMES.filter((name) => name !== "corkboard-nohints");
/** One of each kind: what is asked does not depend on batching or flushes. */
const ONE_EACH: readonly SystemName[] = [
	"corkboard",
	"graphile",
	"pgboss",
	"bullmq",
	"pinlater-2015",
	"seed-2020",
];
const TOMORROW_MS = 86_400_000;
/** The most jobs of the loads that compare with `burn`. */
const MOST_JOBS = 50_000;

const LOADS: Readonly<Record<LoadName, Load>> = {
	burn: {
		title: "Burn down trivial jobs",
		systems: HINTED,
		variants: [""],
		run: (context) =>
			burnDown(context, { jobs: context.options.jobs, bytes: 100 }),
	},
	steady: {
		title: "A steady 500 jobs per second: from acknowledged enqueue to start",
		systems: SYSTEM_NAMES,
		variants: [""],
		run: (context) => steady(context, context.options.seconds),
	},
	bodies: {
		title: "Bytes written to logs per job, by size of the body",
		systems: ONE_EACH,
		variants: ["200 B", "2 KB", "16 KB"],
		once: true,
		run: (context, variant) =>
			bodies(context, { "200 B": 200, "2 KB": 2_000 }[variant] ?? 16_000),
	},
	backlog: {
		title: "Burn down beside a backlog of jobs that wait",
		systems: ONE_EACH,
		variants: [""],
		once: true,
		run: (context) =>
			burnDown(context, {
				jobs: Math.min(context.options.jobs, MOST_JOBS),
				bytes: 100,
				others: { count: context.options.backlog },
			}),
	},
	delayed: {
		title: "Burn down beside jobs of a higher priority that are due tomorrow",
		systems: ONE_EACH,
		variants: [""],
		once: true,
		run: (context) =>
			burnDown(context, {
				jobs: Math.min(context.options.jobs, MOST_JOBS),
				bytes: 100,
				others: {
					count: context.options.backlog,
					delayMs: TOMORROW_MS,
					priority: 1,
				},
			}),
	},
	idle: {
		title: "Eight idle workers of ten queues: CPU, percent of a core",
		systems: [...ONE_EACH.slice(0, 5), "corkboard-nohints"],
		variants: [""],
		once: true,
		run: (context) => idle(context, context.options.seconds),
	},
	life: {
		title:
			"Disk over 36 hours that take seconds each, of which the first is a burst",
		systems: ["corkboard", "pinlater-2015"],
		variants: [""],
		once: true,
		run: life,
	},
	blocks: {
		title: "A handler that keeps its event loop busy, beside a second worker",
		systems: ["corkboard", "graphile", "pgboss", "bullmq"],
		variants: [""],
		once: true,
		run: (context) => blocks(context, context.options.blockSeconds),
	},
	snapshot: {
		title: "A snapshot held open at a steady 500 jobs per second",
		systems: ["corkboard", "graphile", "pgboss", "pinlater-2015", "seed-2020"],
		variants: [""],
		once: true,
		run: (context) => snapshot(context, context.options.snapshotMinutes),
	},
};

export function loadOf(name: LoadName): Load {
	return LOADS[name];
}
