import { asCorkboardError, CorkboardError } from "../../errors.ts";
import type { Node } from "../../graph/types.ts";
import type { Id } from "../../id/ids.ts";
import type { CallOptions } from "../../trace.ts";
import type { OperationDeadline } from "../../util/deadline.ts";
import { isPromise, type MaybePromise } from "../../util/maybePromise.ts";
import type { PlanStep } from "../plan.ts";

export interface Tracer {
	/** Called at the start of each step. `parents` are ids for a scan or a fetch, objects for a call. */
	start(
		step: PlanStep,
		parents: readonly unknown[],
		deadline: OperationDeadline | undefined,
	): StepTrace;
}

/** Passed, as the options of its calls, to everything that the step calls. */
export interface StepTrace extends CallOptions {
	/** Its results are not in memory. */
	wait(): void;
	end(results: readonly unknown[]): void;
	/** Called instead of `end` when the step fails for all parents. */
	fail(error: unknown): void;
}

/** One run of a step. Exactly one of `accept` and `reject` is called, once. */
export interface StepRun {
	run(
		parents: readonly unknown[],
		call: CallOptions,
	): MaybePromise<readonly unknown[]>;
	/** Gets one result for each parent. */
	accept(results: readonly unknown[]): void;
	reject(error: CorkboardError): void;
}

/**
 * Runs the steps of one execution and knows which are pending. A step whose
 * results are in memory ends as soon as it starts. After the deadline,
 * pending and later steps are rejected with UNAVAILABLE, and results that still
 * arrive are ignored.
 */
export class StepRunner implements Disposable {
	readonly #deadline: OperationDeadline | undefined;
	readonly #tracer: Tracer | undefined;
	/** The options of untraced steps. */
	readonly #call: CallOptions;
	readonly #pending = new Map<StepRun, StepTrace | undefined>();
	#isListening = false;
	/** Ends `untilIdle`, with an error that no step should have thrown. */
	#onIdle: ((bug?: unknown) => void) | null = null;

	/** Called after each step that was waited for. */
	readonly #onEnd: () => void;

	constructor(
		{
			deadline,
			tracer,
		}: { readonly deadline?: OperationDeadline; readonly tracer?: Tracer },
		onEnd: () => void,
	) {
		this.#onEnd = onEnd;
		this.#deadline = deadline;
		this.#tracer = tracer;
		this.#call = new UntracedCall(deadline);
	}

	/** Ends the execution: results that still arrive are ignored. */
	[Symbol.dispose](): void {
		this.#pending.clear();
		if (!this.#isListening) return;
		this.#deadline?.signal.removeEventListener("abort", this.#abort);
	}

	/** Starts a step. If its results are in memory, it ends before this returns. */
	run(
		step: PlanStep,
		parents: readonly (Id | Node | null)[],
		stepRun: StepRun,
	): void {
		if (this.#deadline?.isOver) {
			stepRun.reject(deadlineExceeded());
			return;
		}
		const traced = this.#tracer?.start(step, parents, this.#deadline);
		let results: MaybePromise<readonly unknown[]>;
		try {
			results = stepRun.run(parents, traced ?? this.#call);
		} catch (thrown) {
			fail(stepRun, thrown, traced);
			return;
		}
		if (isPromise(results)) {
			this.#wait(step, parents, stepRun, results, traced);
		} else {
			end(step, parents, stepRun, results, traced);
		}
	}

	#wait(
		step: PlanStep,
		parents: readonly unknown[],
		stepRun: StepRun,
		started: Promise<readonly unknown[]>,
		traced: StepTrace | undefined,
	): void {
		// A request whose data is in memory never listens: it costs some µs.
		if (!this.#isListening) {
			this.#isListening = true;
			this.#deadline?.signal.addEventListener("abort", this.#abort, {
				once: true,
			});
		}
		traced?.wait();
		this.#pending.set(stepRun, traced);
		started.then(
			(results) =>
				this.#finish(stepRun, () =>
					end(step, parents, stepRun, results, traced),
				),
			(thrown) => this.#finish(stepRun, () => fail(stepRun, thrown, traced)),
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
			this.#onEnd();
		} catch (bug) {
			this.#fail(bug);
			return;
		}
		if (this.#pending.size === 0) this.#onIdle?.();
	}

	/** Results that still arrive are ignored. */
	#fail(bug: unknown): void {
		this.#pending.clear();
		this.#onIdle?.(bug);
	}

	readonly #abort = (): void => {
		const error = deadlineExceeded();
		try {
			for (const [stepRun, traced] of this.#pending) {
				this.#pending.delete(stepRun);
				traced?.fail(error);
				stepRun.reject(error);
			}
			this.#onEnd();
		} catch (bug) {
			this.#fail(bug);
			return;
		}
		this.#onIdle?.();
	};
}

/** The signal exists from the first time that someone asks for it: what is read from memory does not. */
class UntracedCall implements CallOptions {
	readonly #deadline: OperationDeadline | undefined;

	constructor(deadline: OperationDeadline | undefined) {
		this.#deadline = deadline;
	}

	get signal(): AbortSignal | undefined {
		return this.#deadline?.signal;
	}
}

function end(
	step: PlanStep,
	parents: readonly unknown[],
	stepRun: StepRun,
	results: readonly unknown[],
	traced: StepTrace | undefined,
): void {
	traced?.end(results);
	if (results.length === parents.length) stepRun.accept(results);
	else stepRun.reject(wrongLength(step, parents, results));
}

function fail(
	stepRun: StepRun,
	thrown: unknown,
	traced: StepTrace | undefined,
): void {
	traced?.fail(thrown);
	stepRun.reject(asCorkboardError(thrown));
}

function deadlineExceeded(): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"The request exceeded its time limit.",
	);
}

function wrongLength(
	{ kind, target }: PlanStep,
	parents: readonly unknown[],
	results: readonly unknown[],
): CorkboardError {
	return new CorkboardError(
		"BAD_DATA",
		`The ${kind} of ${target} returned ${results.length} results for ${parents.length} parents.`,
	);
}
