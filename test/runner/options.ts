import { matchesGlob } from "node:path";
import { parseArgs } from "node:util";
import { isSlow } from "./testFiles.ts";

export const USAGE = `Usage: npm test -- [PATTERN ...]
       npm run test:all -- [PATTERN ...]

npm test        format and lint, types, and every test file but the slow ones (*.slow.test.ts)
npm run test:all   the same and the slow ones: attacks, benches, browsers, all orders, MariaDB's whole suites
npm run test:rest  only what npm test leaves out

  PATTERN     files whose path holds one of the patterns, and nothing else; without test:all a slow
              file only if the pattern holds no other. A pattern with a * has to match the whole path
  quick       instead of patterns: format, lint, types, and every test that starts no server
  --help      print this

Exit codes: 0 if everything passed, 1 if something failed, 2 if it was called wrongly.`;

/** Which part of the tests: `npm test`, what that leaves out, or both. */
export type Part = "usual" | "rest" | "all";

export interface RunOptions {
	readonly part: Part;
	/** Files to run by parts of their paths; empty for the whole part. */
	readonly patterns: readonly string[];
	/** Only the tests that start no server. */
	readonly isQuick: boolean;
}

/** Throws a sentence for a command line that is not valid; null if help is wanted. */
export function readRunOptions(args: readonly string[]): RunOptions | null {
	const { values, positionals } = parseArgs({
		args: [...args],
		allowPositionals: true,
		options: {
			help: { type: "boolean", short: "h", default: false },
			all: { type: "boolean", default: false },
			rest: { type: "boolean", default: false },
		},
	});
	if (values.help) return null;
	if (positionals.includes("")) throw new Error("A pattern is empty.");
	const isQuick = positionals.includes("quick");
	if (isQuick && positionals.length > 1) {
		throw new Error("quick takes no patterns beside it.");
	}
	return {
		part: values.all ? "all" : values.rest ? "rest" : "usual",
		patterns: isQuick ? [] : positionals,
		isQuick,
	};
}

/** The files of a part that hold one of the patterns, all of them without one; and the patterns that no file holds. */
export function matchFiles(
	files: readonly string[],
	{ part, patterns }: Pick<RunOptions, "part" | "patterns">,
): {
	readonly chosen: readonly string[];
	readonly unmatched: readonly string[];
} {
	const own = files.filter(
		(file) => part === "all" || isSlow(file) === (part === "rest"),
	);
	if (patterns.length === 0) return { chosen: own, unmatched: [] };
	const chosen = new Set<string>();
	const unmatched: string[] = [];
	for (const pattern of patterns) {
		const matching = (list: readonly string[]) =>
			list.filter((file) =>
				pattern.includes("*")
					? matchesGlob(file, pattern)
					: file.includes(pattern),
			);
		const usual = matching(own);
		// Who names a file of another part wants that one.
		const found = usual.length > 0 ? usual : matching(files);
		if (found.length === 0) unmatched.push(pattern);
		for (const file of found) chosen.add(file);
	}
	return { chosen: [...chosen], unmatched };
}
