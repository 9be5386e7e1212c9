import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

/**
 * The server under test has the last core to itself, and everything else shares
 * the others: otherwise the databases and the load would take its time. Without
 * taskset(1), or with one core, nobody has a core of their own.
 */
export const CAN_PIN = availableParallelism() > 1 && hasTaskset();

const LAST = availableParallelism() - 1;

/** The core of the server under test, as taskset(1) names it. */
export const SERVER_CORE = String(LAST);

/** The words before a command that put it on the core of the server under test. */
export function onServerCore(command: readonly string[]): readonly string[] {
	return CAN_PIN ? ["taskset", "-c", String(LAST), ...command] : command;
}

/** Puts a process, with its threads, on the other cores. */
export function moveToOtherCores(pid: number): void {
	if (!CAN_PIN) return;
	execFileSync("taskset", ["-a", "-c", "-p", `0-${LAST - 1}`, String(pid)], {
		stdio: "ignore",
	});
}

function hasTaskset(): boolean {
	try {
		execFileSync("taskset", ["--version"], { stdio: "ignore" });
		return process.platform === "linux";
	} catch {
		return false;
	}
}
