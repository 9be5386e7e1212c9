/** A query, or a query and how its series are named: without a name, by the labels that it sums by. */
export type Query = string | readonly [query: string, name: string];

export interface Panel {
	readonly kind: "graph" | "areas" | "stat" | "row";
	readonly title: string;
	readonly width: number;
	readonly height: number;
	readonly unit: string;
	readonly about?: string;
	/** The end of the axis, where there is one. */
	readonly max?: number;
	/** The values from which a stat is orange, and red. */
	readonly colors?: Colors;
	readonly queries: readonly Query[];
}

export interface Dashboard {
	/** The file's name, and the end of the uid. */
	readonly name: string;
	readonly title: string;
	readonly description: string;
	/** The labels that an alert shows where it is drawn into the panels. */
	readonly alertLabels?: readonly string[];
	readonly panels: readonly Panel[];
}

interface Colors {
	readonly orange?: number;
	readonly red?: number;
}

interface Options {
	readonly about?: string;
	readonly max?: number;
}

/** Units as Grafana calls them. */
type Unit = "Bps" | "bytes" | "ops" | "percentunit" | "reqps" | "s" | "short";

/** A third of a row. */
const GRAPH = { width: 8, height: 8 };
/** Columns of Grafana's grid. */
const COLUMNS = 24;
const SOURCE = { type: "prometheus", uid: "corkboard" };

/** Lines, one for each series. */
export function graph(
	title: string,
	unit: Unit,
	queries: readonly Query[],
	options: Options = {},
): Panel {
	return { kind: "graph", title, ...GRAPH, unit, queries, ...options };
}

/** The series on top of each other, where their sum means something. */
export function areas(
	title: string,
	unit: Unit,
	queries: readonly Query[],
	options: Options = {},
): Panel {
	return { kind: "areas", title, ...GRAPH, unit, queries, ...options };
}

/** One number on green, orange or red. */
export function stat(
	title: string,
	unit: Unit,
	query: string,
	options: { width: number; about?: string; colors?: Colors },
): Panel {
	return {
		kind: "stat",
		title,
		height: 4,
		unit,
		queries: [[query, ""]],
		...options,
	};
}

/** A heading above the rows of panels that follow. */
export function row(title: string): Panel {
	return {
		kind: "row",
		title,
		width: COLUMNS,
		height: 1,
		unit: "short",
		queries: [],
	};
}

/** The file that Grafana reads, with each panel on a line of its own. */
export function dashboardText(dashboard: Dashboard): string {
	const { panels, ...rest } = dashboardJson(dashboard);
	const head = Object.entries(rest).map(
		([name, value]) => `\t${JSON.stringify(name)}: ${JSON.stringify(value)},`,
	);
	const lines = panels.map((panel) => `\t\t${JSON.stringify(panel)}`);
	return `{\n${head.join("\n")}\n\t"panels": [\n${lines.join(",\n")}\n\t]\n}\n`;
}

function dashboardJson({
	name,
	title,
	description,
	alertLabels = ["host", "instance", "destination", "operation"],
	panels,
}: Dashboard) {
	const places = placesOf(panels);
	return {
		uid: `corkboard-${name}`,
		title: `Corkboard: ${title}`,
		description,
		tags: ["corkboard"],
		schemaVersion: 39,
		version: 1,
		editable: true,
		time: { from: "now-1h", to: "now" },
		refresh: "10s",
		timezone: "",
		links: [
			{
				type: "dashboards",
				tags: ["corkboard"],
				title: "Corkboard",
				asDropdown: true,
				keepTime: true,
			},
		],
		annotations: { list: [{ ...ALERTS, textFormat: nameOf(alertLabels) }] },
		templating: { list: [] },
		panels: panels.map((panel, at) => ({
			id: at + 1,
			title: panel.title,
			...(panel.about === undefined ? {} : { description: panel.about }),
			datasource: SOURCE,
			gridPos: places[at],
			...CONTENT[panel.kind](panel),
		})),
	};
}

const ALERTS = {
	name: "Alerts",
	enable: true,
	iconColor: "red",
	datasource: SOURCE,
	expr: 'ALERTS{alertstate="firing",alertname=~"Corkboard.*"}',
	titleFormat: "{{alertname}}",
};

const CONTENT: Readonly<Record<Panel["kind"], (panel: Panel) => object>> = {
	graph: (panel) => timeseries(panel, { lineWidth: 1, fillOpacity: 0 }),
	areas: (panel) =>
		timeseries(panel, {
			lineWidth: 1,
			fillOpacity: 20,
			stacking: { mode: "normal" },
		}),
	stat: (panel) => ({
		type: "stat",
		fieldConfig: fieldConfig(panel, {
			thresholds: { mode: "absolute", steps: stepsOf(panel.colors ?? {}) },
		}),
		options: {
			reduceOptions: { calcs: ["lastNotNull"] },
			colorMode: "background",
			graphMode: "area",
		},
		targets: targetsOf(panel),
	}),
	row: () => ({
		type: "row",
		fieldConfig: { defaults: {}, overrides: [] },
		collapsed: false,
		panels: [],
		targets: [],
	}),
};

function timeseries(panel: Panel, custom: object): object {
	return {
		type: "timeseries",
		fieldConfig: fieldConfig(panel, {
			...(panel.max === undefined ? {} : { max: panel.max }),
			custom,
		}),
		options: {
			legend: {
				displayMode: "table",
				placement: "bottom",
				calcs: ["lastNotNull", "max"],
			},
			tooltip: { mode: "multi", sort: "desc" },
		},
		targets: targetsOf(panel),
	};
}

function fieldConfig({ unit }: Panel, defaults: object): object {
	return { defaults: { unit, min: 0, ...defaults }, overrides: [] };
}

function stepsOf({ orange, red }: Colors): readonly object[] {
	return [
		{ color: "green", value: null },
		...(orange === undefined ? [] : [{ color: "orange", value: orange }]),
		...(red === undefined ? [] : [{ color: "red", value: red }]),
	];
}

function targetsOf({ queries }: Panel): readonly object[] {
	return queries.map((query, at) => {
		const [expr, legendFormat] =
			typeof query === "string" ? [query, nameOf(labelsOf(query))] : query;
		const refId = String.fromCharCode("A".charCodeAt(0) + at);
		return { datasource: SOURCE, expr, legendFormat, refId };
	});
}

/** The labels by which a query groups, but for the bounds of a histogram's buckets. */
function labelsOf(query: string): readonly string[] {
	const labels = / by \(([\w, ]+)\)/.exec(query)?.[1] ?? "instance";
	return labels.split(", ").filter((label) => label !== "le");
}

function nameOf(labels: readonly string[]): string {
	return labels.map((label) => `{{${label}}}`).join(" ");
}

/** Panels from left to right, and below the row where there is no room. */
function placesOf(panels: readonly Panel[]): readonly object[] {
	let x = 0;
	let y = 0;
	let height = 0;
	return panels.map(({ width: w, height: h }) => {
		if (x + w > COLUMNS) {
			x = 0;
			y += height;
			height = 0;
		}
		const place = { w, h, x, y };
		x += w;
		height = Math.max(height, h);
		return place;
	});
}
