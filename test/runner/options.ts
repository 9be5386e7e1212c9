import { parseArgs } from "node:util";

export const USAGE = `Usage: npm test -- [options] [PATTERN ...]

Without a pattern: format and lint, types, and every test file, as many at once as keep the cores busy;
then those that are judged by the clock, one at a time (test/runner/wallClock.ts).

  PATTERN     files whose path holds one of the patterns, and nothing else
  quick       instead of patterns: format, lint, types, and every test that starts no pair of servers,
              takes less than ten seconds and is not judged by the clock
  --help      print this

It exits with 0 if everything passed, with 1 if something failed, with 2 if it was called wrongly.`;

export interface RunOptions {
	/** Files to run by parts of their paths; empty for the whole run. */
	readonly patterns: readonly string[];
	/** Only the tests that are soon done. */
	readonly isQuick: boolean;
}

/** Throws a sentence for a command line that is not valid; null if help is wanted. */
export function readRunOptions(args: readonly string[]): RunOptions | null {
	const { values, positionals } = parseArgs({
		args: [...args],
		allowPositionals: true,
		options: {
			help: { type: "boolean", short: "h", default: false },
		},
	});
	if (values.help) return null;
	if (positionals.includes("")) throw new Error("A pattern is empty.");
	const isQuick = positionals.includes("quick");
	if (isQuick && positionals.length > 1) {
		throw new Error("quick takes no patterns beside it.");
	}
	return {
		patterns: isQuick ? [] : positionals,
		isQuick,
	};
}

/** The files that hold one of the patterns, all without one, and the patterns that no file holds. */
export function matchFiles(
	files: readonly string[],
	patterns: readonly string[],
): {
	readonly chosen: readonly string[];
	readonly unmatched: readonly string[];
} {
	return {
		chosen:
			patterns.length === 0
				? files
				: files.filter((file) => patterns.some((one) => file.includes(one))),
		unmatched: patterns.filter(
			(pattern) => !files.some((file) => file.includes(pattern)),
		),
	};
}
