import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where Linux keeps files in memory. */
const MEMORY = "/dev/shm";
/** More than the files of a whole run need at once: up to 2 GB were seen. */
const NEEDED_BYTES = 4 * 2 ** 30;

/**
 * Makes the folder for all files of one run: where TMPDIR says; else in memory if
 * there is room, else on the disk. A run writes some 15 GB, most of them new data folders of MySQL.
 * A slow disk is busy with them for so long that a COMMIT stands for seconds,
 * and the program gives it one.
 */
export function makeRunFolder(): string {
	const inMemory =
		!process.env.TMPDIR &&
		process.availableMemory() >= 2 * NEEDED_BYTES &&
		freeBytes(MEMORY) >= NEEDED_BYTES &&
		runsPrograms(MEMORY);
	return makeFolder(inMemory ? MEMORY : tmpdir());
}

function makeFolder(parent: string): string {
	return mkdtempSync(join(parent, "corkboard-test-"));
}

/** Containers often forbid it there; a few tests write a program and start it. */
function runsPrograms(parent: string): boolean {
	const folder = makeFolder(parent);
	try {
		const program = join(folder, "program");
		writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
		return spawnSync(program).status === 0;
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function freeBytes(folder: string): number {
	try {
		const { bavail, bsize } = statfsSync(folder);
		return bavail * bsize;
	} catch {
		return 0;
	}
}
