/** What the drawing reads of a dashboard of deploy/grafana/. */
export interface DrawnDashboard {
	readonly title: string;
	readonly panels: readonly DrawnPanel[];
}

interface DrawnPanel {
	readonly type: string;
	readonly title: string;
	readonly gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>>;
	readonly fieldConfig: {
		readonly defaults: {
			readonly unit?: string;
			readonly min?: number;
			readonly max?: number;
			readonly custom?: { readonly stacking?: unknown };
			readonly thresholds?: {
				readonly steps: readonly {
					readonly color: string;
					readonly value: number | null;
				}[];
			};
		};
	};
	readonly targets: readonly {
		readonly expr: string;
		readonly legendFormat?: string;
	}[];
}

/** A line: seconds since 1970, and values. */
export interface Series {
	readonly labels: Readonly<Record<string, string>>;
	readonly points: readonly (readonly [at: number, value: number])[];
}

interface Line {
	readonly name: string;
	readonly points: Series["points"];
	readonly color: string;
}

interface Range {
	/** Seconds since 1970. */
	readonly from: number;
	readonly to: number;
}

/** A row of Grafana's grid, and a column of it, in pixels. */
const ROW = 34;
const COLUMN = 52;
const GAP = 8;
/** Names below a graph: more are counted. */
const MOST_NAMES = 6;
const COLORS = [
	"#73bf69",
	"#f2cc0c",
	"#8ab8ff",
	"#ff780a",
	"#f2495c",
	"#5794f2",
	"#b877d9",
	"#37872d",
	"#fade2a",
	"#c4162a",
];

/**
 * A page like Grafana's: the same panels at the same places, with their units,
 * limits and names. `ask` answers a query for the whole range.
 */
export async function drawDashboard(
	{ title, panels }: DrawnDashboard,
	{
		ask,
		from,
		to,
	}: Range & { ask(expression: string): Promise<readonly Series[]> },
): Promise<string> {
	const drawn: string[] = [];
	for (const panel of panels) {
		const lines: Line[] = [];
		for (const { expr, legendFormat } of panel.targets) {
			for (const { labels, points } of await ask(expr)) {
				const finite = points.filter(([, value]) => Number.isFinite(value));
				if (finite.length === 0) continue;
				lines.push({
					name: nameOf(labels, legendFormat),
					points: finite,
					color: COLORS[lines.length % COLORS.length] as string,
				});
			}
		}
		drawn.push(drawPanel(panel, lines, { from, to }));
	}
	const height = Math.max(
		...panels.map(({ gridPos: { y, h } }) => (y + h) * ROW),
	);
	return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style>
<h1>${escaped(title)} <small>${clock(from)} – ${clock(to)} UTC</small></h1>
<main style="height:${height}px">${drawn.join("")}</main>`;
}

const STYLE = `
body { margin: 0; padding: 10px 12px; background: #111217; color: #ccccdc; font: 12px sans-serif; width: ${24 * COLUMN + GAP}px; }
h1 { font-size: 18px; font-weight: 500; margin: 4px 0 10px; }
h1 small { float: right; color: #8e8e99; font-size: 12px; padding-top: 5px; }
main { position: relative; }
section { position: absolute; box-sizing: border-box; background: #181b1f; border: 1px solid #2c2e36; border-radius: 2px; overflow: hidden; }
h2 { font-size: 12.5px; font-weight: 500; margin: 7px 9px 2px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
svg { display: block; }
text { fill: #9a9aa5; font: 10px sans-serif; }
table { border-collapse: collapse; width: calc(100% - 18px); margin: 0 9px; table-layout: fixed; font-size: 10.5px; }
td { padding: 0; line-height: 14px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
td:not(:first-child) { width: 62px; text-align: right; color: #b0b0bb; }
i { display: inline-block; width: 12px; height: 3px; margin: 0 5px 3px 0; }
.stat { position: absolute; inset: 0; top: 26px; display: grid; place-items: center; font-size: 30px; font-weight: 500; color: #fff; }
.none { position: absolute; inset: 24px 0 0; display: grid; place-items: center; color: #6e6e78; }
`;

function drawPanel(
	panel: DrawnPanel,
	lines: readonly Line[],
	range: Range,
): string {
	const { x, y, w, h } = panel.gridPos;
	const width = w * COLUMN - GAP;
	const height = h * ROW - GAP;
	const isStat = panel.type === "stat";
	const background = isStat ? colorOf(panel, lines) : null;
	const style = [
		`left:${x * COLUMN}px`,
		`top:${y * ROW}px`,
		`width:${width}px`,
		`height:${height}px`,
		...(background === null ? [] : [`background:${background}`]),
	];
	const body =
		panel.type === "row"
			? ""
			: isStat
				? `<div class="stat">${lines.length === 0 ? "No data" : formatted(lastOf(lines[0] as Line), panel.fieldConfig.defaults.unit)}</div>`
				: lines.length === 0
					? '<div class="none">No data</div>'
					: drawGraph(panel, lines, range, { width, height: height - 26 });
	return `<section style="${style.join(";")}"><h2>${escaped(panel.title)}</h2>${body}</section>`;
}

function lastOf({ points }: Line): number {
	return points.at(-1)?.[1] ?? 0;
}

const STAT_COLORS: Readonly<Record<string, string>> = {
	green: "#1f6b2f",
	orange: "#a3540a",
	yellow: "#8a6d00",
	red: "#9c1f2e",
	blue: "#1f4f8b",
};

function colorOf(
	{ fieldConfig }: DrawnPanel,
	lines: readonly Line[],
): string | null {
	const [line] = lines;
	const { thresholds } = fieldConfig.defaults;
	if (line === undefined || thresholds === undefined) return null;
	const step = thresholds.steps.findLast(
		({ value }) => value === null || lastOf(line) >= value,
	);
	return STAT_COLORS[step?.color ?? ""] ?? null;
}

function drawGraph(
	{ fieldConfig: { defaults } }: DrawnPanel,
	lines: readonly Line[],
	{ from, to }: Range,
	{ width, height }: { readonly width: number; readonly height: number },
): string {
	const shown = lines
		.toSorted((a, b) => lastOf(b) - lastOf(a))
		.slice(0, MOST_NAMES);
	const names = shown.map(({ name, color, points }) => {
		const values = points.map(([, value]) => value);
		const cells = [values.at(-1) ?? 0, Math.max(...values)];
		return `<tr><td><i style="background:${color}"></i>${escaped(name)}</td>${cells.map((value) => `<td>${formatted(value, defaults.unit)}</td>`).join("")}</tr>`;
	});
	const more = lines.length - shown.length;
	const rows = names.length + 1 + (more > 0 ? 1 : 0);
	const box = {
		left: 58,
		top: 6,
		right: width - 10,
		bottom: height - 14 * rows - 26,
	};
	const isStacked = defaults.custom?.stacking !== undefined;
	const stacked = isStacked ? stack(lines) : lines;
	const values = stacked.flatMap(({ points }) => points.map(([, v]) => v));
	const low = defaults.min ?? Math.min(0, ...values);
	const unit = defaults.unit === "bytes" ? 1_024 ** 2 : 1;
	const high =
		defaults.max ?? unit * niceAbove(Math.max(...values) / unit, low / unit);
	const xOf = (at: number) =>
		box.left + ((at - from) / (to - from)) * (box.right - box.left);
	const yOf = (value: number) =>
		box.bottom - ((value - low) / (high - low)) * (box.bottom - box.top);
	const grid = [0, 1, 2, 3, 4].map((n) => {
		const value = low + ((high - low) * n) / 4;
		return `<path d="M${box.left} ${yOf(value)}H${box.right}" stroke="#2a2c33"/><text x="${box.left - 6}" y="${yOf(value) + 3}" text-anchor="end">${formatted(value, defaults.unit)}</text>`;
	});
	const times = [0, 1, 2, 3].map((n) => {
		const at = from + ((to - from) * (n + 0.5)) / 4;
		return `<text x="${xOf(at)}" y="${box.bottom + 14}" text-anchor="middle">${clock(at)}</text>`;
	});
	const gap = ((to - from) / 120) * 2.5;
	const paths = stacked.map(({ points, color }) => {
		let path = "";
		let before = Number.NEGATIVE_INFINITY;
		for (const [at, value] of points) {
			const verb = at - before > gap ? "M" : "L";
			path += `${verb}${xOf(at).toFixed(1)} ${yOf(value).toFixed(1)}`;
			before = at;
		}
		return `<path d="${path}" fill="none" stroke="${color}" stroke-width="1.3"/>`;
	});
	return `<svg width="${width}" height="${box.bottom + 20}">${grid.join("")}${times.join("")}${paths.join("")}</svg>
<table><tr><td></td><td>last</td><td>max</td></tr>${names.join("")}${more > 0 ? `<tr><td>and ${more} more</td></tr>` : ""}</table>`;
}

/** Each line on top of those before it. */
function stack(lines: readonly Line[]): readonly Line[] {
	const below = new Map<number, number>();
	return lines.map((line) => ({
		...line,
		points: line.points.map(([at, value]) => {
			const sum = (below.get(at) ?? 0) + value;
			below.set(at, sum);
			return [at, sum] as const;
		}),
	}));
}

/** A round number above: 1, 2 or 5 times a power of ten. */
function niceAbove(value: number, low: number): number {
	if (value <= low) return low + 1;
	const power = 10 ** Math.floor(Math.log10(value - low));
	const times = [1, 2, 4, 5, 8, 10].find((n) => low + n * power >= value) ?? 10;
	return low + times * power;
}

/** As Grafana names a series: the labels in its pattern, or all of them. */
function nameOf(labels: Series["labels"], pattern = ""): string {
	if (pattern !== "") {
		const name = pattern.replaceAll(
			/\{\{\s*(\w+)\s*\}\}/g,
			(_, label: string) => labels[label] ?? "",
		);
		return name.trim();
	}
	return Object.values(labels).join(" ") || "value";
}

/** A value with Grafana's name of its unit. */
function formatted(value: number, unit = "short"): string {
	const plain = (number: number) =>
		number === 0 ? "0" : String(Number(number.toPrecision(3)));
	if (unit === "percentunit") return `${plain(value * 100)}%`;
	if (unit === "s") {
		const size = Math.abs(value);
		if (size === 0) return "0 s";
		if (size < 0.001) return `${plain(value * 1e6)} µs`;
		if (size < 1) return `${plain(value * 1e3)} ms`;
		if (size < 120) return `${plain(value)} s`;
		return size < 7_200
			? `${plain(value / 60)} min`
			: `${plain(value / 3_600)} h`;
	}
	if (unit === "bytes") {
		const at = Math.min(3, Math.floor(Math.log2(Math.max(1, value)) / 10));
		return `${plain(value / 1_024 ** at)} ${["B", "KiB", "MiB", "GiB"][at]}`;
	}
	const suffix = unit === "reqps" ? " req/s" : unit === "ops" ? " /s" : "";
	const [shown, letter] =
		value >= 1e6
			? [value / 1e6, "M"]
			: value >= 1e4
				? [value / 1e3, "K"]
				: [value, ""];
	return `${plain(shown)}${letter}${suffix}`;
}

/** `12:34` */
function clock(at: number): string {
	return new Date(at * 1_000).toISOString().slice(11, 16);
}

function escaped(text: string): string {
	return text
		.replaceAll("&", "&amp;")
		.replaceAll("<", "&lt;")
		.replaceAll(">", "&gt;");
}
