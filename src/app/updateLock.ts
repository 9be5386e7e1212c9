import { existsSync, writeFileSync } from "node:fs";
import {
	compareLock,
	EMPTY_LOCK,
	parseLock,
	printLock,
} from "../model/lock/lock.ts";
import { readTextFileSync } from "../util/textFile.ts";
import { type AppModel, lockFileOf } from "./readApp.ts";

interface UpdatedLock {
	/** The lock file. */
	readonly file: string;
	/** Names that the file lacked. */
	readonly additions: readonly string[];
	/** What the file refuses; if it refuses anything, it was not written. */
	readonly breaks: readonly string[];
}

/** Adds to an app's lock file what its model has and the file lacks, or makes the file. */
export function updateLock(
	{ app, model }: Pick<AppModel, "app" | "model">,
	file: string = lockFileOf(app),
): UpdatedLock {
	const lock = existsSync(file)
		? parseLock(readTextFileSync(file))
		: EMPTY_LOCK;
	const { additions, breaks, next } = compareLock(lock, model);
	const isNew = lock === EMPTY_LOCK || additions.length > 0;
	if (breaks.length === 0 && isNew) writeFileSync(file, printLock(next));
	return { file, additions, breaks };
}
