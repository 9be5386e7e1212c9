import type { Scan } from "./storage.ts";

/** What a scan may ask: a position that is no integer would find nothing, and a limit below 0 is none at all in SQLite. */
export function checkScan({ limit, after, before }: Scan): void {
	if (!Number.isSafeInteger(limit) || limit < 0) {
		throw new TypeError(
			`expected the limit of a scan to be an integer from 0 but got: ${limit}`,
		);
	}
	for (const position of [after, before]) {
		if (position !== undefined && !Number.isSafeInteger(position.sequence)) {
			throw new TypeError(
				`expected the sequence of a position to be an integer but got: ${position.sequence}`,
			);
		}
	}
}
