import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

/**
 * The server under test has the last core to itself, and everything else shares
 * the others: otherwise the databases and the load would take its time. Without
 * taskset(1), or with one core, nobody has a core of their own.
 */
export const CAN_PIN = availableParallelism() > 1 && hasTaskset();

const LAST = availableParallelism() - 1;

/** A thread that ends meanwhile makes taskset(1) fail. */
const TRIES = 5;

/** The words before a command that put it on the core of the server under test. */
export function onServerCore(command: readonly string[]): readonly string[] {
	return CAN_PIN ? ["taskset", "-c", String(LAST), ...command] : command;
}

/** Puts a process, with its threads, on the other cores. */
export function moveToOtherCores(pid: number): void {
	moveTo(`0-${LAST - 1}`, pid);
}

/** Puts a process, with its threads, on the core of the server under test. */
export function moveToServerCore(pid: number): void {
	moveTo(String(LAST), pid);
}

function moveTo(cores: string, pid: number): void {
	if (!CAN_PIN) return;
	for (let tries = 1; ; tries++) {
		try {
			execFileSync("taskset", ["-a", "-c", "-p", cores, String(pid)], {
				stdio: "ignore",
			});
			return;
		} catch (error) {
			if (tries === TRIES) throw error;
		}
	}
}

function hasTaskset(): boolean {
	try {
		execFileSync("taskset", ["--version"], { stdio: "ignore" });
		return process.platform === "linux";
	} catch {
		return false;
	}
}
