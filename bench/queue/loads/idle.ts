import { setTimeout as sleep } from "node:timers/promises";
import type { Cell } from "../cell.ts";
import type { LoadContext } from "./load.ts";

const QUEUES = Array.from({ length: 10 }, (_, index) => `bench${index}`);
/** They have found out by then that there is nothing to do, and have had the first rounds of rotation. */
const SETTLE_MS = 45_000;

/** Eight workers of ten queues with nothing to do: how much of a core they and their database take. */
export async function idle(
	{ system, servers, signal, agents }: LoadContext,
	seconds: number,
): Promise<Cell["values"]> {
	const target = await servers.target(system, QUEUES);
	const workers = await agents(
		...(["worker", "worker", "worker", "worker"] as const),
		...(["worker", "worker", "worker", "worker"] as const),
	);
	const [first] = workers;
	await first.call("prepare", target, signal);
	await Promise.all(
		workers.map((worker) => worker.call("startWorker", target, signal)),
	);
	await sleep(SETTLE_MS, undefined, { signal });
	const used = () => workers.reduce((sum, worker) => sum + worker.cpuMs(), 0);
	const began = performance.now();
	const workersBefore = used();
	const databaseBefore = await servers.cpuMs(system);
	await sleep(1_000 * seconds, undefined, { signal });
	const percent = 100 / (performance.now() - began);
	return {
		databasePercent: percent * ((await servers.cpuMs(system)) - databaseBefore),
		workersPercent: percent * (used() - workersBefore),
	};
}
