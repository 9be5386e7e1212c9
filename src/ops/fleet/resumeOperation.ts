import { CorkboardError } from "../../errors.ts";
import {
	abortAdd,
	proceedAdd,
	type ReplicaOptions,
	type ReplicaResult,
	resultOf,
} from "./addReplica.ts";
import { Operation, type OperationRecord } from "./operations.ts";
import {
	type PromotionResult,
	proceedPromotion,
	undoPromotion,
} from "./promote.ts";
import {
	abortDead,
	type DeadOptions,
	type DeadResult,
	resumeDead,
} from "./promoteDead.ts";
import { proceedRemove } from "./removeReplica.ts";

/** What any kind of operation is resumed with. */
export type ResumeOptions = DeadOptions & ReplicaOptions;

/** Goes on with an operation of any kind whose holder is gone, from where it is. */
export async function resumeOperation(
	options: ResumeOptions,
	id: string,
): Promise<PromotionResult | DeadResult | ReplicaResult> {
	await using operation = await Operation.takeOver(options.store, id);
	return await proceed(options, operation);
}

/** Goes on with one that this process has taken over. */
export async function proceed(
	options: ResumeOptions,
	operation: Operation,
): Promise<PromotionResult | DeadResult | ReplicaResult> {
	switch (operation.record.kind) {
		case "promote":
			return proceedPromotion(options, operation);
		case "promote --dead":
			return resumeDead(options, operation);
		case "replica add":
			return proceedAdd(options, operation);
		case "replica remove":
			return proceedRemove(options, operation);
	}
}

/** Undoes one whose holder is gone and that has not published. Throws CONFLICT where it has. */
export async function abortOperation(
	options: ResumeOptions,
	id: string,
): Promise<PromotionResult | DeadResult | ReplicaResult> {
	await using operation = await Operation.takeOver(options.store, id);
	return await undo(options, operation);
}

/** Undoes one that this process has taken over. */
export async function undo(
	options: ResumeOptions,
	operation: Operation,
): Promise<PromotionResult | DeadResult | ReplicaResult> {
	const { id, kind, step, version, to } = operation.record;
	if (step === "published") {
		throw new CorkboardError(
			"CONFLICT",
			`${id} has published version ${version}. Complete it: corkboard operations resume ${id}.`,
		);
	}
	if (kind === "promote") return undoPromotion(options, operation);
	if (kind === "promote --dead") return abortDead(options, operation);
	if (kind === "replica add") return abortAdd(options, operation);
	await operation.end("rolled back", `${to} stays a replica`);
	return resultOf(operation, null);
}

/** What is known of one that is over, or was published, from its record alone. */
export function recordedResult(
	record: OperationRecord,
): PromotionResult | DeadResult | ReplicaResult {
	const { id, kind, from, to, version, loss, step } = record;
	if (kind === "replica add" || kind === "replica remove") {
		return {
			...{ operation: id, kind, primary: from, replica: to },
			...{ version, agreement: null },
		};
	}
	const result: PromotionResult = {
		...{ operation: id, from, to, version },
		...{ pauseMs: null, agreement: null },
		isFollowing: kind === "promote" && step === "done",
	};
	return kind === "promote" ? result : { ...result, loss };
}
