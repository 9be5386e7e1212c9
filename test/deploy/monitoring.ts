import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { DrawnDashboard } from "../helpers/drawDashboard.ts";
import { fileText, ROOT } from "./composeFile.ts";

export interface Alert {
	readonly name: string;
	readonly expression: string;
	readonly severity: string;
	readonly runbook: string;
}

interface Rule {
	readonly alert: string;
	readonly expr: string;
	readonly labels: { readonly severity: string };
	readonly annotations: { readonly summary: string; readonly runbook: string };
}

export const RULES = "deploy/prometheus/alerts.yml";

export function readAlerts(): readonly Alert[] {
	const { groups } = parse(fileText(RULES)) as {
		readonly groups: readonly { readonly rules: readonly Rule[] }[];
	};
	return groups
		.flatMap(({ rules }) => rules)
		.map(({ alert, expr, labels, annotations }) => ({
			name: alert,
			expression: expr,
			severity: labels.severity,
			runbook: annotations.runbook,
		}));
}

export interface Panel {
	/** Of the dashboard and its own. */
	readonly title: string;
	readonly expressions: readonly string[];
}

interface Dashboard extends DrawnDashboard {
	readonly uid: string;
	readonly panels: readonly (DrawnDashboard["panels"][number] & {
		readonly datasource: { readonly uid: string };
	})[];
}

export function readDashboards(): readonly Dashboard[] {
	const folder = join(ROOT, "deploy/grafana");
	return readdirSync(folder)
		.filter((name) => name.endsWith(".json"))
		.map((name) => JSON.parse(fileText(`deploy/grafana/${name}`)));
}

/** All queries, for a range as Grafana would choose it. */
export function panelsOf(range: string): readonly Panel[] {
	return readDashboards().flatMap(({ title, panels }) =>
		panels.map((panel) => ({
			title: `${title}, ${panel.title}`,
			expressions: panel.targets.map(({ expr }) =>
				expr.replaceAll("$__rate_interval", range),
			),
		})),
	);
}

/** The metrics that a query names, as a scrape does: those of a histogram without their suffix. */
export function metricsIn(expression: string): readonly string[] {
	const names = expression.match(
		/\b(?:corkboard|process|nodejs)_\w+(?=[\s{[)/]|$)/g,
	);
	return [...new Set(names)].map((name) =>
		name.replace(/_seconds_(?:bucket|sum|count)$|_points_bucket$/, (suffix) =>
			suffix.startsWith("_points") ? "_points" : "_seconds",
		),
	);
}
