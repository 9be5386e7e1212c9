import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { needsPair, needsServers } from "./servers.ts";

/** Where the runner keeps how long each file took, for the order of the next run. */
const TIMES = ".cache/test-seconds.json";

export function testFiles(root: string): readonly string[] {
	return globSync("test/**/*.test.ts", { cwd: root })
		.map((file) => file.replaceAll("\\", "/"))
		.sort();
}

/** Whether only `npm run test:all` runs a file. */
export function isSlow(file: string): boolean {
	return file.endsWith(".slow.test.ts");
}

/**
 * The files in the order to start them in: started last, a slow one would run
 * alone, on one core. A file that has never run here is guessed at by what it starts.
 */
export function slowestFirst(
	root: string,
	files: readonly string[],
): readonly string[] {
	const times = readTimes(root);
	const seconds = new Map(
		files.map((file) => [file, times[file] ?? guess(root, file)]),
	);
	return files.toSorted(
		(a, b) => (seconds.get(b) as number) - (seconds.get(a) as number),
	);
}

/** Seconds, as a run on two cores has them on average. */
function guess(root: string, file: string): number {
	if (needsPair(root, file)) return 40;
	if (needsServers(root, file)) return 15;
	return /^test\/(?:bench|clients|cli|e2e|examples)\//.test(file) ? 10 : 2;
}

/** Keeps how long files took, beside what earlier runs of others took. */
export function keepTimes(
	root: string,
	seconds: ReadonlyMap<string, number>,
): void {
	const kept = { ...readTimes(root), ...Object.fromEntries(seconds) };
	const path = join(root, TIMES);
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, `${JSON.stringify(kept, null, "\t")}\n`);
}

function readTimes(root: string): Readonly<Record<string, number>> {
	try {
		return JSON.parse(readFileSync(join(root, TIMES), "utf8"));
	} catch {
		// The first run, or a file that a stopped run cut short.
		return {};
	}
}
