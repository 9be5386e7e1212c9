import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "./server.ts";

const LIMIT_MS = 5_000;

/** Asserts that neither the process nor the folder of a server is left, soon. */
export async function assertGone({
	pid,
	folder,
}: Pick<Server, "pid" | "folder">): Promise<void> {
	const deadline = performance.now() + LIMIT_MS;
	while (performance.now() < deadline && (isAlive(pid) || existsSync(folder))) {
		await sleep(20);
	}
	assert.equal(isAlive(pid), false, `process ${pid} is alive`);
	assert.equal(existsSync(folder), false, `${folder} is there`);
}

export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
		return false;
	}
}
