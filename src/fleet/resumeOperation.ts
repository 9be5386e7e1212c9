import { CorkboardError } from "../errors.ts";
import type { MoveOptions } from "./move/moveRun.ts";
import { abortMove } from "./move/redirect.ts";
import { type MoveResult, moveResult } from "./move/result.ts";
import { runMove } from "./move/runMove.ts";
import { proceedAcceptance } from "./operations/acceptLoss.ts";
import {
	abortAdd,
	proceedAdd,
	type ReplicaOptions,
	type ReplicaResult,
	replicaResult,
} from "./operations/addReplica.ts";
import type { OperationRecord } from "./operations/operationRecord.ts";
import { isTakenOver, Operation } from "./operations/operations.ts";
import { proceedPromotion } from "./operations/promote.ts";
import { type DeadOptions, resumeDead } from "./operations/promoteDead.ts";
import {
	type PromotionResult,
	promotionResult,
	undoPromotion,
} from "./operations/promotion.ts";
import { proceedRemove } from "./operations/removeReplica.ts";
import type { UndoOptions } from "./operations/rollBack.ts";

/** What any kind of operation is resumed with. */
export type ResumeOptions = DeadOptions & ReplicaOptions & MoveOptions;
export type OperationResult = PromotionResult | ReplicaResult | MoveResult;

/** Goes on with an operation of any kind whose holder is gone, from where it is. */
export async function resumeOperation(
	options: ResumeOptions,
	id: string,
): Promise<OperationResult> {
	await using operation = await Operation.takeOver(options.store, id);
	return await proceed(options, operation);
}

/** Goes on with one that this process has taken over. */
export async function proceed(
	options: ResumeOptions,
	operation: Operation,
): Promise<OperationResult> {
	switch (operation.record.kind) {
		case "promote":
			return proceedPromotion(options, operation);
		case "promote --dead":
			return resumeDead(options, operation);
		case "accept loss":
			return proceedAcceptance(options, operation);
		case "replica add":
			return proceedAdd(options, operation);
		case "replica remove":
			return proceedRemove(options, operation);
		case "move":
			return runMove(options, operation);
	}
}

/** An operation that is over, as it was undone. */
export interface Undone {
	readonly result: OperationResult;
	/** What could not be undone, each as a sentence. */
	readonly left: readonly string[];
}

/** Undoes one whose holder is gone and that has not published. Throws CONFLICT where it has. */
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
		left = await undoKind(options, operation, undoing);
	} catch (thrown) {
		const isEnding =
			undoing.isLeaving === true &&
			thrown instanceof CorkboardError &&
			!isTakenOver(thrown);
		if (!isEnding) throw thrown;
		left = [isPublished ? remainsOf(record) : thrown.message];
		await operation.end(
			isPublished ? "done" : "rolled back",
			`${isPublished ? "not completed" : "not undone"}: ${left.join(" ")}`,
		);
	}
	return { result: recordedResult(operation.record), left };
}

async function undoKind(
	options: ResumeOptions,
	operation: Operation,
	undoing: UndoOptions,
): Promise<readonly string[]> {
	switch (operation.record.kind) {
		case "promote":
		case "promote --dead":
			return undoPromotion(options, operation, undoing);
		case "replica add":
			await abortAdd(options, operation);
			return [];
		case "accept loss":
			await operation.end("rolled back", "local ids may have been raised");
			return [];
		case "replica remove":
			await operation.end(
				"rolled back",
				`${operation.record.to} stays a replica`,
			);
			return [];
		case "move":
			await abortMove(options, operation);
			return [];
	}
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
			return `${to} may go on following ${from}. ${served}`;
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
