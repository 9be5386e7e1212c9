import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { GuardTable, RequestCounts } from "./count.ts";

/** The maxima: what a request may take, as `npm run bench -- guard --accept` wrote it. */
export const LIMITS_FILE = join(import.meta.dirname, "limits.json");

type Slack = Readonly<
	Record<keyof RequestCounts, { readonly ratio: number; readonly more: number }>
>;

/**
 * By how much a count may be above its maximum without a fault. Statements and
 * cursors are exact. How many keys are ready for one command depends on when the
 * answers to others came; promises and bytes differ with the sizes of TCP
 * segments and with timers of the process, and more so in a request that waits.
 */
const SLACK: Slack = {
	statements: { ratio: 1, more: 0 },
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

export function readLimits(): GuardTable {
	return JSON.parse(readFileSync(LIMITS_FILE, "utf8")) as GuardTable;
}

/** What is above its maximum, and what is so far below it that the maximum should follow. */
export function compareCounts(
	limits: GuardTable,
	counted: GuardTable,
): { readonly above: readonly string[]; readonly below: readonly string[] } {
	const above: string[] = [];
	const below: string[] = [];
	for (const [row, counts] of Object.entries(counted)) {
		const limit = limits[row];
		if (limit === undefined) {
			above.push(`${row} has no maxima`);
			continue;
		}
		const slack = /(cold|shared)$/.test(row) ? WAITING_SLACK : SLACK;
		for (const [name, { ratio, more }] of Object.entries(slack)) {
			const [was, is] = [
				limit[name as keyof RequestCounts],
				counts[name as keyof RequestCounts],
			];
			if (is > was * ratio + more) {
				above.push(`${row}: ${is} ${name}, expected at most ${was}`);
			} else if (is < was / ratio - more) {
				below.push(`${row}: ${is} ${name}, the maximum is ${was}`);
			}
		}
	}
	return { above, below };
}
