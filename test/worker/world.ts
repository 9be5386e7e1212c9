import { Jobs } from "../../src/queue/enqueue/jobs.ts";
import { LocalHints } from "../../src/queue/hints.ts";
import type { AnyJob } from "../../src/queue/job.ts";
import { parseJobId } from "../../src/queue/jobId.ts";
import type { Job, JobState, JobStore } from "../../src/queue/jobStore.ts";
import { LiveSettings } from "../../src/queue/liveSettings.ts";
import { openJobStoreOf } from "../../src/queue/openJobStore.ts";
import type { WorkerLimits } from "../../src/worker/limits.ts";
import { Worker } from "../../src/worker/worker.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

export interface World extends AsyncDisposable {
	readonly store: JobStore;
	readonly settings: LiveSettings;
	readonly hints: LocalHints;
	readonly jobs: Jobs;
	readonly worker: Worker<undefined>;
	find(id: string): Promise<Job | null>;
	/** Waits until the job has this state. */
	untilEnded(id: string, state: JobState): Promise<Job>;
	/** Replaces the settings of a queue. */
	set(queue: string, settings: Job["status"] | object): Promise<void>;
}

/** Queues in SQLite with one shard, and a worker of this process. */
export async function openWorld(
	kinds: readonly AnyJob<undefined>[],
	options: {
		readonly concurrency?: number;
		readonly limits?: Partial<WorkerLimits>;
		readonly hints?: LocalHints;
		/** The settings of each queue. */
		readonly settings?: object;
	} = {},
): Promise<World> {
	await using opened = new AsyncDisposableStack();
	const folder = opened.use(temporaryFolder());
	const source = {
		queues: [{ range: [0, 0] as const, primary: `sqlite:${folder.path}` }],
	};
	const store = opened.use(openJobStoreOf(source));
	await store.createTables();
	let version = 0;
	const set = async (queue: string, settings: object) => {
		await store.put(0, {
			name: queue,
			settings: settings as Record<string, never>,
			version: version++,
		});
	};
	for (const { queue } of kinds) await set(queue, options.settings ?? {});
	const settings = opened.use(await LiveSettings.open(store, 50));
	const hints = options.hints ?? new LocalHints();
	const jobs = new Jobs(store, hints, null);
	const worker = opened.use(
		await Worker.start({
			store,
			settings,
			source,
			kinds,
			context: undefined,
			hints,
			concurrency: options.concurrency ?? 5,
			limits: {
				drainMs: 5_000,
				abortMs: 100,
				...options.limits,
			},
		}),
	);
	const find = async (id: string) => {
		const parsed = parseJobId(id);
		if (parsed === null) throw new TypeError(`no id: ${id}`);
		const [found = null] = await store.find(parsed, [parsed], { body: true });
		return found;
	};
	const resources = opened.move();
	return {
		store,
		settings,
		hints,
		jobs,
		worker,
		find,
		set: set as World["set"],
		async untilEnded(id, state) {
			let found: Job | null = null;
			await until(`the job ${state}`, async () => {
				found = await find(id);
				return found?.state === state;
			});
			return found as unknown as Job;
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}
