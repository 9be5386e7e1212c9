import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../errors.ts";
import type { CommandContext } from "./commandContext.ts";

/** A worker that ends sooner than this after its start did not get as far as serving. Milliseconds. */
const YOUNG_MS = 5_000;
/** So many young deaths in a row, and there is something wrong that another start will not mend. */
const MOST_YOUNG_DEATHS = 5;
const RESTART_PAUSE_MS = 500;
/** Longer than a worker's own drain. Milliseconds. */
const END_LIMIT_MS = 15_000;

/** Whether this process is one of several that serve, started by `serveWith`. */
export function isWorker(): boolean {
	return cluster.isWorker;
}

/**
 * Serve with several processes on one port until interrupted. One that dies is
 * replaced; an interrupt is handed on, and all have drained when this answers.
 */
export async function runWorkers(
	count: number,
	io: CommandContext,
): Promise<number> {
	const interruption = io.interruptSignal();
	cluster.setupPrimary({ silent: false });
	const workers = new Set<Worker>();
	let youngDeaths = 0;
	let gaveUp = false;
	/** Settled when no worker is to be started any more. */
	const ending = Promise.withResolvers<void>();
	const stopped = Promise.withResolvers<void>();

	const start = () => {
		const worker = cluster.fork();
		const born = performance.now();
		workers.add(worker);
		worker.on("exit", async (code, signal) => {
			workers.delete(worker);
			if (interruption.aborted || gaveUp) {
				if (workers.size === 0) stopped.resolve();
				return;
			}
			io.stderr(`worker ${worker.process.pid} ended (${signal ?? code})`);
			youngDeaths = performance.now() - born < YOUNG_MS ? youngDeaths + 1 : 0;
			if (youngDeaths >= MOST_YOUNG_DEATHS) {
				gaveUp = true;
				ending.resolve();
				return;
			}
			await sleep(RESTART_PAUSE_MS);
			if (!interruption.aborted && !gaveUp) start();
		});
	};
	for (let n = 0; n < count; n++) start();

	await Promise.race([once(interruption, "abort"), ending.promise]);
	for (const worker of workers) worker.process.kill("SIGTERM");
	const late = setTimeout(() => {
		for (const worker of workers) worker.process.kill("SIGKILL");
	}, END_LIMIT_MS);
	if (workers.size > 0) await stopped.promise;
	clearTimeout(late);
	if (gaveUp) {
		throw new CorkboardError(
			"UNAVAILABLE",
			`workers ended ${MOST_YOUNG_DEATHS} times right after their start; what they said stands above`,
		);
	}
	return 0;
}
