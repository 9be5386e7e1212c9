import { readFileSync } from "node:fs";
import { join } from "node:path";
import { needsServers } from "./servers.ts";
import { guessSeconds, isSlow } from "./testFiles.ts";

/** The files that one process runs, one after another. */
export type Group = readonly [string, ...string[]];

/** Files share a process until they are guessed to take so long: with more, one core would be idle at the end. */
const LIMIT_S = 30;
/** A file that waits before it declares its tests: `group.ts` could not say which file they are of. */
const AWAITS = /^(?:(?:const|let|for|\}).*)?\bawait\b/m;
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
	const isServed = (file: string) => needsServers(root, file);
	return [
		...groupsOfKind(root, files.filter(isServed)),
		...groupsOfKind(
			root,
			files.filter((file) => !isServed(file)),
		),
	];
}

function groupsOfKind(root: string, files: readonly string[]): Group[] {
	const groups: [string, ...string[]][] = [];
	let open: [string, ...string[]] | undefined;
	let seconds = 0;
	for (const file of files) {
		const more = guessSeconds(root, file);
		if (runsAlone(root, file)) groups.push([file]);
		else if (open === undefined || seconds + more > LIMIT_S) {
			open = [file];
			seconds = more;
			groups.push(open);
		} else {
			open.push(file);
			seconds += more;
		}
	}
	return groups;
}

function runsAlone(root: string, file: string): boolean {
	const text = readFileSync(join(root, file), "utf8");
	return isSlow(file) || AWAITS.test(text) || ALONE.test(text);
}
