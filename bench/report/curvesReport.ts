import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CURVE_ROWS, type CurvePoint } from "../curves.ts";
import { VARIANTS } from "../variants.ts";
import { type LinePanel, lineChart, short } from "./svg.ts";

const CURVES: Readonly<
	Record<CurvePoint["curve"], { title: string; x: string }>
> = {
	length: { title: "A page of 20 of a longer list", x: "pins on the board" },
	depth: { title: "A deeper query, 3 per list", x: "rows asked for" },
	shards: { title: "More shards, Q2 and Q3", x: "shards" },
	graph: { title: "A larger graph, Q2 and Q3", x: "times the graph" },
};
const COLORS = ["#2da44e", "#bf8700", "#0969da", "#8250df"];
/** Noise between the first and the last point of a curve; growth with the rows is far above it. */
const NOISE = 2;

/** Below this much of it, the database's CPU of a request is noise. Milliseconds. */
const LEAST_MS = 0.1;

/** Where the CPU of the server or of the database grows faster than the rows asked for. */
export function growthFaults(
	what: string,
	group: readonly CurvePoint[],
): readonly string[] {
	const first = group[0] as CurvePoint;
	const last = group.at(-1) as CurvePoint;
	const rows = last.rows / first.rows;
	const kinds = [
		["CPU", last.cell.cpuMs / first.cell.cpuMs],
		[
			"database's CPU",
			last.cell.databaseMs / Math.max(LEAST_MS, first.cell.databaseMs),
		],
	] as const;
	return kinds.flatMap(([kind, growth]) =>
		growth > rows * NOISE
			? [
					`${what}: ${growth.toFixed(1)} times the ${kind} from ${first.x} to ${last.x}, for ${rows.toFixed(1)} times the rows`,
				]
			: [],
	);
}

/** The curves as tables and a plot. Answers what grows faster than the rows asked for. */
export function writeCurves(
	points: readonly CurvePoint[],
	folder: string,
): readonly string[] {
	const faults: string[] = [];
	const panels: LinePanel[] = [];
	const lines: string[] = [
		"# How the cost of a request grows",
		"",
		"CPU of the server process and of the database per request, the median of three rounds. Nothing may grow faster than the rows that a request asks for.",
		"",
		"![Curves](curves.svg)",
		"",
	];
	for (const [curve, { title, x }] of Object.entries(CURVES)) {
		const own = points.filter((point) => point.curve === curve);
		if (own.length === 0) continue;
		lines.push(
			`## ${title}`,
			"",
			`| server | ${x} | rows | CPU ms | database CPU ms | p50 ms |`,
			"|---|---:|---:|---:|---:|---:|",
		);
		const groups = Map.groupBy(own, ({ cell }) => {
			const [what = ""] = cell.question.split(" ");
			const server = VARIANTS[cell.variant].title.replace("Corkboard, ", "");
			return `${server}${/^q\d/.test(what) ? `, ${what}` : ""}`;
		});
		for (const [name, group] of groups) {
			for (const { x: at, rows, cell } of group) {
				lines.push(
					`| ${name} | ${at} | ${rows} | ${short(cell.cpuMs)} | ${short(cell.databaseMs)} | ${short(cell.p50)} |`,
				);
			}
			faults.push(...growthFaults(`${title}, ${name}`, group));
		}
		lines.push("");
		panels.push({
			title,
			x,
			y: "CPU ms",
			lines: [...groups].map(([label, group], n) => ({
				label,
				color: COLORS[n % COLORS.length] as string,
				points: group.map(
					(point) =>
						[
							curve === "depth" ? point.rows : point.x,
							point.cell.cpuMs,
						] as const,
				),
			})),
		});
	}
	lines.push(
		faults.length === 0
			? "Nothing grew faster than the rows asked for."
			: faults.map((fault) => `- ${fault}`).join("\n"),
		"",
	);
	writeFileSync(join(folder, "curves.md"), lines.join("\n"));
	writeFileSync(
		join(folder, "curves.svg"),
		lineChart(`CPU per request (${CURVE_ROWS.length} servers)`, panels),
	);
	writeFileSync(
		join(folder, "curves.json"),
		`${JSON.stringify(points, null, "\t")}\n`,
	);
	return faults;
}
