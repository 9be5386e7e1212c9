import { CorkboardError } from "../../errors.ts";
import type { OperationStep } from "./operationRecord.ts";
import { beginOperation, isTakenOver, type Operation } from "./operations.ts";

/** One step of an operation. It may be done twice: by the process that began it, and by one that resumes. */
export interface Step {
	/** What operators read once it is done. */
	readonly name: string;
	/** It is done if the record says one of these. A step may save the next of them. */
	readonly during: readonly OperationStep[];
	/** Whether it changes a server. Then it is asked first whether this process still holds the operation. */
	readonly changesServers: boolean;
	does(): Promise<StepOutcome>;
	/**
	 * What undoes it, each tried whatever becomes of the others. They are tried also if
	 * the step may not have been done. A text: something that is left, though the
	 * operation may end.
	 */
	readonly undoes?: readonly (() => Promise<string | null>)[];
}

/** `skipped`: there was nothing to do. */
export type StepOutcome = undefined | "skipped" | Aborted;

/** The operation is undone, because of `why`. It fails with `error`; null: it did not happen, and that is no failure. */
export interface Aborted {
	readonly why: string;
	readonly error: CorkboardError | null;
}

/** When a step was done. On the clock of `performance.now()`. */
export interface DoneStep {
	readonly name: string;
	readonly began: number;
	readonly ended: number;
}

/** An operation as a list of steps, with the servers that these need. */
export interface OperationPlan<Result> extends AsyncDisposable {
	readonly operation: Operation;
	readonly steps: readonly Step[];
	/** Whether a failure before the publication undoes it at once, because writes wait. */
	readonly undoesFailures: boolean;
	say(what: string): Promise<void>;
	/** Why nothing can be undone now; null: it can. */
	undoIsRefused?(): Promise<CorkboardError | null>;
	/** What the record says at the end. `done`: the steps that this process did. */
	describeDone(done: readonly DoneStep[]): string;
	/** The same once all is undone. `left`: what is left nevertheless, as sentences. */
	describeUndone(left: readonly string[]): string;
	result(done: readonly DoneStep[]): Result;
}

export interface UndoOptions {
	/** Whether the operation ends also if something cannot be undone. */
	readonly isLeaving?: boolean;
}

/** Begins an operation, and does its steps. Throws CONFLICT with all faults if there are any: nothing has changed then. */
export async function beginSteps<Result>(
	options: Parameters<typeof beginOperation>[0],
	about: Parameters<typeof beginOperation>[1],
	faults: readonly string[],
	planOf: (
		operation: Operation,
	) => OperationPlan<Result> | Promise<OperationPlan<Result>>,
): Promise<Result> {
	return beginOperation(options, about, faults, async (operation) => {
		await using plan = await planOf(operation);
		return await runSteps(plan);
	});
}

/** Does the steps of an operation that this process holds, from where its record is. */
export async function runSteps<Result>(
	plan: OperationPlan<Result>,
): Promise<Result> {
	const { operation, steps } = plan;
	if (operation.record.step === "rolling back") {
		await undoSteps(plan, "continues");
		return plan.result([]);
	}
	const done: DoneStep[] = [];
	for (const step of steps) {
		if (!step.during.includes(operation.record.step)) continue;
		try {
			if (step.changesServers) await operation.requireHeld();
			const began = performance.now();
			const outcome = await step.does();
			if (outcome === "skipped") continue;
			if (outcome !== undefined) {
				await undoSteps(plan, outcome.why);
				if (outcome.error !== null) throw outcome.error;
				return plan.result(done);
			}
			done.push({ name: step.name, began, ended: performance.now() });
			await plan.say(step.name);
		} catch (thrown) {
			throw plan.undoesFailures ? await undone(plan, thrown) : thrown;
		}
	}
	await operation.end("done", plan.describeDone(done));
	return plan.result(done);
}

/**
 * Undoes what has not published: the topology is as it was, and nothing that is still
 * on its way can change that. Only what was done is undone: an account that could not
 * set a fence cannot lift it either. Returns what could not be undone, as sentences.
 */
export async function undoSteps(
	plan: OperationPlan<unknown>,
	why: string,
	{ isLeaving = false }: UndoOptions = {},
): Promise<readonly string[]> {
	const { operation, steps } = plan;
	const { id, step } = operation.record;
	const mayHaveChanged =
		step === "rolling back" ||
		steps.some((each) => each.changesServers && each.during.includes(step));
	if (!mayHaveChanged) {
		await operation.end("rolled back", `${why}; nothing had changed yet`);
		return [];
	}
	if (step !== "rolling back") {
		await operation.save({ step: "rolling back" }, `rolling back: ${why}`);
	}
	await operation.requireHeld();
	const refused = (await plan.undoIsRefused?.()) ?? null;
	const failures = refused === null ? [] : [refused];
	const notes: string[] = [];
	const undoes =
		refused === null ? steps.flatMap((each) => each.undoes ?? []) : [];
	for (const undo of undoes) {
		try {
			const note = await undo();
			if (note !== null) notes.push(note);
		} catch (thrown) {
			if (!(thrown instanceof CorkboardError)) throw thrown;
			failures.push(thrown);
		}
	}
	const left = failures.map(({ message }) => message);
	const [first] = failures;
	if (first !== undefined && !isLeaving) {
		throw new CorkboardError(
			first.code,
			`${left.join("\n")}\nTo end it with that undone by nobody: corkboard operations abort ${id} --leave.`,
			{ cause: first },
		);
	}
	await operation.end(
		"rolled back",
		left.length > 0
			? `not undone: ${[...left, ...notes].join(" ")}`
			: plan.describeUndone(notes),
	);
	return left;
}

/** What to throw after a failure, which is undone if nothing is published. */
async function undone(
	plan: OperationPlan<unknown>,
	thrown: unknown,
): Promise<unknown> {
	const { step, from } = plan.operation.record;
	const isOver = step === "rolled back" || step === "published";
	if (!(thrown instanceof CorkboardError) || isOver) return thrown;
	try {
		// Fails if it was published after all, or another process has taken over.
		await undoSteps(plan, thrown.message);
	} catch (failed) {
		return isTakenOver(failed) ? failed : thrown;
	}
	return new CorkboardError(
		thrown.code,
		`${thrown.message} So it was rolled back: ${from} is the primary.`,
		{ cause: thrown },
	);
}
