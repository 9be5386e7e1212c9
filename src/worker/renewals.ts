import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker as Thread } from "node:worker_threads";
import type { Held } from "../queue/jobStore.ts";
import type { JobStoreSource } from "../queue/openedJobStore.ts";
import { monotonicMs } from "../util/monotonic.ts";
import { WORKER_CHANNELS } from "./diagnostics.ts";
import { type HeldClaims, HeldJobs } from "./heldJobs.ts";

/** Ended jobs are reported to the thread after so long, or so many at once. */
const DROP_MS = 20;
const MOST_DROPPED = 500;

/** Main thread to renewal thread. */
export type RenewalCommand =
	| { readonly kind: "hold"; readonly claims: HeldClaims }
	| { readonly kind: "drop"; readonly jobs: readonly Held[] }
	/** The process has to have ended by then. */
	| { readonly kind: "endBy"; readonly at: number }
	| { readonly kind: "source"; readonly source: JobStoreSource }
	| { readonly kind: "stop" };

/** Renewal thread to main thread. */
export type RenewalReport =
	| { readonly kind: "ready" }
	| {
			readonly kind: "lost";
			readonly jobs: readonly Held[];
	  }
	| {
			readonly kind: "renewed";
			readonly jobs: readonly Held[];
			readonly at: number;
	  }
	| { readonly kind: "problem"; readonly message: string | null };

/** What the renewal thread starts with. */
export interface RenewalStart {
	readonly source: JobStoreSource;
	/** One 32-bit number, which the main thread raises while its event loop runs. */
	readonly ticks: SharedArrayBuffer;
	readonly maxBlockMs: number;
}

interface RenewalEvents {
	/** The claims have ended: others may have them. */
	onLost(jobs: readonly Held[]): void;
	/** They were renewed at this moment (`monotonicMs`). */
	onRenewed(jobs: readonly Held[], at: number): void;
}

/** A thread that ended by an error is begun anew after this. Milliseconds. */
const AGAIN_MS = 1_000;

/**
 * Renews the claims of this process in a thread with a connection of its own:
 * a handler that keeps the event loop busy does not lose its jobs over it. So
 * that a process that hangs does not keep them forever, the main thread raises
 * a counter, and renewal stops when that has not changed for `maxBlockMs`.
 *
 * A thread that ends by an error is reported and begun anew, with the claims
 * that are still valid. Those that end meanwhile are lost, as when none renews.
 */
export class Renewals implements AsyncDisposable {
	readonly #start: RenewalStart;
	readonly #events: RenewalEvents;
	readonly #timer: NodeJS.Timeout;
	/** What the thread holds, for the next one. */
	readonly #held = new HeldJobs();
	#source: JobStoreSource;
	#endAt: number | null = null;
	#isStopping = false;
	#thread: Thread | null = null;
	/** Resolves when no thread runs any more, and none will. */
	readonly #ended = Promise.withResolvers<void>();
	/** Reported together: a message for each job would cost more than a short job. */
	#dropped: Held[] = [];
	#dropTimer: NodeJS.Timeout | undefined;

	private constructor(start: RenewalStart, events: RenewalEvents) {
		this.#start = start;
		this.#events = events;
		this.#source = start.source;
		const counter = new Int32Array(start.ticks);
		this.#timer = setInterval(
			() => Atomics.add(counter, 0, 1),
			Math.min(1_000, start.maxBlockMs / 4),
		).unref();
	}

	/** Rejects if the thread cannot open the job store. */
	static async start(
		options: Omit<RenewalStart, "ticks"> & { readonly events: RenewalEvents },
	): Promise<Renewals> {
		const { events, ...start } = options;
		const ticks = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
		const renewals = new Renewals({ ...start, ticks }, events);
		try {
			await renewals.#begin();
		} catch (error) {
			clearInterval(renewals.#timer);
			throw error;
		}
		return renewals;
	}

	hold(claims: HeldClaims): void {
		this.#held.hold(claims);
		this.#send({ kind: "hold", claims });
	}

	/** Ends renewing a claim, soon: one that is renewed after its job has ended does no harm. */
	drop(job: Held): void {
		this.#held.drop([job]);
		this.#dropped.push(job);
		if (this.#dropped.length >= MOST_DROPPED) this.#sendDropped();
		else this.#dropTimer ??= setTimeout(() => this.#sendDropped(), DROP_MS);
	}

	/** The topology has changed. */
	switchSource(source: JobStoreSource): void {
		this.#source = source;
		this.#send({ kind: "source", source });
	}

	/** Ends the process then (`monotonicMs`), even if its event loop is busy, unless this is disposed of before. */
	endProcessAt(at: number): void {
		this.#endAt = at;
		this.#send({ kind: "endBy", at });
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isStopping = true;
		clearInterval(this.#timer);
		clearTimeout(this.#dropTimer);
		if (this.#thread === null) this.#ended.resolve();
		this.#send({ kind: "stop" });
		await this.#ended.promise;
	}

	/** Resolves when the thread has opened the store. */
	async #begin(): Promise<void> {
		const thread = new Thread(new URL("renewalThread.mjs", import.meta.url), {
			workerData: {
				...this.#start,
				source: this.#source,
			} satisfies RenewalStart,
		});
		// Rejects at an error of the thread.
		await once(thread, "message");
		this.#thread = thread;
		thread.on("message", (report: RenewalReport) => this.#receive(report));
		thread.on("error", publish);
		thread.once("exit", () => {
			this.#thread = null;
			if (this.#isStopping) this.#ended.resolve();
			else void this.#beginAgain();
		});
		for (const claims of this.#held.all()) this.#send({ kind: "hold", claims });
		if (this.#endAt !== null) this.#send({ kind: "endBy", at: this.#endAt });
		if (this.#isStopping) this.#send({ kind: "stop" });
	}

	/** Never rejects. */
	async #beginAgain(): Promise<void> {
		while (this.#thread === null && !this.#isStopping) {
			await sleep(AGAIN_MS, undefined, { ref: false });
			const now = monotonicMs();
			for (const { jobs } of this.#held.all()) {
				this.#lose(this.#held.overdue(jobs, now));
			}
			if (this.#isStopping) return;
			await this.#begin().then(() => publish(null), publish);
		}
	}

	#receive(report: RenewalReport): void {
		if (report.kind === "lost") this.#lose(report.jobs);
		if (report.kind === "renewed") {
			this.#held.renewed(report.jobs, report.at);
			this.#events.onRenewed(report.jobs, report.at);
		}
		if (report.kind === "problem") publish(report.message);
	}

	#lose(jobs: readonly Held[]): void {
		if (jobs.length === 0) return;
		this.#held.drop(jobs);
		this.#events.onLost(jobs);
	}

	#sendDropped(): void {
		clearTimeout(this.#dropTimer);
		this.#dropTimer = undefined;
		this.#send({ kind: "drop", jobs: this.#dropped });
		this.#dropped = [];
	}

	#send(command: RenewalCommand): void {
		this.#thread?.postMessage(command);
	}
}

function publish(error: unknown): void {
	if (!WORKER_CHANNELS.workerProblem.hasSubscribers) return;
	WORKER_CHANNELS.workerProblem.publish({
		kind: "renewals",
		shard: null,
		error,
	});
}
