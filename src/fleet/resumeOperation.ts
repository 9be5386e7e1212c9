import { CorkboardError } from "../errors.ts";
import type { MoveOptions } from "./move/moveRun.ts";
import { abortMove } from "./move/redirect.ts";
import { type MoveResult, moveResult } from "./move/result.ts";
import { runMove } from "./move/runMove.ts";
import { forgottenWishes } from "./move/wishes.ts";
import { acceptancePlan } from "./operations/acceptLoss.ts";
import {
	addReplicaPlan,
	type ReplicaOptions,
	type ReplicaResult,
	replicaResult,
} from "./operations/addReplica.ts";
import { moveFactsIn } from "./operations/moveFacts.ts";
import type { OperationRecord } from "./operations/operationRecord.ts";
import { isTakenOver, Operation } from "./operations/operations.ts";
import { promotePlan } from "./operations/promote.ts";
import { type DeadOptions, deadPlan } from "./operations/promoteDead.ts";
import {
	type PromotionResult,
	promotionResult,
} from "./operations/promotion.ts";
import { removeReplicaPlan } from "./operations/removeReplica.ts";
import {
	type OperationPlan,
	runSteps,
	type UndoOptions,
	undoSteps,
} from "./operations/steps.ts";

/** What any kind of operation is resumed with. */
type ResumeOptions = DeadOptions & ReplicaOptions & MoveOptions;
export type OperationResult = PromotionResult | ReplicaResult | MoveResult;

/** Takes over an operation of any kind whose holder is gone, and continues it. */
export async function resumeOperation(
	options: ResumeOptions,
	id: string,
): Promise<OperationResult> {
	await using operation = await Operation.takeOver(options.store, id);
	return await continueOperation(options, operation);
}

/** Continues one that this process has taken over, from where it is. */
export async function continueOperation(
	options: ResumeOptions,
	operation: Operation,
): Promise<OperationResult> {
	if (operation.record.kind === "move") return runMove(options, operation);
	await using plan = await planOf(options, operation);
	return await runSteps(plan);
}

/** The steps of an operation that is no move. */
async function planOf(
	options: ResumeOptions,
	operation: Operation,
): Promise<OperationPlan<OperationResult>> {
	switch (operation.record.kind) {
		case "promote":
			return promotePlan(options, operation);
		case "promote --dead":
			return deadPlan(options, operation);
		case "accept loss":
			return acceptancePlan(options, operation);
		case "replica add":
			return addReplicaPlan(options, operation);
		case "replica remove":
			return removeReplicaPlan(options, operation);
		case "move":
			throw new CorkboardError("INTERNAL", "A move has a table, not a plan.");
	}
}

/** An operation that is over, as it was undone. */
interface Undone {
	readonly result: OperationResult;
	/** What could not be undone, each as a sentence. */
	readonly left: readonly string[];
}

/** Undoes one whose holder is gone and that has not published. Throws CONFLICT if it has. */
export async function abortOperation(
	options: ResumeOptions,
	id: string,
): Promise<Undone["result"]> {
	await using operation = await Operation.takeOver(options.store, id);
	return (await undo(options, operation)).result;
}

/**
 * Undoes one that this process has taken over. With `isLeaving` it is over in any
 * case: one that has published counts as done then, and what was not done or undone is returned.
 */
export async function undo(
	options: ResumeOptions,
	operation: Operation,
	undoing: UndoOptions = {},
): Promise<Undone> {
	const { record } = operation;
	const isPublished = record.step === "published";
	let left: readonly string[] = [];
	try {
		if (isPublished) {
			throw new CorkboardError(
				"CONFLICT",
				`${record.id} has published version ${record.version}. Complete it: corkboard operations resume ${record.id}. To end it where it is: --leave.`,
			);
		}
		if (record.kind === "move") await abortMove(options, operation);
		else {
			await using plan = await planOf(options, operation);
			left = await undoSteps(plan, "aborted", undoing);
		}
	} catch (thrown) {
		const isEnding =
			undoing.isLeaving === true &&
			thrown instanceof CorkboardError &&
			!isTakenOver(thrown);
		if (!isEnding) throw thrown;
		left = [isPublished ? remainsOf(record) : thrown.message];
		const isDone = isPublished || hasSwitched(operation.record);
		await operation.end(
			isDone ? "done" : "rolled back",
			`${isDone ? "not completed" : "not undone"}: ${left.join(" ")}`,
			record.kind === "move"
				? await forgottenWishes(options.store, record.id)
				: [],
		);
	}
	return { result: recordedResult(operation.record), left };
}

/** Whether a move has brought shards to another host that stay there. */
function hasSwitched(record: OperationRecord): boolean {
	return (
		record.kind === "move" &&
		moveFactsIn(record).waves.some(({ at }) => at === "to")
	);
}

/** What is still to be done after the publication, or was not seen to be done. */
function remainsOf({ kind, from, to, version }: OperationRecord): string {
	const served = `Whether all processes serve version ${version}: corkboard map wait ${version}.`;
	switch (kind) {
		case "promote":
			return `${to} has to take writes (super_read_only), and ${from} to follow it. ${served}`;
		case "promote --dead":
			return `${from} may take writes when it is back. ${served}`;
		case "replica add":
		case "accept loss":
			return served;
		case "replica remove":
			return `${to} may still follow ${from}. ${served}`;
		case "move":
			return served;
	}
}

/** What is known of one that is over, or was published, from its record alone. */
export function recordedResult(record: OperationRecord): OperationResult {
	if (record.kind === "move") return moveResult(record);
	const known = {
		...record,
		version: record.step === "rolled back" ? null : record.version,
	};
	return record.kind === "replica add" || record.kind === "replica remove"
		? replicaResult(known)
		: promotionResult(known);
}
