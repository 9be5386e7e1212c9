import { spreadOf } from "../report/statistics.ts";
import type { Cell } from "./cell.ts";
import { type LoadName, loadOf } from "./loads/loads.ts";
import type { QueueResults } from "./results.ts";
import { infoOf, type SystemName } from "./systems.ts";

interface Column {
	readonly title: string;
	readonly value: (values: Cell["values"]) => number | undefined;
	readonly digits?: number;
}

const COLUMNS: Readonly<Record<LoadName, readonly Column[]>> = {
	burn: [
		{ title: "jobs/s", value: (values) => values.perSecond },
		{ title: "enqueued/s", value: (values) => values.enqueuedPerSecond },
		{ title: "worker CPU, ms/job", value: (values) => values.workerMs },
		{ title: "database CPU, ms/job", value: (values) => values.databaseMs },
		{
			title: "enqueue: producer CPU, ms/job",
			value: (values) => values.enqueueProducerMs,
		},
		{
			title: "enqueue: database CPU, ms/job",
			value: (values) => values.enqueueDatabaseMs,
		},
		{ title: "lost", value: (values) => values.lost },
		{ title: "run twice", value: (values) => values.repeats },
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
		error === undefined ? [] : [`- ${infoOf(system).title}: ${error}`],
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
