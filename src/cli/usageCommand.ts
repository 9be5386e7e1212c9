import { readUsage } from "../app/usage.ts";
import type { Config } from "../config/config.ts";
import {
	type Period,
	periodOf,
	reportUsage,
	type UsageReport,
} from "../usage/usageReport.ts";
import { INCOMPLETE, JSON_OPTION, type ParsedArguments } from "./arguments.ts";
import type { CommandContext } from "./commandContext.ts";
import { DAYS, parseDays } from "./days.ts";
import { incompleteLine, type UsageRow, usageTable } from "./usageLines.ts";

/** What `usage fields` and `usage documents` have in common; `unused` says what they print with `--unused`. */
export const usageOptions = (unused: string) => ({
	unused: { value: DAYS, description: unused },
	client: { value: "NAME", description: "count this client only" },
	json: JSON_OPTION,
});

export const USAGE_EXIT_CODES = { 3: INCOMPLETE };

export interface CountedUsage {
	readonly report: UsageReport;
	readonly period: Period;
	/** Of `--client`; null: of all. */
	readonly client: string | null;
	/** Of `--unused`; null: what was used is asked for. */
	readonly unusedDays: number | null;
}

/** Throws as `readUsage` where usage is not counted, and a usage error for a wrong `--unused`. */
export async function countUsage(
	{ unused, client }: ParsedArguments["options"],
	config: Config,
): Promise<CountedUsage> {
	const days = await readUsage(config);
	const unusedDays =
		unused === undefined ? null : parseDays(unused, config.usageDays);
	return {
		report: reportUsage(days, client),
		period: periodOf(days, unusedDays ?? config.usageDays, Date.now()),
		client: client ?? null,
		unusedDays,
	};
}

/** Prints the rows, the most used first, as a table or with `--json`. Answers the exit code. */
export function printUsage<Row extends UsageRow>(
	{ stdout, stderr }: CommandContext,
	{ period, client, unusedDays }: CountedUsage,
	{
		what,
		rows,
		nameOf,
		isJson,
	}: {
		/** The rows' name in JSON. */
		readonly what: "fields" | "documents";
		readonly rows: readonly Row[];
		readonly nameOf: (row: Row) => string;
		readonly isJson: boolean;
	},
): number {
	const sorted = rows.toSorted((a, b) => b.requests - a.requests);
	if (isJson) {
		const shown = { ...period, client, unusedDays, [what]: sorted };
		stdout(JSON.stringify(shown, null, "\t"));
	} else {
		stdout(usageTable(period, sorted.map(nameOf), sorted, unusedDays !== null));
	}
	if (unusedDays === null || period.missingDays === 0) return 0;
	stderr(incompleteLine(period));
	return 3;
}
