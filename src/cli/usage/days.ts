import { UsageError } from "../arguments.ts";
import type { Kind } from "../values.ts";

/** What `--unused` takes: `30d`. */
export const DAYS: Kind<number> = {
	name: "DAYS",
	expected: "a number of days such as 30d",
	read(given) {
		const days = /^([1-9]\d{0,3})d$/.exec(given)?.[1];
		return days === undefined ? undefined : Number(days);
	},
};

/** Throws UsageError for more days than are kept. */
export function daysOf(days: number, kept: number): number {
	if (days <= kept) return days;
	throw new UsageError(
		`--unused must be at most ${kept}d, the days that are kept (CORKBOARD_USAGE_DAYS), got ${days}d.`,
	);
}
