/** Plots as SVG text, without a library: bars and lines are all that the reports need. */
const FONT = "font-family=\"system-ui, -apple-system, 'Segoe UI', sans-serif\"";
/** Legible on light and on dark pages. */
const TEXT = "#7d8590";
const GRID = "#7d859040";

export interface Bar {
	readonly label: string;
	readonly value: number;
	/** The least and the most of the rounds. */
	readonly range?: readonly [number, number];
	readonly color: string;
}

export interface BarPanel {
	readonly title: string;
	readonly bars: readonly Bar[];
}

const WIDTH = 860;
const ROW = 20;
const LABELS = 210;
const VALUES = 80;

/** Panels of horizontal bars, two beside each other. Each has a scale of its own. */
export function barChart(
	title: string,
	unit: string,
	panels: readonly BarPanel[],
): string {
	const width = WIDTH / 2;
	const rows = Math.max(...panels.map(({ bars }) => bars.length));
	const height = rows * ROW + 44;
	const parts = panels.map((panel, n) => {
		const x = (n % 2) * width;
		const y = 36 + Math.floor(n / 2) * height;
		return `<g transform="translate(${x} ${y})">${barPanel(panel, width, unit)}</g>`;
	});
	return svg(
		title,
		36 + Math.ceil(panels.length / 2) * height,
		parts.join("\n"),
	);
}

function barPanel({ title, bars }: BarPanel, width: number, unit: string) {
	const room = width - LABELS - VALUES;
	const most = Math.max(...bars.map(({ value, range }) => range?.[1] ?? value));
	const scale = (value: number) => (room * value) / Math.max(most, 1e-9);
	const rows = bars.map(({ label, value, range, color }, n) => {
		const y = 26 + n * ROW;
		const middle = y + ROW / 2 - 2;
		const whisker =
			range === undefined
				? ""
				: `<path d="M${LABELS + scale(range[0])} ${middle}H${LABELS + scale(range[1])}" stroke="${TEXT}"/>`;
		const end = LABELS + scale(range?.[1] ?? value) + 6;
		return [
			text(LABELS - 8, middle + 4, label, "end"),
			`<rect x="${LABELS}" y="${y}" width="${Math.max(1, scale(value)).toFixed(1)}" height="${ROW - 5}" rx="2" fill="${color}"/>`,
			whisker,
			text(end, middle + 4, `${short(value)} ${unit}`, "start"),
		].join("");
	});
	return `${text(LABELS, 14, title, "start", true)}${rows.join("\n")}`;
}

export interface Line {
	readonly label: string;
	readonly color: string;
	readonly points: readonly (readonly [x: number, y: number])[];
}

export interface LinePanel {
	readonly title: string;
	readonly x: string;
	readonly y: string;
	readonly lines: readonly Line[];
}

const PLOT = 190;

/** Panels of lines on logarithmic axes, two beside each other: proportional growth is a straight line of 45 degrees. */
export function lineChart(title: string, panels: readonly LinePanel[]): string {
	const width = WIDTH / 2;
	const height = PLOT + 90;
	const parts = panels.map((panel, n) => {
		const x = (n % 2) * width;
		const y = 36 + Math.floor(n / 2) * height;
		return `<g transform="translate(${x} ${y})">${linePanel(panel, width)}</g>`;
	});
	return svg(
		title,
		36 + Math.ceil(panels.length / 2) * height,
		parts.join("\n"),
	);
}

function linePanel({ title, x, y, lines }: LinePanel, width: number): string {
	const left = 56;
	const right = width - 24;
	const top = 24;
	const bottom = top + PLOT;
	const all = lines.flatMap(({ points }) => points);
	const axis = (at: 0 | 1, from: number, to: number) => {
		const values = all.map((point) => Math.log10(Math.max(point[at], 1e-6)));
		const least = Math.min(...values);
		const most = Math.max(...values, least + 0.3);
		return (value: number) =>
			from +
			((to - from) * (Math.log10(Math.max(value, 1e-6)) - least)) /
				(most - least);
	};
	const toX = axis(0, left, right);
	const toY = axis(1, bottom, top);
	const xs = [...new Set(all.map(([value]) => value))].toSorted(
		(a, b) => a - b,
	);
	const ys = all.map(([, value]) => value);
	const ticks = [Math.min(...ys), Math.max(...ys)];
	const drawn = lines.map(({ label, color, points }, n) => {
		const path = points
			.map(
				([px, py], k) =>
					`${k === 0 ? "M" : "L"}${toX(px).toFixed(1)} ${toY(py).toFixed(1)}`,
			)
			.join("");
		const dots = points
			.map(
				([px, py]) =>
					`<circle cx="${toX(px).toFixed(1)}" cy="${toY(py).toFixed(1)}" r="2.5" fill="${color}"/>`,
			)
			.join("");
		return `<path d="${path}" fill="none" stroke="${color}" stroke-width="1.8"/>${dots}<rect x="${left + n * 125}" y="${bottom + 34}" width="10" height="10" fill="${color}"/>${text(left + 15 + n * 125, bottom + 43, label, "start")}`;
	});
	return [
		text(left, 14, `${title} (${y})`, "start", true),
		`<path d="M${left} ${top}V${bottom}H${right}" fill="none" stroke="${GRID}"/>`,
		...xs.map((value) => text(toX(value), bottom + 14, short(value), "middle")),
		text(right, bottom + 28, x, "end"),
		...ticks.map((value) =>
			text(left - 6, toY(value) + 4, short(value), "end"),
		),
		...drawn,
	].join("\n");
}

function svg(title: string, height: number, content: string): string {
	return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">
${text(16, 20, title, "start", true)}
${content}
</svg>
`;
}

function text(
	x: number,
	y: number,
	content: string,
	anchor: "start" | "middle" | "end",
	bold = false,
): string {
	return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${FONT} font-size="12" fill="${TEXT}" text-anchor="${anchor}"${bold ? ' font-weight="600"' : ""}>${escaped(content)}</text>`;
}

function escaped(content: string): string {
	return content
		.replaceAll("&", "&amp;")
		.replaceAll("<", "&lt;")
		.replaceAll('"', "&quot;");
}

/** Three digits. */
export function short(value: number): string {
	if (value >= 1_000_000) return `${short(value / 1_000_000)}M`;
	if (value >= 10_000) return `${(value / 1_000).toFixed(0)}k`;
	if (value >= 100) return value.toFixed(0);
	if (value >= 10) return value.toFixed(Number.isInteger(value) ? 0 : 1);
	if (value >= 1) return value.toFixed(Number.isInteger(value) ? 0 : 2);
	return value.toFixed(3).replace(/0$/, "");
}
