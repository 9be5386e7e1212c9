import { existsSync } from "node:fs";
import { until } from "../helpers/until.ts";
import type { Server } from "./server.ts";

/** Asserts that neither the process nor the folder of a server is left, soon. */
export async function assertGone({
	pid,
	folder,
}: Pick<Server, "pid" | "folder">): Promise<void> {
	await until(`process ${pid} to be gone`, () => !isAlive(pid));
	await until(`${folder} to be gone`, () => !existsSync(folder));
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
