import { spreadOf } from "../report/statistics.ts";
import type { Garbage } from "./garbage.ts";
import type { Measured } from "./measure.ts";
import type { Contender } from "./systems.ts";

type Column = Pick<Contender, "title" | "isOurs">;

/** One measurement. */
export interface Cell extends Measured {
	/** What was asked for; cells of one row and round are compared. */
	readonly row: string;
	readonly round: number;
	readonly title: string;
}

export interface SignedResults {
	readonly seed: number;
	/** When it ended, in UTC. */
	readonly at: string;
	readonly about: string;
	readonly contenders: readonly Column[];
	readonly blend: readonly Cell[];
	readonly half: readonly Cell[];
	readonly shapes: readonly Cell[];
	readonly garbage: Readonly<Record<string, Garbage>>;
}

/** Tables of the parts that were measured, and of no others. */
export function reportOf({
	blend,
	half,
	shapes,
	garbage,
	contenders,
}: SignedResults): string {
	const tables = [
		blend.length > 0 && cpuTable("CPU a request, ms", blend, contenders),
		blend.length > 0 && latencyTable("closed loop", blend),
		half.length > 0 && latencyTable("half of what it carries", half),
		Object.keys(garbage).length > 0 && garbageTable(garbage),
		shapes.length > 0 && cpuTable("CPU a request, ms", shapes, contenders),
		shapes.length > 0 && latencyTable("shapes", shapes),
	];
	return tables.filter((one) => one !== false).join("\n\n");
}

/** CPU by column, and for each of ours how many times as much the best peer takes, of each round. */
export function cpuTable(
	heading: string,
	cells: readonly Cell[],
	contenders: readonly Column[],
): string {
	const ours = contenders.filter(({ isOurs }) => isOurs);
	const peers = contenders.filter(({ isOurs }) => !isOurs);
	const isMeasured = ({ title }: Column) =>
		cells.some((cell) => cell.title === title);
	const columns = contenders.filter(isMeasured);
	const ratios = peers.some(isMeasured) ? ours : [];
	return table(
		[
			heading,
			...columns.map(({ title }) => title),
			...ratios.map(({ title }) => `best peer ÷ ${title}`),
		],
		rowsOf(cells).map((row) => {
			const of = cells.filter((cell) => cell.row === row);
			return [
				row,
				...columns.map(({ title }) =>
					spread(
						of.filter((cell) => cell.title === title).map(({ cpu }) => cpu),
					),
				),
				...ratios.map(({ title }) => spread(overBestPeer(of, title, peers), 2)),
			];
		}),
	);
}

/** For each round, the least CPU of a peer over this one's. */
export function overBestPeer(
	cells: readonly Cell[],
	title: string,
	peers: readonly Column[],
): readonly number[] {
	return cells
		.filter((cell) => cell.title === title)
		.flatMap(({ round, cpu }) => {
			const theirs = cells.filter(
				(cell) =>
					cell.round === round &&
					peers.some((peer) => peer.title === cell.title),
			);
			return theirs.length === 0
				? []
				: [Math.min(...theirs.map((cell) => cell.cpu)) / cpu];
		});
}

/** Requests a second, milliseconds, megabytes: a line for each server and row, medians of the rounds. */
export function latencyTable(heading: string, cells: readonly Cell[]): string {
	return table(
		[
			...[heading, "server", "requests/s"],
			...["reads p50 · p99, ms", "writes p50 · p99, ms"],
			...["CPU of the database, ms", "resident, MB", "refused · failed"],
		],
		rowsOf(cells).flatMap((row) => {
			const of = cells.filter((cell) => cell.row === row);
			const titles = [...new Set(of.map(({ title }) => title))];
			return titles.map((title) => {
				const all = of.filter((cell) => cell.title === title);
				const median = (value: (cell: Cell) => number, digits = 0) =>
					(spreadOf(all.map(value))?.median ?? 0).toFixed(digits);
				const hasWrites = all.some((cell) => cell.writes.p50 > 0);
				return [
					...[row, title, median(({ perSecond }) => perSecond)],
					`${median(({ reads }) => reads.p50, 1)} · ${median(({ reads }) => reads.p99, 1)}`,
					hasWrites
						? `${median(({ writes }) => writes.p50, 1)} · ${median(({ writes }) => writes.p99, 1)}`
						: "",
					median(({ databaseCpu }) => databaseCpu, 2),
					median(({ residentMb }) => residentMb),
					`${sum(all.map(({ refused }) => refused))} · ${sum(all.map(({ failed }) => failed))}`,
				];
			});
		}),
	);
}

export function garbageTable(
	garbage: Readonly<Record<string, Garbage>>,
): string {
	return table(
		[
			"share of the main thread that collects garbage",
			"profiled",
			"pauses",
			"collections/s",
		],
		Object.entries(garbage).map(([name, { profiled, paused, collections }]) => [
			name,
			`${(profiled * 100).toFixed(1)} %`,
			`${(paused * 100).toFixed(1)} %`,
			collections.toFixed(1),
		]),
	);
}

function sum(values: readonly number[]): number {
	return values.reduce((total, value) => total + value, 0);
}

export function rowsOf(cells: readonly Cell[]): readonly string[] {
	return [...new Set(cells.map(({ row }) => row))];
}

export function spread(values: readonly number[], digits = 3): string {
	const found = spreadOf(values);
	if (found === null) return "";
	const { median, least, most, count } = found;
	const text = median.toFixed(digits);
	return count === 1
		? text
		: `${text} [${least.toFixed(digits)}–${most.toFixed(digits)}]`;
}

export function table(
	head: readonly string[],
	rows: readonly (readonly string[])[],
): string {
	return [head, head.map((_, n) => (n === 0 ? "---" : "---:")), ...rows]
		.map((cells) => `| ${cells.join(" | ")} |`)
		.join("\n");
}
