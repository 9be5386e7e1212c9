import { once } from "node:events";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import { openJobs } from "../../src/queue/openJobs.ts";
import type { Topology } from "../../src/topology/types.ts";
import type { WorkerLimits } from "../../src/worker/limits.ts";
import { Worker } from "../../src/worker/worker.ts";
import { type Report, trial } from "./trialKind.ts";

/** What a worker process starts with, as JSON in its first argument. */
export interface ChildOptions {
	readonly topology: Topology;
	readonly redis: string | null;
	readonly concurrency: number;
	readonly limits: Partial<WorkerLimits>;
}

const given = process.argv[2];
if (given === undefined) throw new Error("expected options");
const options: ChildOptions = JSON.parse(given);
await using opened = new AsyncDisposableStack();
const jobs = await openJobs(
	{
		topology: options.topology,
		redis: options.redis === null ? null : new RedisConnections(options.redis),
		queues: [],
	},
	opened,
);
if (jobs === null) throw new Error("expected queues");
const worker = opened.use(
	await Worker.start({
		...jobs,
		kinds: [trial],
		context: (report: Report) => void process.send?.(report),
		concurrency: options.concurrency,
		limits: options.limits,
	}),
);
process.send?.("ready");
await once(process, "SIGTERM");
await worker.drain({ endsProcess: true });
process.send?.("drained");
process.exit(0);
