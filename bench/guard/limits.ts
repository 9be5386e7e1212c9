import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RequestCounts, WriteCounts } from "./count.ts";

/** The maxima: what a request may take, as `npm run bench -- guard --accept` wrote it. */
export const LIMITS_FILE = join(import.meta.dirname, "limits.json");

/** The maxima of requests and of writes. */
type Table = Readonly<Record<string, Readonly<RequestCounts> | WriteCounts>>;

type Slack = Readonly<
	Record<
		keyof RequestCounts | keyof WriteCounts,
		{ readonly ratio: number; readonly more: number }
	>
>;

/**
 * By how much a count may be above its maximum without a fault. Statements,
 * commits and cursors are exact. How many keys are ready for one command depends on when the
 * answers to others came; promises and bytes differ with the sizes of TCP
 * segments and with timers of the process, and more so in a request that waits.
 */
const SLACK: Slack = {
	statements: { ratio: 1, more: 0 },
	commits: { ratio: 1, more: 0 },
	cacheCommands: { ratio: 1.1, more: 0 },
	cursors: { ratio: 1, more: 0 },
	promises: { ratio: 1.1, more: 8 },
	bytes: { ratio: 1.15, more: 4_000 },
};
const WAITING_SLACK: Slack = {
	...SLACK,
	// On a busy machine a window has more of the process's own timers.
	promises: { ratio: 1.3, more: 32 },
	bytes: { ratio: 1.3, more: 4_000 },
};

export function readLimits(): Table {
	return JSON.parse(readFileSync(LIMITS_FILE, "utf8")) as Table;
}

/** What is above its maximum, and what is so far below it that the maximum should follow. */
export function compareCounts(
	limits: Table,
	counted: Table,
): { readonly above: readonly string[]; readonly below: readonly string[] } {
	const above: string[] = [];
	const below: string[] = [];
	for (const [row, counts] of Object.entries(counted)) {
		const limit: Readonly<Record<string, number>> | undefined = limits[row]
			? { ...limits[row] }
			: undefined;
		if (limit === undefined) {
			above.push(`${row} has no maxima`);
			continue;
		}
		const slack = /(cold|shared|alone|together)$/.test(row)
			? WAITING_SLACK
			: SLACK;
		for (const [name, is] of Object.entries(counts) as [
			keyof Slack,
			number,
		][]) {
			const { ratio, more } = slack[name];
			const was = limit[name] ?? 0;
			if (is > was * ratio + more) {
				above.push(`${row}: ${is} ${name}, expected at most ${was}`);
			} else if (is < was / ratio - more) {
				below.push(`${row}: ${is} ${name}, the maximum is ${was}`);
			}
		}
	}
	return { above, below };
}
