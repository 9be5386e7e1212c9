import {
	globSync,
	mkdirSync,
	readFileSync,
	statSync,
	writeFileSync,
} from "node:fs";
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
 * Groups of files in the order to start them in: started last, a slow one would run
 * alone, on one core. A file that has never run here is guessed at by its size and what it starts.
 */
export function slowestFirst<Group extends readonly string[]>(
	root: string,
	groups: readonly Group[],
): readonly Group[] {
	const times = readTimes(root);
	const seconds = new Map(
		groups.map((group) => [
			group,
			group
				.map((file) => times[file] ?? guessSeconds(root, file))
				.reduce((sum, one) => sum + one, 0),
		]),
	);
	return groups.toSorted(
		(a, b) => (seconds.get(b) as number) - (seconds.get(a) as number),
	);
}

/** A slow file that shares its tests with another is short. */
const LEAST_OF_SLOW_KB = 20;

/** Seconds, as a run on two cores has them on average: for each kilobyte of the file, by what it starts. */
export function guessSeconds(root: string, file: string): number {
	const kilobytes = Math.max(
		statSync(join(root, file)).size / 1_000,
		isSlow(file) ? LEAST_OF_SLOW_KB : 0,
	);
	if (needsPair(root, file)) return 3 * kilobytes;
	return (needsServers(root, file) ? 1.6 : 0.25) * kilobytes;
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
