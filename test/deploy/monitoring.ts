import { parse } from "yaml";
import { DASHBOARDS } from "../../deploy/grafana/dashboards.ts";
import { fileText } from "./composeFile.ts";

export interface Alert {
	readonly name: string;
	readonly expression: string;
	readonly severity: string;
	readonly runbook: string;
}

interface AlertRule {
	readonly alert: string;
	readonly expr: string;
	readonly labels: { readonly severity: string };
	readonly annotations: { readonly summary: string; readonly runbook: string };
}

interface RecordingRule {
	readonly record: string;
	readonly expr: string;
}

export const RULES = "deploy/prometheus/alerts.yml";
const ALERTMANAGER = "deploy/alertmanager/alertmanager.yml";

export function readAlerts(): readonly Alert[] {
	return readRules().flatMap((rule) =>
		"alert" in rule
			? [
					{
						name: rule.alert,
						expression: rule.expr,
						severity: rule.labels.severity,
						runbook: rule.annotations.runbook,
					},
				]
			: [],
	);
}

/** What rules compute for others, with names of the form `corkboard:…`. */
export function readRecordings(): readonly {
	readonly name: string;
	readonly expression: string;
}[] {
	return readRules().flatMap((rule) =>
		"record" in rule ? [{ name: rule.record, expression: rule.expr }] : [],
	);
}

function readRules(): readonly (AlertRule | RecordingRule)[] {
	const { groups } = parse(fileText(RULES)) as {
		readonly groups: readonly {
			readonly rules: readonly (AlertRule | RecordingRule)[];
		}[];
	};
	return groups.flatMap(({ rules }) => rules);
}

interface InhibitRule {
	readonly source_matchers: readonly string[];
	readonly target_matchers: readonly string[];
}

/** The alerts that each rule of the example for Alertmanager names, as sources and as targets. */
export function readInhibitions(): readonly {
	readonly sources: readonly string[];
	readonly targets: readonly string[];
}[] {
	const { inhibit_rules } = parse(fileText(ALERTMANAGER)) as {
		readonly inhibit_rules: readonly InhibitRule[];
	};
	return inhibit_rules.map(({ source_matchers, target_matchers }) => ({
		sources: alertsIn(source_matchers),
		targets: alertsIn(target_matchers),
	}));
}

function alertsIn(matchers: readonly string[]): readonly string[] {
	return matchers.flatMap((matcher) => {
		const [, names] = /^alertname=~?"([\w|]+)"$/.exec(matcher) ?? [];
		return names?.split("|") ?? [];
	});
}

export interface Panel {
	/** The title of its dashboard, and its own. */
	readonly title: string;
	readonly expressions: readonly string[];
}

/** All queries, for a range as Grafana would choose it. */
export function panelsOf(range: string): readonly Panel[] {
	return DASHBOARDS.flatMap(({ title, panels }) =>
		panels.map((panel) => ({
			title: `${title}, ${panel.title}`,
			expressions: panel.queries.map((query) =>
				(typeof query === "string" ? query : query[0]).replaceAll(
					"$__rate_interval",
					range,
				),
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
