import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A process that outlived the test file that started it. */
export interface Leftover {
	readonly pid: number;
	readonly command: string;
}

/**
 * What still runs of a test file: the members of its process group, and those
 * that left the group (browsers do) but carry the file's own TMPDIR in their
 * environment. Read from /proc; on systems without it nothing is found.
 */
export function leftovers(group: number, folder: string): readonly Leftover[] {
	return processes().flatMap((pid) => {
		const stat = read(`/proc/${pid}/stat`);
		// "pid (name) state parent group …", and a name may hold anything.
		const [state, , itsGroup] = stat
			.slice(stat.lastIndexOf(")") + 2)
			.split(" ");
		if (state === undefined || state === "" || state === "Z") return [];
		const ours =
			Number(itsGroup) === group ||
			read(`/proc/${pid}/environ`)
				.split("\0")
				.some((entry) => entry === `TMPDIR=${folder}`);
		if (!ours) return [];
		const command = read(`/proc/${pid}/cmdline`).split("\0").join(" ").trim();
		return [{ pid, command: command.slice(0, 200) }];
	});
}

export function kill(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
	try {
		process.kill(pid, signal);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}

/** How long (ms) a stopped process may take to end by itself. */
export const GRACE_MS = 2_000;

/** Ends a process that leads a group of its own, and all of the group, each by its id. */
export async function stopGroup(
	child: ChildProcess,
	folder: string,
): Promise<void> {
	const pid = child.pid ?? 0;
	const exited =
		child.exitCode === null && child.signalCode === null
			? once(child, "exit")
			: Promise.resolve();
	for (const left of leftovers(pid, folder)) kill(left.pid, "SIGTERM");
	await Promise.race([exited, sleep(GRACE_MS, undefined, { ref: false })]);
	for (const left of leftovers(pid, folder)) kill(left.pid, "SIGKILL");
	await exited;
}

function processes(): readonly number[] {
	try {
		return readdirSync("/proc").map(Number).filter(Number.isInteger);
	} catch {
		return [];
	}
}

/** Empty for a process that is gone, or somebody else's. */
function read(file: string): string {
	try {
		return readFileSync(file, "latin1");
	} catch {
		return "";
	}
}
