import { setTimeout as sleep } from "node:timers/promises";
import type { JobHints } from "../queue/hints.ts";
import { type AnyJob, ClaimLost } from "../queue/job.ts";
import type { Held, JobStore, JobUpdate } from "../queue/jobStore.ts";
import type { LiveSettings } from "../queue/liveSettings.ts";
import type { JobStoreSource } from "../queue/openedJobStore.ts";
import { rotateQueues } from "../queue/rotation.ts";
import type { RotationStore } from "../queue/rotationStore.ts";
import { monotonicMs } from "../util/monotonic.ts";
import { Acks } from "./acks.ts";
import { Capacity } from "./capacity.ts";
import { type ClaimedTogether, ClaimLoop, WakeUp } from "./claimLoop.ts";
import { Expiry } from "./expiry.ts";
import { keyOf } from "./heldJobs.ts";
import { JobBuffer } from "./jobBuffer.ts";
import { WORKER_LIMITS, type WorkerLimits } from "./limits.ts";
import { Renewals } from "./renewals.ts";
import { type AttemptOutcome, ackOf, runJob, WorkerStops } from "./runJob.ts";
import { ShardProblems } from "./shardProblems.ts";
import { SharedTask } from "./sharedTask.ts";
import { publishEnd, type WorkerJob, workerJobOf } from "./workerJob.ts";
import { WorkerQueue } from "./workerQueue.ts";

interface WorkerOptions<Context> {
	readonly store: JobStore & RotationStore;
	readonly settings: LiveSettings;
	/** The same store, for the thread that renews claims. */
	readonly source: JobStoreSource;
	/** Calls back when the store has switched to other hosts. The function returned ends that. */
	readonly onSwitch?: (
		listener: (source: JobStoreSource) => void,
	) => () => void;
	/** What it can run, one for each queue. Jobs of other queues are left alone. */
	readonly kinds: readonly AnyJob<Context>[];
	readonly context: Context;
	readonly hints: JobHints;
	/** Jobs that run at the same time. */
	readonly concurrency: number;
	readonly limits?: Partial<WorkerLimits>;
}

/**
 * Claims jobs and runs them, until `drain`. One loop claims (`ClaimLoop`) and
 * fills a small buffer, from which jobs start as others end. A thread
 * renews the claims (`Renewals`).
 */
export class Worker<Context> implements AsyncDisposable {
	readonly #store: JobStore & RotationStore;
	readonly #settings: LiveSettings;
	readonly #context: Context;
	readonly #limits: WorkerLimits;
	readonly #queues: ReadonlyMap<string, WorkerQueue<Context>>;
	readonly #acks: Acks;
	readonly #claims: ClaimLoop<Context>;
	readonly #buffer = new JobBuffer<WorkerJob<Context>>();
	readonly #running = new Set<WorkerJob<Context>>();
	/** By local id and claim: every job that this process has claimed and not reported. */
	readonly #held = new Map<string, WorkerJob<Context>>();
	readonly #capacity: Capacity;
	readonly #wake = new WakeUp();
	readonly #stopping = new AbortController();
	readonly #loops: Promise<void>[] = [];
	#unsubscribe: () => void;
	#renewals: Renewals | undefined;
	#drained: Promise<void> | undefined;
	readonly #problems = new ShardProblems();

	private constructor(options: WorkerOptions<Context>) {
		this.#store = options.store;
		this.#settings = options.settings;
		this.#context = options.context;
		this.#limits = { ...WORKER_LIMITS, ...options.limits };
		this.#queues = new Map(
			options.kinds.map((kind) => [
				kind.queue,
				new WorkerQueue(kind, options.settings),
			]),
		);
		this.#acks = new Acks(this.#store);
		this.#capacity = new Capacity(options.concurrency, {
			running: this.#running,
			waiting: this.#buffer,
			held: this.#held,
		});
		this.#claims = new ClaimLoop({
			store: this.#store,
			settings: this.#settings,
			hints: options.hints,
			queues: this.#queues,
			limits: this.#limits,
			acks: this.#acks,
			problems: this.#problems,
			wake: this.#wake,
			signal: this.#stopping.signal,
			capacity: this.#capacity,
			onClaimed: this.#add.bind(this),
		});
		this.#unsubscribe = options.hints.subscribe(
			(queue, shard, priority) => {
				if (!this.#queues.has(queue)) return;
				this.#claims.hint({ queue, shard }, priority ?? null);
			},
			[...this.#queues.keys()],
		);
	}

	/** Rejects if the job store cannot be opened for the renewal thread. */
	static async start<Context>(
		options: WorkerOptions<Context>,
	): Promise<Worker<Context>> {
		const worker = new Worker(options);
		worker.#renewals = await Renewals.start({
			source: options.source,
			maxBlockMs: worker.#limits.maxBlockMs,
			events: {
				onLost: (jobs) => worker.#lose(jobs),
				onRenewed: (jobs, at) => worker.#renewed(jobs, at),
			},
		});
		const unsubscribe = worker.#unsubscribe;
		const unfollow = options.onSwitch?.((source) =>
			worker.#renewals?.switchSource(source),
		);
		worker.#unsubscribe = () => {
			unsubscribe();
			unfollow?.();
		};
		const { expireMs, rotateMs } = worker.#limits;
		const shared = { hints: options.hints, queues: worker.queues };
		const expiry = new Expiry({
			store: worker.#store,
			queues: worker.#queues,
			pastMs: worker.#limits.expirePastMs,
			turns: new SharedTask({ ...shared, name: "expiry", everyMs: expireMs }),
			problems: worker.#problems,
		});
		const rotation = new SharedTask({
			...shared,
			name: "rotation",
			everyMs: rotateMs,
		});
		worker.#loops.push(
			worker.#claims.run(),
			worker.#every(worker.#limits.expireMs, () => expiry.pass()),
			worker.#every(250, async () => worker.#releaseLate()),
			worker.#every(worker.#limits.rotateMs, async () => {
				if (!(await rotation.isMine())) return;
				await rotateQueues(
					worker.#store,
					worker.#settings,
					worker.#stopping.signal,
				);
			}),
		);
		return worker;
	}

	/** Whose jobs it runs. */
	get queues(): readonly string[] {
		return [...this.#queues.keys()];
	}

	/** Jobs that run now. */
	get running(): number {
		return this.#running.size;
	}

	/**
	 * Ends the worker. It claims nothing more and gives back what has not begun.
	 * Running jobs get `drainMs`, then their signals abort; those that run
	 * `abortMs` later are given back, without an attempt used. Resolves then in any
	 * case. With `endsProcess`, a thread kills the process if a handler keeps
	 * the event loop busy past these times.
	 */
	drain(options?: { readonly endsProcess?: boolean }): Promise<void> {
		this.#drained ??= this.#drain(options?.endsProcess ?? false);
		return this.#drained;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.drain();
	}

	async #drain(endsProcess: boolean): Promise<void> {
		const { drainMs, abortMs, releaseMs } = this.#limits;
		if (endsProcess) {
			const mostMs = drainMs + abortMs + 2 * releaseMs;
			this.#renewals?.endProcessAt(monotonicMs() + mostMs);
		}
		this.#stopping.abort();
		this.#unsubscribe();
		this.#wake.wake();
		const loops = Promise.all(this.#loops);
		this.#release(this.#buffer.remove(() => true));
		await this.#untilIdle(drainMs);
		for (const { abortion } of this.#running) {
			abortion.abort(new WorkerStops("The worker stops."));
		}
		await this.#untilIdle(abortMs);
		this.#release([...this.#running]);
		const reported = async () => {
			await loops;
			while (this.#held.size > 0) {
				await this.#acks.flush();
				if (this.#held.size > 0) await sleep(20);
			}
		};
		const abandon = new AbortController();
		await Promise.race([
			reported().catch(() => {}),
			sleep(releaseMs, undefined, { signal: abandon.signal }).catch(() => {}),
		]);
		abandon.abort();
		await this.#renewals?.[Symbol.asyncDispose]();
	}

	/** Resolves when nothing runs, or after so long. */
	async #untilIdle(ms: number): Promise<void> {
		const until = monotonicMs() + ms;
		while (this.#running.size > 0 && monotonicMs() < until) {
			await this.#wake.wait(Math.min(100, until - monotonicMs()));
		}
	}

	/** Runs until the worker stops. */
	async #every(ms: number, run: () => Promise<void>): Promise<void> {
		const { signal } = this.#stopping;
		while (!signal.aborted) {
			// So that workers that started together do not ask together.
			const jittered = ms * (0.8 + 0.4 * Math.random());
			await sleep(jittered, undefined, { signal, ref: false }).catch(() => {});
			if (signal.aborted) return;
			await run().catch((error) => this.#problems.failed(null, error));
		}
	}

	#add(
		queue: WorkerQueue<Context>,
		{ place, jobs, claimMs, since }: ClaimedTogether,
	): void {
		this.#renewals?.hold({
			place,
			jobs: jobs.map(({ local, bucket, claim }) => ({ local, bucket, claim })),
			claimMs,
			since,
		});
		const workerJobs = jobs.map((job) =>
			workerJobOf(queue, { place, job, claimMs, since }),
		);
		for (const workerJob of workerJobs)
			this.#held.set(keyOf(workerJob.job), workerJob);
		if (this.#stopping.signal.aborted) {
			this.#release(workerJobs);
			return;
		}
		this.#buffer.add(workerJobs);
		this.#startJobs();
	}

	#startJobs(): void {
		while (this.#capacity.canStart) {
			const workerJob = this.#buffer.take();
			if (workerJob === undefined) break;
			// The process may have been paused since it was claimed.
			if (workerJob.until <= monotonicMs()) {
				this.#release([workerJob]);
				continue;
			}
			this.#running.add(workerJob);
			void this.#run(workerJob);
		}
		if (this.#capacity.wants) this.#wake.wake();
	}

	/** Never rejects. */
	async #run(workerJob: WorkerJob<Context>): Promise<void> {
		const { queue, place, job, abortion } = workerJob;
		workerJob.startedAt = monotonicMs();
		const outcome = await runJob(queue.kind, job, {
			place,
			context: this.#context,
			abortion,
			backoff: queue.backoff,
			checkpoint: (update) => this.#checkpoint(workerJob, update),
		});
		this.#running.delete(workerJob);
		this.#startJobs();
		if (workerJob.isReleased) return;
		await this.#report(workerJob, outcome);
	}

	async #report(
		workerJob: WorkerJob<Context>,
		outcome: AttemptOutcome,
	): Promise<void> {
		const { place, job } = workerJob;
		const result =
			outcome.kind === "lost"
				? "lost"
				: await this.#acks.send(
						place,
						ackOf(outcome, job),
						() => workerJob.until,
					);
		this.#held.delete(keyOf(job));
		this.#renewals?.drop({
			local: job.local,
			bucket: job.bucket,
			claim: job.claim,
		});
		if (this.#held.size === 0 || this.#capacity.wants) this.#wake.wake();
		publishEnd(workerJob, result, outcome);
	}

	async #checkpoint(
		workerJob: WorkerJob<Context>,
		update: JobUpdate,
	): Promise<void> {
		const { local, bucket, claim } = workerJob.job;
		const { acked } = await this.#store.ackAndClaim(workerJob.place, {
			acks: [{ kind: "checkpoint", local, bucket, claim, ...update }],
		});
		if (acked[0] === "done") return;
		const lost = new ClaimLost("The claim of the job has ended.");
		workerJob.abortion.abort(lost);
		throw lost;
	}

	/** Gives jobs back, as if they had not been started. */
	#release(workerJobs: readonly WorkerJob<Context>[]): void {
		for (const workerJob of workerJobs) {
			workerJob.isReleased = true;
			void this.#report(workerJob, { kind: "release", delayMs: 0 });
		}
	}

	/** Jobs that could not begin in time are somebody else's. */
	#releaseLate(): void {
		const now = monotonicMs();
		this.#release(this.#buffer.remove(({ startBy }) => startBy < now));
	}

	#lose(jobs: readonly Held[]): void {
		for (const job of jobs) {
			const workerJob = this.#held.get(keyOf(job));
			if (workerJob === undefined) continue;
			workerJob.until = 0;
			workerJob.abortion.abort(
				new ClaimLost("The claim of the job has ended."),
			);
			for (const buffered of this.#buffer.remove((one) => one === workerJob)) {
				void this.#report(buffered, { kind: "lost" });
			}
		}
	}

	#renewed(jobs: readonly Held[], at: number): void {
		for (const job of jobs) {
			const workerJob = this.#held.get(keyOf(job));
			if (workerJob !== undefined)
				workerJob.until = at + workerJob.queue.claimMs;
		}
	}
}
