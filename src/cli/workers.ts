import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../errors.ts";
import type { Io } from "./io.ts";

/** A worker that ends before it serves, or sooner than this after its start, died young. Milliseconds. */
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
export async function serveWith(count: number, io: Io): Promise<number> {
	const interruption = io.interruption();
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
		let hasServed = false;
		worker.once("listening", () => {
			hasServed = true;
		});
		workers.add(worker);
		worker.on("exit", async (code, signal) => {
			workers.delete(worker);
			if (interruption.aborted || gaveUp) {
				if (workers.size === 0) stopped.resolve();
				return;
			}
			io.err(`worker ${worker.process.pid} ended (${signal ?? code})`);
			const isYoung = !hasServed || performance.now() - born < YOUNG_MS;
			youngDeaths = isYoung ? youngDeaths + 1 : 0;
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
