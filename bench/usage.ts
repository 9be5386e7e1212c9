import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks per second in /proc: 100 on all Linux kernels (proc(5)). */
const TICKS = 100;

/** User and system time of a process and its live threads. Milliseconds. */
export function cpuMs(pid: number): number {
	if (process.platform !== "linux") return cpuMsByPs(pid);
	try {
		let nanoseconds = 0;
		for (const thread of readdirSync(`/proc/${pid}/task`)) {
			// Nanoseconds on a core, where `stat` has ticks of 10 ms.
			const text = readFileSync(
				`/proc/${pid}/task/${thread}/schedstat`,
				"utf8",
			);
			nanoseconds += Number(text.split(" ", 1)[0]);
		}
		return nanoseconds / 1e6;
	} catch {
		return cpuMsByPs(pid);
	}
}

/**
 * As `cpuMs`, in ticks of 10 ms, but with threads that have ended: a database
 * ends those of closed connections.
 */
export function cpuMsOfAll(pid: number): number {
	return ticksOf(pid, [11, 12]) ?? cpuMsByPs(pid);
}

/** Milliseconds from fields of proc_pid_stat(5), counted after the name; undefined on other systems. */
function ticksOf(pid: number, wanted: readonly number[]): number | undefined {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
		// The name, in parentheses, may hold spaces.
		const [, ...fields] = stat.slice(stat.lastIndexOf(")")).split(" ");
		const ticks = wanted.reduce((sum, n) => sum + Number(fields[n]), 0);
		return (ticks * 1_000) / TICKS;
	} catch {
		return undefined;
	}
}

/** As `cpuMsOfAll`, with all children, also ended ones: PostgreSQL has a process for each connection. */
export function cpuMsWithChildren(pid: number): number {
	let total = ticksOf(pid, [11, 12, 13, 14]) ?? cpuMsByPs(pid);
	for (const child of childrenOf(pid)) total += cpuMsOfAll(child);
	return total;
}

/** Resident memory. Megabytes. */
export function residentMb(pid: number): number {
	try {
		const status = readFileSync(`/proc/${pid}/status`, "utf8");
		return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024;
	} catch {
		return Number(ps(pid, "rss=")) / 1_024;
	}
}

/** The share of the machine that other guests of its host took, of all time so far. Linux only. */
export function stolenSeconds(): number {
	try {
		const [, ...fields] = (
			readFileSync("/proc/stat", "utf8").split("\n", 1)[0] ?? ""
		).split(/\s+/);
		return Number(fields[7] ?? 0) / 100;
	} catch {
		return 0;
	}
}

function childrenOf(pid: number): readonly number[] {
	try {
		return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
			.split(" ")
			.filter((word) => word.trim() !== "")
			.map(Number);
	} catch {
		return [];
	}
}

/** `[[DD-]HH:]MM:SS[.ss]` */
function cpuMsByPs(pid: number): number {
	const [days = "0", clock = ""] = ps(pid, "cputime=").includes("-")
		? ps(pid, "cputime=").split("-")
		: ["0", ps(pid, "cputime=")];
	const seconds = clock
		.split(":")
		.reduce((total, part) => total * 60 + Number(part), 0);
	return (Number(days) * 86_400 + seconds) * 1_000;
}

function ps(pid: number, what: string): string {
	try {
		return execFileSync("ps", ["-o", what, "-p", String(pid)], {
			encoding: "utf8",
		}).trim();
	} catch {
		return "0";
	}
}
