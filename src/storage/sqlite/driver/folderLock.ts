import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CorkboardError } from "../../../errors.ts";

const LOCK = "lock.sqlite";
const OWNER = "owner.pid";
const SQLITE_BUSY = 5;

/**
 * Make this process the folder's owner until the answer is disposed of. Two
 * processes on one folder would each trust a cache that the other one's writes
 * do not reach (PROTOCOLS §3); who only reads the files need not ask.
 *
 * The lock is an exclusive transaction on a file of its own: a lock of the
 * operating system, which ends with the process whatever ends that. The owner's
 * pid stands beside it for the message alone, and may be stale.
 */
export function lockFolder(folder: string): Disposable {
	mkdirSync(folder, { recursive: true });
	const lock = new DatabaseSync(join(folder, LOCK));
	const owner = join(folder, OWNER);
	try {
		lock.exec("BEGIN EXCLUSIVE");
		writeFileSync(owner, `${process.pid}\n`);
	} catch (thrown) {
		lock.close();
		if (!isBusy(thrown)) throw thrown;
		throw new CorkboardError(
			"IN_USE",
			`The data folder ${folder} is in use by ${nameOf(owner)}.`,
			{ cause: thrown },
		);
	}
	return {
		[Symbol.dispose]() {
			if (!lock.isOpen) return;
			rmSync(owner, { force: true });
			lock.close();
		},
	};
}

function isBusy(thrown: unknown): boolean {
	return (
		thrown instanceof Error &&
		"errcode" in thrown &&
		thrown.errcode === SQLITE_BUSY
	);
}

/** The owner may be just about to write its pid, so one that names no living process is not passed on. */
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
		// Somebody else's process may not be signalled, but it is there.
		return (
			thrown instanceof Error && "code" in thrown && thrown.code === "EPERM"
		);
	}
}
