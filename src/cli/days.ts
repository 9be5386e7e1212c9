import { UsageError } from "./arguments.ts";

/** What `--unused` takes. */
export const DAYS = "DAYS";

/** `30d` or `30`. Throws UsageError for more days than are kept. */
export function parseDays(text: string, kept: number): number {
	const days = /^([1-9]\d{0,3})d?$/.exec(text)?.[1];
	if (days === undefined) {
		throw new UsageError(
			`--unused must be a number of days such as 30d, got ${text}.`,
		);
	}
	if (Number(days) > kept) {
		throw new UsageError(
			`--unused must be at most ${kept}d, the days that are kept (CORKBOARD_USAGE_DAYS), got ${text}.`,
		);
	}
	return Number(days);
}
