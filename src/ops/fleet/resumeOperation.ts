import { CorkboardError } from "../../errors.ts";
import {
	abortAdd,
	proceedAdd,
	type ReplicaOptions,
	type ReplicaResult,
	resultOf,
} from "./addReplica.ts";
import { Operation, requireUnheld } from "./operations.ts";
import {
	abortPromotion,
	type PromotionResult,
	resumePromotion,
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
	const { record } = await requireUnheld(options.store, id);
	if (record.kind === "promote") return resumePromotion(options, id);
	await using operation = await Operation.takeOver(options.store, id);
	if (record.kind === "promote --dead") {
		return await resumeDead(options, operation);
	}
	return record.kind === "replica add"
		? await proceedAdd(options, operation)
		: await proceedRemove(options, operation);
}

/** Undoes one that has not published. Throws CONFLICT where it has. */
export async function abortOperation(
	options: ResumeOptions,
	id: string,
): Promise<PromotionResult | DeadResult | ReplicaResult> {
	const { record } = await requireUnheld(options.store, id);
	if (record.kind === "promote") return abortPromotion(options, id);
	await using operation = await Operation.takeOver(options.store, id);
	const { step, version, to } = operation.record;
	if (step === "published") {
		throw new CorkboardError(
			"CONFLICT",
			`${id} has published version ${version}. Complete it: corkboard operations resume ${id}.`,
		);
	}
	if (record.kind === "promote --dead") {
		return await abortDead(options, operation);
	}
	if (record.kind === "replica add") return await abortAdd(options, operation);
	await operation.end("rolled back", `${to} stays a replica`);
	return resultOf(operation, null);
}
