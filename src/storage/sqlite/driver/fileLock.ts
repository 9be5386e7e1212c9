import { DatabaseSync } from "node:sqlite";

const SQLITE_BUSY = 5;

/**
 * Locks a file of its own, which it makes if need be, until the returned lock is
 * disposed of or the process ends: an exclusive transaction of SQLite, which is a
 * lock of the operating system. Null: another process, or another part of this
 * one, has it. Throws what SQLite throws if the file cannot be made.
 */
export function lockFile(path: string): Disposable | null {
	let opened: DatabaseSync | undefined;
	let lock: DatabaseSync;
	try {
		opened = new DatabaseSync(path);
		lock = opened;
		lock.exec("BEGIN EXCLUSIVE");
	} catch (thrown) {
		opened?.close();
		if (isBusy(thrown)) return null;
		throw thrown;
	}
	return {
		[Symbol.dispose]() {
			if (lock.isOpen) lock.close();
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
