import type { CallOptions, Trace } from "../diagnostics.ts";
import { asCorkboardError, CorkboardError } from "../errors.ts";
import type { Node } from "../graph/types.ts";
import type { Id } from "../id/ids.ts";
import type { Step } from "./plan.ts";

/** Called at the start of each step. `parents` are ids for a scan or a fetch, objects for a call. */
export type Tracer = (step: Step, parents: readonly unknown[]) => StepTrace;

export interface StepTrace {
	/** Passed to everything that the step calls. */
	readonly trace: Trace;
	end(results: readonly unknown[]): void;
	/** Called instead of `end` when the step fails for all parents. */
	fail(error: unknown): void;
}

/** One run of a step. Exactly one of `accept` and `reject` is called, once. */
export interface StepRun {
	readonly start: (call: CallOptions) => Promise<readonly unknown[]>;
	/** Gets one result for each parent. */
	readonly accept: (results: readonly unknown[]) => void;
	readonly reject: (error: CorkboardError) => void;
}

/**
 * Runs the steps of one execution and knows which are pending. When the signal
 * aborts, pending and later steps are rejected with UNAVAILABLE, and results
 * that still arrive are ignored.
 */
export class StepRunner implements Disposable {
	readonly #signal: AbortSignal | undefined;
	readonly #tracer: Tracer | undefined;
	/** The options of untraced steps. */
	readonly #call: CallOptions;
	readonly #pending = new Set<StepRun>();
	/** Ends `untilIdle`, with an error that no step should have thrown. */
	#onIdle: ((bug?: unknown) => void) | null = null;

	constructor({
		signal,
		tracer,
	}: {
		readonly signal?: AbortSignal;
		readonly tracer?: Tracer;
	}) {
		this.#signal = signal;
		this.#tracer = tracer;
		this.#call = signal ? { signal } : {};
		signal?.addEventListener("abort", this.#abort, { once: true });
	}

	[Symbol.dispose](): void {
		this.#signal?.removeEventListener("abort", this.#abort);
	}

	run(
		step: Step,
		parents: readonly (Id | Node | null)[],
		stepRun: StepRun,
	): void {
		if (this.#signal?.aborted) {
			stepRun.reject(deadlineExceeded());
			return;
		}
		const traced = this.#tracer?.(step, parents);
		let started: Promise<readonly unknown[]>;
		try {
			started = stepRun.start(
				traced ? { ...this.#call, trace: traced.trace } : this.#call,
			);
		} catch (thrown) {
			traced?.fail(thrown);
			stepRun.reject(asCorkboardError(thrown));
			return;
		}
		this.#pending.add(stepRun);
		started.then(
			(results) =>
				this.#finish(stepRun, () => {
					traced?.end(results);
					if (results.length === parents.length) stepRun.accept(results);
					else stepRun.reject(wrongLength(step, parents, results));
				}),
			(thrown) =>
				this.#finish(stepRun, () => {
					traced?.fail(thrown);
					stepRun.reject(asCorkboardError(thrown));
				}),
		);
	}

	/** Undefined if no step is pending: awaiting it would cost a turn of the event loop. */
	untilIdle(): Promise<void> | undefined {
		if (this.#pending.size === 0) return undefined;
		return new Promise((resolve, reject) => {
			this.#onIdle = (bug) => (bug === undefined ? resolve() : reject(bug));
		});
	}

	#finish(stepRun: StepRun, handle: () => void): void {
		// Removed by an abort: too late.
		if (!this.#pending.delete(stepRun)) return;
		try {
			handle();
		} catch (bug) {
			this.#onIdle?.(bug);
			return;
		}
		if (this.#pending.size === 0) this.#onIdle?.();
	}

	readonly #abort = (): void => {
		const error = deadlineExceeded();
		for (const stepRun of this.#pending) {
			this.#pending.delete(stepRun);
			stepRun.reject(error);
		}
		this.#onIdle?.();
	};
}

function deadlineExceeded(): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"The request exceeded its time limit.",
	);
}

function wrongLength(
	{ kind, target }: Step,
	parents: readonly unknown[],
	results: readonly unknown[],
): CorkboardError {
	return new CorkboardError(
		"BAD_DATA",
		`The ${kind} of ${target} returned ${results.length} results for ${parents.length} parents.`,
	);
}
