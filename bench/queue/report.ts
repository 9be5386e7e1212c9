import { spreadOf } from "../report/statistics.ts";
import type { Results } from "../results.ts";
import type { Cell } from "./cell.ts";
import { loadOf } from "./loads/loads.ts";
import type { LoadName } from "./loads/names.ts";
import type { Options } from "./options.ts";
import { infoOf, SYSTEM_NAMES, type SystemName } from "./systems.ts";

/** All of a run, as `results.json` has it. */
export interface QueueResults {
	readonly at: string;
	readonly machine: Results["machine"];
	readonly options: Options;
	readonly cells: readonly Cell[];
	/** What was not measured, and why. */
	readonly notes: readonly string[];
	/** Why the run ended early; null if it did not. */
	readonly ended: string | null;
}

interface Column {
	readonly title: string;
	readonly value: (values: Cell["values"]) => number | undefined;
	readonly digits?: number;
}

const named =
	(name: string): Column["value"] =>
	(values) =>
		values[name];

const CPU: readonly Column[] = [
	{ title: "worker CPU, ms/job", value: named("workerMs") },
	{ title: "database CPU, ms/job", value: named("databaseMs") },
];
const BURN: readonly Column[] = [
	{ title: "jobs/s", value: named("perSecond") },
	...CPU,
];

const COLUMNS: Readonly<Record<LoadName, readonly Column[]>> = {
	burn: [
		...BURN,
		{ title: "enqueued/s", value: named("enqueuedPerSecond") },
		{
			title: "enqueue: producer CPU, ms/job",
			value: named("enqueueProducerMs"),
		},
		{
			title: "enqueue: database CPU, ms/job",
			value: named("enqueueDatabaseMs"),
		},
		{ title: "lost", value: named("lost") },
		{ title: "run twice", value: named("repeats") },
	],
	steady: [
		{ title: "enqueued/s", value: named("enqueuedPerSecond") },
		{ title: "failed", value: named("failed") },
		{ title: "p50, ms", value: named("p50") },
		{ title: "p99, ms", value: named("p99") },
		{ title: "from the call: p50, ms", value: named("p50Call") },
		{ title: "p99, ms", value: named("p99Call") },
		...CPU,
	],
	bodies: [
		{ title: "log: enqueue, bytes/job", value: named("enqueueLog") },
		{ title: "claim and ack", value: named("runLog") },
		{ title: "all", value: named("log") },
		{ title: "binary log, bytes/job", value: named("binlog") },
	],
	backlog: BURN,
	delayed: BURN,
	idle: [
		{ title: "database, %", value: named("databasePercent") },
		{ title: "the eight workers, %", value: named("workersPercent") },
	],
	life: [
		{ title: "hours", value: named("hours") },
		{ title: "files at most, MB", value: named("mostMegabytes") },
		{
			title: "an hour after the burst ÷ kept",
			value: named("ratioAfterBurst"),
		},
		{
			title: "an hour after it is no longer kept ÷ kept",
			value: named("ratioAfterKeep"),
		},
		{ title: "at the end ÷ kept", value: named("ratioEnd") },
		{ title: "disk over time, GB × hours", value: named("gigabyteHours") },
		{ title: "jobs not run", value: named("lost") },
	],
	blocks: [
		{ title: "blocked for, s", value: named("seconds") },
		{ title: "starts of the job", value: named("starts") },
	],
	snapshot: [
		{ title: "minutes", value: named("minutes") },
		{ title: "burst after the first, jobs/s", value: named("rateFirst") },
		{ title: "after the last", value: named("rateLast") },
		{ title: "database CPU, ms/job: first", value: named("databaseMsFirst") },
		{ title: "last minute", value: named("databaseMsLast") },
		{ title: "p99, ms: first", value: named("p99First") },
		{ title: "last minute", value: named("p99Last") },
	],
};

/** The results as Markdown: a table for each load. */
export function writeReport(results: QueueResults): string {
	const { machine, options, cells, notes, ended } = results;
	const loads = options.loads.filter((load) =>
		cells.some((cell) => cell.load === load),
	);
	const systems = options.systems.filter((system) =>
		cells.some((cell) => cell.system === system),
	);
	return `${[
		"# The queue beside its peers",
		"",
		`Measured ${results.at.slice(0, 10)} on ${machine.cores} cores (${machine.model}), Node ${machine.node}, flush ${options.flush}, ${options.jobs.toLocaleString("en-US")} jobs. ${loadText(cells)}`,
		...(ended === null ? [] : ["", `It was ended early: ${ended}.`]),
		...notes.flatMap((note) => ["", note]),
		...loads.flatMap((load) => ["", ...tableOf(load, cells)]),
		...ratiosOf(cells),
		"",
		"## How each is set up",
		"",
		...systems.map(
			(name) => `- ${infoOf(name).title}: ${infoOf(name).settings}`,
		),
	].join("\n")}\n`;
}

function loadText(cells: readonly Cell[]): string {
	const load = spreadOf(cells.map(({ loadAverage }) => loadAverage));
	if (load === null) return "";
	return `Load of the machine ${load.least.toFixed(1)} to ${load.most.toFixed(1)}: beyond the cores, rates mean little, and CPU per job is what can be compared.`;
}

function tableOf(load: LoadName, all: readonly Cell[]): readonly string[] {
	const { title, variants } = loadOf(load);
	const columns = COLUMNS[load];
	const cells = all.filter((cell) => cell.load === load);
	const rows = variants.flatMap((variant) => {
		const some = cells.filter((cell) => cell.variant === variant);
		const systems = [...new Set(some.map(({ system }) => system))];
		return systems.map((system) => {
			const own = some.filter((cell) => cell.system === system);
			return `| ${nameOf(system, variant)} | ${columns.map((column) => textOf(column, own)).join(" | ")} |`;
		});
	});
	const failures = cells.flatMap(({ system, error }) =>
		error === undefined
			? []
			: [`- ${infoOf(system).title}: ${error.split("\n", 1)[0]}`],
	);
	return [
		`## ${title}`,
		"",
		`| | ${columns.map((column) => column.title).join(" | ")} |`,
		`|---|${columns.map(() => "---:|").join("")}`,
		...rows,
		...(failures.length === 0 ? [] : ["", ...failures]),
	];
}

/** For each peer, Corkboard's rate over its own, and the CPU of both over Corkboard's. */
function ratiosOf(all: readonly Cell[]): readonly string[] {
	const cells = all.filter(({ load }) => load === "burn");
	const median = (system: SystemName, value: Column["value"]) =>
		spreadOf(
			cells
				.filter((cell) => cell.system === system)
				.flatMap(({ values }) => value(values) ?? []),
		)?.median;
	const rate = named("perSecond");
	const cpu: Column["value"] = ({ workerMs, databaseMs }) =>
		workerMs === undefined || databaseMs === undefined
			? undefined
			: workerMs + databaseMs;
	const ownRate = median("corkboard", rate);
	const ownCpu = median("corkboard", cpu);
	if (ownRate === undefined || ownCpu === undefined) return [];
	const peers = SYSTEM_NAMES.filter(
		(name) => name !== "corkboard" && median(name, rate) !== undefined,
	);
	if (peers.length === 0) return [];
	const rows = peers.map((name) => {
		const rates = ownRate / (median(name, rate) ?? Number.NaN);
		const cpus = (median(name, cpu) ?? Number.NaN) / ownCpu;
		return `| ${infoOf(name).title} | ${spelled(rates)} × | ${spelled(cpus)} × |`;
	});
	return [
		"",
		"## Corkboard and each of them, burning down",
		"",
		"| | Corkboard's rate ÷ its rate | its CPU per job ÷ Corkboard's |",
		"|---|---:|---:|",
		...rows,
	];
}

function nameOf(system: SystemName, variant: string): string {
	const { title } = infoOf(system);
	return variant === "" ? title : `${title}, ${variant}`;
}

/** The median, with the least and the most where there are several. */
function textOf({ value }: Column, cells: readonly Cell[]): string {
	const spread = spreadOf(cells.flatMap(({ values }) => value(values) ?? []));
	if (spread === null) return "";
	const { median, least, most } = spread;
	return least === most
		? spelled(median)
		: `${spelled(median)} (${spelled(least)}–${spelled(most)})`;
}

/** Three digits. */
function spelled(value: number): string {
	if (value >= 1_000) {
		return Number(value.toPrecision(3)).toLocaleString("en-US");
	}
	return String(Number(value.toPrecision(3)));
}
