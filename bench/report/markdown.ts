import type { Cell } from "../cell.ts";
import { QUERY_NAMES } from "../queries.ts";
import type { Results } from "../results.ts";
import { VARIANT_NAMES, VARIANTS, type VariantName } from "../variants.ts";
import {
	cellsOf,
	over,
	overBestPeer,
	type Spread,
	spreadOf,
} from "./statistics.ts";
import { short } from "./svg.ts";

/** Where the project wants to arrive: CPU of the best peer over its own, Q1 to Q4. */
const GOALS: Readonly<
	Record<string, Partial<Readonly<Record<VariantName, readonly number[]>>>>
> = {
	reads: {
		text: [1.5, 3, 3.5, 3],
		known: [4, 5, 6, 5],
		get: [4, 5, 6, 5],
		uncached: [1.3, 2, 2, 2],
		mysql: [0.9, 1, 0.9, 0.9],
		sqlite: [0.9, 1, 0.9, 0.9],
	},
	hot: { known: [5, 8, 8, 8], get: [5, 8, 8, 8] },
	misses: { missed: [2.5, 3, 2, 2], mysql: [1.5, 1.5, 1, 1] },
	cold: { text: [0.9, 1, 0.9, 0.9], known: [0.9, 1, 0.9, 0.9] },
};
const OVER_DRIZZLE = [4, 7, 10, 10];

const READ_SECTIONS: Readonly<Record<string, string>> = {
	reads: "Zipf keys, 32 connections",
	hot: "30 keys over and over, 32 connections",
	many: "Zipf keys, 128 connections",
	misses:
		"Uniform keys, which an in-process cache of 8 MB misses, 32 connections",
	cold: "All caches empty, every key once, 32 connections",
};

/** The report of a run. Tables of the sections that were measured, and of no others. */
export function writeReport(
	results: Results,
	charts: readonly string[],
): string {
	const { cells } = results;
	return [
		"# Corkboard beside its peers",
		"",
		...introduction(results),
		...charts.flatMap((file) => [`![CPU per request](${file})`, ""]),
		...Object.entries(READ_SECTIONS).flatMap(([section, title]) =>
			cells.some((cell) => cell.section === section)
				? readTables(cells, section, title)
				: [],
		),
		...otherTables(cells),
		...factTable(results),
	].join("\n");
}

function introduction({
	at,
	machine,
	options,
	graph,
	notes,
	ended,
	cells,
}: Results): readonly string[] {
	const errors = cells.reduce((sum, cell) => sum + cell.errors, 0);
	const stolen = spreadOf(cells.map((cell) => cell.stolen));
	const size = Object.entries(graph)
		.map(([name, count]) => `${count.toLocaleString("en-US")} ${name}`)
		.join(", ");
	return [
		`${at.slice(0, 16).replace("T", " ")} UTC · ${machine.cores} cores (${machine.model}), ${machine.pinned ? "the server under test alone on one of them" : "shared by all processes"} · Node ${machine.node}`,
		"",
		`Graph: ${size}; seed ${options.seed}, ${options.shards} shards. ${options.seconds} s per measurement, ${options.warmMinutes} minutes of mixed load before the first.`,
		"",
		"All servers gave equal answers before they were measured. CPU is that of the server process, from the operating system, per request;",
		"`×` is the least CPU of a peer (Mercurius, PostGraphile, Yoga, Drizzle) in the same round over its own: above 1 is cheaper than every",
		"peer. Medians, with the least and the most of the rounds in brackets.",
		"",
		`${cells.length} measurements, ${errors} errors; at most ${((stolen?.most ?? 0) * 100).toFixed(1)} % of the machine's time went to its neighbors.${ended === null ? "" : ` The run was ${ended}.`}`,
		"",
		...notes.flatMap((note) => [note, ""]),
	];
}

function readTables(
	cells: readonly Cell[],
	section: string,
	title: string,
): readonly string[] {
	const rows = VARIANT_NAMES.filter((name) =>
		cells.some((cell) => cell.section === section && cell.variant === name),
	);
	const own = rows.filter((name) => VARIANTS[name].server.kind === "corkboard");
	const columns = QUERY_NAMES.map((name) => name.toUpperCase());
	const table = (
		caption: string,
		names: readonly VariantName[],
		cell: (name: VariantName, query: string, column: number) => string,
	) => [
		`| ${caption} | ${columns.join(" | ")} |`,
		`|---|${columns.map(() => "---:|").join("")}`,
		...names.map(
			(name) =>
				`| ${VARIANTS[name].title} | ${QUERY_NAMES.map((query, column) => cell(name, query, column)).join(" | ")} |`,
		),
		"",
	];
	const at = (query: string) => cellsOf(cells, section, query);
	return [
		`## ${title}`,
		"",
		...table("× the best peer, CPU (goal)", own, (name, query, column) => {
			const goal = GOALS[section]?.[name]?.[column];
			return withGoal(ratio(overBestPeer(at(query), name)), goal);
		}),
		...(section === "reads" && rows.includes("drizzle")
			? table(
					"× Apollo + DataLoader + Drizzle, CPU (goal)",
					own.filter((name) => name === "text" || name === "known"),
					(name, query, column) =>
						withGoal(
							ratio(over(at(query), name, "drizzle")),
							OVER_DRIZZLE[column],
						),
				)
			: []),
		...table("× the best peer, p99 (goal: 1)", own, (name, query) =>
			ratio(overBestPeer(at(query), name, "p99")),
		),
		...(section === "reads" && rows.includes("known")
			? table(
					"CPU of a known document by POST ÷ own (goal: 0.85)",
					own.filter((name) => name === "token" || name === "gzip"),
					(name, query) => ratio(over(at(query), name, "known")),
				)
			: []),
		...table("CPU ms per request", rows, (name, query) =>
			spread(
				spreadOf(
					at(query)
						.filter(({ variant }) => variant === name)
						.map(({ cpuMs }) => cpuMs),
				),
			),
		),
		...table("requests/s · p50 · p99 ms", rows, (name, query) => {
			const found = at(query).filter(({ variant }) => variant === name);
			const median = (of: (cell: Cell) => number) =>
				short(spreadOf(found.map(of))?.median ?? 0);
			return found.length === 0
				? ""
				: `${median(({ requests, seconds }) => requests / seconds)} · ${median(({ p50 }) => p50)} · ${median(({ p99 }) => p99)}`;
		}),
		...table("database · cache CPU ms · MB resident", rows, (name, query) => {
			const found = at(query).filter(({ variant }) => variant === name);
			const median = (of: (cell: Cell) => number) =>
				short(spreadOf(found.map(of))?.median ?? 0);
			return found.length === 0
				? ""
				: `${median(({ databaseMs }) => databaseMs)} · ${median(({ cacheMs }) => cacheMs)} · ${median(({ residentMb }) => residentMb)}`;
		}),
		...figuresOf(cells.filter((cell) => cell.section === section)).flatMap(
			(figure) =>
				table(`${figure} a request`, rows, (name, query) =>
					spread(
						spreadOf(
							at(query).flatMap(({ variant, figures }) =>
								variant === name ? (figures?.[figure] ?? []) : [],
							),
						),
					),
				),
		),
	];
}

const OTHER_SECTIONS: Readonly<Record<string, string>> = {
	pages: "Pages of 50 of the longest board, one connection",
	writes: "Writes with a token",
	durable: "Writes with a token, each commit on disk before it is acknowledged",
	hotBoard:
		"One board that 70 % of reads ask for, half of them signed in, 32 connections",
	mix: "LinkBench's mix of reads and writes, 16 connections",
};

function otherTables(cells: readonly Cell[]): readonly string[] {
	return Object.entries(OTHER_SECTIONS).flatMap(([section, title]) => {
		const own = cells.filter((cell) => cell.section === section);
		if (own.length === 0) return [];
		const figures = figuresOf(own);
		const rows = Map.groupBy(
			own,
			({ question, connections, variant }) =>
				`${question} | ${connections} | ${VARIANTS[variant].title}`,
		);
		return [
			`## ${title}`,
			"",
			`| | connections | server | requests/s | CPU ms | database CPU ms | p50 ms | p99 ms | ${figures.map((name) => `${name} | `).join("")}errors |`,
			`|---|---:|---|---:|---:|---:|---:|---:|${figures.map(() => "---:|").join("")}---:|`,
			...[...rows].map(([name, group]) => {
				const median = (of: (cell: Cell) => number) =>
					spread(spreadOf(group.map(of)));
				return `| ${name} | ${median(({ requests, seconds }) => requests / seconds)} | ${median(({ cpuMs }) => cpuMs)} | ${median(({ databaseMs }) => databaseMs)} | ${median(({ p50 }) => p50)} | ${median(({ p99 }) => p99)} | ${figures.map((name) => `${spread(spreadOf(group.flatMap((cell) => cell.figures?.[name] ?? [])))} | `).join("")}${group.reduce((sum, cell) => sum + cell.errors, 0)} |`;
			}),
			"",
		];
	});
}

function figuresOf(cells: readonly Cell[]): readonly string[] {
	return [
		...new Set(cells.flatMap(({ figures = {} }) => Object.keys(figures))),
	];
}

function factTable({ facts }: Results): readonly string[] {
	const entries = Object.entries(facts);
	if (entries.length === 0) return [];
	return [
		"## Also measured",
		"",
		"| | |",
		"|---|---:|",
		...entries.map(([name, value]) => `| ${name} | ${short(value)} |`),
		"",
	];
}

function ratio(found: Spread | null): string {
	if (found === null) return "";
	const { median, least, most, count } = found;
	return count === 1
		? `**${median.toFixed(2)}**`
		: `**${median.toFixed(2)}** [${least.toFixed(2)}–${most.toFixed(2)}]`;
}

function withGoal(text: string, goal: number | undefined): string {
	return text === "" || goal === undefined ? text : `${text} (${goal})`;
}

function spread(found: Spread | null): string {
	if (found === null) return "";
	const { median, least, most, count } = found;
	return count === 1
		? short(median)
		: `${short(median)} [${short(least)}–${short(most)}]`;
}
