import { readFileSync } from "node:fs";
import { join } from "node:path";
import { needsServers } from "./servers.ts";
import { isSlow } from "./testFiles.ts";

/** The files that one process runs, one after another. */
export type Group = readonly [string, ...string[]];

/** So many files share a process at most: more would leave one core idle at the end, and be stopped together. */
const MOST = 16;
/** A file that waits before it declares its tests: `group.ts` could not say which file they are of. */
const AWAITS = /^(?:const|let|for|await|\}).*\bawait\b/m;
/** A file that changes or measures what the whole process shares says so, with the reason. */
const ALONE = /^\/\/ Runs in a process of its own: /m;

/**
 * Which files run in the same process. To start one, with the packages and the
 * model, takes as long as most files that start no server.
 */
export function groupsOf(
	root: string,
	files: readonly string[],
): readonly Group[] {
	const groups: [string, ...string[]][] = [];
	let open: [string, ...string[]] | undefined;
	for (const file of files) {
		if (runsAlone(root, file)) groups.push([file]);
		else if (open === undefined || open.length === MOST) {
			open = [file];
			groups.push(open);
		} else open.push(file);
	}
	return groups;
}

function runsAlone(root: string, file: string): boolean {
	const text = readFileSync(join(root, file), "utf8");
	return (
		isSlow(file) ||
		needsServers(root, file) ||
		AWAITS.test(text) ||
		ALONE.test(text)
	);
}
