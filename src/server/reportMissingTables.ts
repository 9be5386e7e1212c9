import { setTimeout as sleep } from "node:timers/promises";
import {
	CREATE_TABLES,
	NAMED_TABLES,
	settingProblems,
} from "../storage/hostReport.ts";
import type { StorageAdmin } from "../storage/storage.ts";
import type { createLog } from "./log.ts";

/** Until all hosts answered. Milliseconds. */
const RETRY_MS = 10_000;

/**
 * Logs which tables and columns of this version the shards lack, as after an
 * update without `init`. In the background: a host that does not answer delays no
 * start, and those that have all their tables serve.
 */
export function reportMissingTables(
	admin: Pick<StorageAdmin, "missingTables">,
	log: Pick<ReturnType<typeof createLog>, "error">,
	retryMs = RETRY_MS,
): Disposable {
	const stop = new AbortController();
	const { signal } = stop;
	const check = async () => {
		while (!signal.aborted) {
			const missing = await admin.missingTables().catch(() => null);
			if (signal.aborted) return;
			if (missing !== null) {
				if (missing.length > 0) {
					log.error(
						{
							missing: missing.length,
							tables: missing.slice(0, NAMED_TABLES),
							create: CREATE_TABLES,
						},
						"tables missing",
					);
				}
				return;
			}
			await sleep(retryMs, undefined, { signal, ref: false }).catch(() => {});
		}
	};
	void check();
	return { [Symbol.dispose]: () => stop.abort() };
}

/** Logs in one line, and in the background, which hosts are set for fewer tables than they have. */
export async function reportSmallSettings(
	admin: Pick<StorageAdmin, "settings">,
	log: Pick<ReturnType<typeof createLog>, "warn">,
): Promise<void> {
	const problems = settingProblems(await admin.settings().catch(() => []));
	if (problems.length === 0) return;
	log.warn(
		{ hosts: problems.length, reason: problems[0] },
		"database settings too small",
	);
}
