import { once } from "node:events";
import { Worker as Thread } from "node:worker_threads";
import { CHANNELS, type WorkerProblem } from "../diagnostics.ts";
import type { Held, Place } from "../queue/jobStore.ts";
import type { JobStoreSource } from "./jobStoreSource.ts";

/** Ended jobs are reported to the thread after so long, or so many at once. */
const DROP_MS = 20;
const MOST_DROPPED = 500;

/** Claims of one place, made together. */
export interface HeldClaims {
	readonly place: Place;
	readonly jobs: readonly Held[];
	readonly claimMs: number;
	/** When they were made, in milliseconds of `monotonicMs`. */
	readonly since: number;
}

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
			readonly place: Place;
			readonly jobs: readonly Held[];
	  }
	| {
			readonly kind: "renewed";
			readonly place: Place;
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

export interface RenewalEvents {
	/** The claims have ended: others may have them. */
	onLost(place: Place, jobs: readonly Held[]): void;
	/** They were renewed at this moment (`monotonicMs`). */
	onRenewed(place: Place, jobs: readonly Held[], at: number): void;
}

/**
 * Renews the claims of this process in a thread with a connection of its own:
 * a handler that keeps the event loop busy does not lose its jobs over it. So
 * that a process that hangs does not keep them forever, the main thread raises
 * a counter, and renewal stops when that has stood still for `maxBlockMs`.
 */
export class Renewals implements AsyncDisposable {
	readonly #thread: Thread;
	readonly #timer: NodeJS.Timeout;
	readonly #ended: Promise<unknown>;
	/** Reported together: a message for each job would cost more than a short job. */
	#dropped: Held[] = [];
	#dropTimer: NodeJS.Timeout | undefined;

	private constructor(thread: Thread, timer: NodeJS.Timeout) {
		this.#thread = thread;
		this.#timer = timer;
		this.#ended = once(thread, "exit");
	}

	/** Rejects if the thread cannot open the job store. */
	static async start(
		options: Omit<RenewalStart, "ticks"> & { readonly events: RenewalEvents },
	): Promise<Renewals> {
		const { events, maxBlockMs } = options;
		const ticks = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
		const counter = new Int32Array(ticks);
		const thread = new Thread(new URL("renewalThread.mjs", import.meta.url), {
			workerData: {
				source: options.source,
				ticks,
				maxBlockMs,
			} satisfies RenewalStart,
		});
		const timer = setInterval(
			() => Atomics.add(counter, 0, 1),
			Math.min(1_000, maxBlockMs / 4),
		).unref();
		try {
			// Rejects at an error of the thread.
			await once(thread, "message");
		} catch (error) {
			clearInterval(timer);
			throw error;
		}
		thread.on("message", (report: RenewalReport) => {
			if (report.kind === "lost") events.onLost(report.place, report.jobs);
			if (report.kind === "renewed") {
				events.onRenewed(report.place, report.jobs, report.at);
			}
			if (report.kind === "problem") publish(report.message);
		});
		thread.on("error", (error) => publish(error));
		return new Renewals(thread, timer);
	}

	hold(claims: HeldClaims): void {
		this.#send({ kind: "hold", claims });
	}

	/** Ends renewing a claim, soon: one that is renewed after its job has ended does no harm. */
	drop(job: Held): void {
		this.#dropped.push(job);
		if (this.#dropped.length >= MOST_DROPPED) this.#sendDropped();
		else this.#dropTimer ??= setTimeout(() => this.#sendDropped(), DROP_MS);
	}

	/** The topology has changed. */
	switchSource(source: JobStoreSource): void {
		this.#send({ kind: "source", source });
	}

	/** Ends the process then (`monotonicMs`), also where its event loop is busy, unless this is disposed of before. */
	endProcessAt(at: number): void {
		this.#send({ kind: "endBy", at });
	}

	async [Symbol.asyncDispose](): Promise<void> {
		clearInterval(this.#timer);
		clearTimeout(this.#dropTimer);
		this.#send({ kind: "stop" });
		await this.#ended;
	}

	#sendDropped(): void {
		clearTimeout(this.#dropTimer);
		this.#dropTimer = undefined;
		this.#send({ kind: "drop", jobs: this.#dropped });
		this.#dropped = [];
	}

	#send(command: RenewalCommand): void {
		this.#thread.postMessage(command);
	}
}

function publish(error: unknown): void {
	if (!CHANNELS.workerProblem.hasSubscribers) return;
	CHANNELS.workerProblem.publish({
		kind: "renewals",
		shard: null,
		error,
	} satisfies WorkerProblem);
}
