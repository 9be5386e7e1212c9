import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** A download on a slow line, waited for by another process (s). */
const LOCK_LIMIT_S = 900;

/**
 * Makes a folder unless it is there. `make` fills another one, which gets the
 * name when it is whole: a folder that exists is good, wherever a process died.
 * If several processes want it, one makes it and the others wait.
 */
export async function makeOnce(
	folder: string,
	make: (building: string) => Promise<void>,
): Promise<void> {
	if (existsSync(folder)) return;
	await mkdir(dirname(folder), { recursive: true });
	await using lock = await lockFile(`${folder}.lock`);
	if (existsSync(folder)) return;
	const unnamed = `${basename(folder)}.building-`;
	// What a process that died left behind is nobody's: we hold the lock.
	for (const name of lock.held ? await readdir(dirname(folder)) : []) {
		if (name.startsWith(unnamed)) {
			await rm(join(dirname(folder), name), { recursive: true, force: true });
		}
	}
	// Never one name twice: a program of a dead process may still be writing.
	const building = join(dirname(folder), `${unnamed}${randomUUID()}`);
	await mkdir(building);
	try {
		await make(building);
		await rename(building, folder);
	} catch (error) {
		if (!existsSync(folder)) throw error;
	} finally {
		await rm(building, { recursive: true, force: true });
	}
}

interface Lock extends AsyncDisposable {
	/** False where the system has no flock: everybody makes their own then, and the first keeps the name. */
	readonly held: boolean;
}

/** The kernel's own lock, so that it goes with the process that has it, however that ends. */
async function lockFile(file: string): Promise<Lock> {
	const child = spawn(
		"flock",
		[
			"--exclusive",
			"--wait",
			String(LOCK_LIMIT_S),
			file,
			"sh",
			"-c",
			"echo locked; read -r _",
		],
		{ stdio: ["pipe", "pipe", "inherit"], detached: true },
	);
	const ended = once(child, "close");
	const outcome = await Promise.race([
		once(child.stdout, "data").then(() => "locked" as const),
		ended.then(
			([code]) => code as number,
			(error: NodeJS.ErrnoException) => {
				if (error.code === "ENOENT") return "no flock" as const;
				throw error;
			},
		),
	]);
	if (outcome === "no flock") {
		return { held: false, [Symbol.asyncDispose]: async () => {} };
	}
	if (outcome !== "locked") {
		throw new Error(
			`expected to get ${file} within ${LOCK_LIMIT_S} s, which another process holds (its first line of work is a download), but got: exit code ${outcome} of flock`,
		);
	}
	return {
		held: true,
		[Symbol.asyncDispose]: async () => {
			child.stdin.end();
			await ended;
		},
	};
}
