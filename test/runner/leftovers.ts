import { readdirSync, readFileSync } from "node:fs";

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
