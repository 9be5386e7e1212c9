import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CorkboardError } from "../../../errors.ts";
import { makeFolder } from "../../../util/makeFolder.ts";
import { reasonOf } from "../../../util/reasonOf.ts";
import { lockFile } from "./fileLock.ts";

const LOCK = "lock.sqlite";
const OWNER = "owner.pid";

/**
 * Makes this process the folder's owner until the returned lock is disposed of.
 * Two owners of one folder would each trust a cache that the other's writes do
 * not invalidate. A process that only reads needs no lock.
 *
 * The lock is an exclusive transaction on a file of its own: a lock of the
 * operating system, which ends with the process. The owner's pid is written
 * beside it for the error message only and may be stale.
 */
export function lockFolder(folder: string): Disposable {
	const owner = join(folder, OWNER);
	let lock: Disposable | null = null;
	try {
		makeFolder(folder);
		lock = lockFile(join(folder, LOCK));
		if (lock !== null) writeFileSync(owner, `${process.pid}\n`);
	} catch (thrown) {
		lock?.[Symbol.dispose]();
		throw notWritable(folder, thrown);
	}
	if (lock === null) {
		throw new CorkboardError(
			"IN_USE",
			`The data folder ${folder} is in use by ${nameOf(owner)}.`,
		);
	}
	const locked = lock;
	let isLocked = true;
	return {
		[Symbol.dispose]() {
			// The next owner may have written its own by then.
			if (!isLocked) return;
			isLocked = false;
			rmSync(owner, { force: true });
			locked[Symbol.dispose]();
		},
	};
}

/** As on a root file system that is read-only. */
function notWritable(folder: string, cause: unknown): CorkboardError {
	const reason = reasonOf(cause);
	return new CorkboardError(
		"BAD_CONFIG",
		`The data folder ${folder} cannot be written: ${reason}. Set CORKBOARD_DATA to a folder that this process may write, such as a mounted volume.`,
		{ cause },
	);
}

/** The owner may not have written its pid yet, so the pid of a process that does not exist is not shown. */
function nameOf(owner: string): string {
	try {
		const pid = Number.parseInt(readFileSync(owner, "utf8"), 10);
		return isAlive(pid) ? `process ${pid}` : "another process";
	} catch {
		return "another process";
	}
}

function isAlive(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch (thrown) {
		// EPERM: the process exists but belongs to another user.
		return (
			thrown instanceof Error && "code" in thrown && thrown.code === "EPERM"
		);
	}
}
