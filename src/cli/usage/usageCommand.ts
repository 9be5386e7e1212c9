import { readConfiguredTopology } from "../../app/openTopology.ts";
import type { Config } from "../../config/config.ts";
import { readUsage } from "../../usage/openUsage.ts";
import {
	type Period,
	periodOf,
	reportUsage,
	type UsageReport,
} from "../../usage/usageReport.ts";
import { INCOMPLETE } from "../arguments.ts";
import { option, type Result } from "../command.ts";
import { DAYS, daysOf } from "./days.ts";
import { incompleteLine, type UsageRow, usageTable } from "./usageLines.ts";

/** What `usage fields` and `usage documents` have in common; `unused` says what they print with `--unused`. */
export const usageOptions = (unused: string) => ({
	unused: option(DAYS, unused),
	client: option("NAME", "count this client only"),
});

export const USAGE_EXIT_CODES = { 3: INCOMPLETE };

interface CountedUsage {
	readonly report: UsageReport;
	readonly period: Period;
	/** What `--client` names; null: all. */
	readonly client: string | null;
	/** What `--unused` says; null: what was used is asked for. */
	readonly unusedDays: number | null;
}

/** Throws as `readUsage` if usage is not counted, and a usage error for a wrong `--unused`. */
export async function countUsage(
	{
		unused,
		client,
	}: {
		readonly unused: number | undefined;
		readonly client: string | undefined;
	},
	config: Config,
): Promise<CountedUsage> {
	const { caches } = await readConfiguredTopology(config);
	const days = await readUsage(config, caches);
	const unusedDays =
		unused === undefined ? null : daysOf(unused, config.usageDays);
	return {
		report: reportUsage(days, client),
		period: periodOf(days, unusedDays ?? config.usageDays, Date.now()),
		client: client ?? null,
		unusedDays,
	};
}

/** The rows, the most used first. */
export function usageResult<Row extends UsageRow>(
	{ period, client, unusedDays }: CountedUsage,
	{
		what,
		rows,
		nameOf,
	}: {
		/** The rows' name in JSON. */
		readonly what: "fields" | "documents";
		readonly rows: readonly Row[];
		readonly nameOf: (row: Row) => string;
	},
): Result {
	const sorted = rows.toSorted((a, b) => b.requests - a.requests);
	return {
		value: { ...period, client, unusedDays, [what]: sorted },
		lines: [
			usageTable(period, sorted.map(nameOf), sorted, unusedDays !== null),
		],
		...(unusedDays !== null &&
			period.missingDays > 0 && { notes: [incompleteLine(period)], code: 3 }),
	};
}
