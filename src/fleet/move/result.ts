import { moveFactsIn, type Wave } from "../operations/moveFacts.ts";
import type { OperationRecord } from "../operations/operationRecord.ts";

/** How a move stands, as its record says. */
export interface MoveResult {
	readonly operation: string;
	readonly kind: "move";
	readonly step: OperationRecord["step"];
	readonly list: string;
	readonly from: string;
	readonly to: string;
	/** The last version that it published; null: none. */
	readonly version: number | null;
	readonly waves: readonly Wave[];
}

export function moveResult(record: OperationRecord): MoveResult {
	const { list, waves } = moveFactsIn(record);
	const { id, step, from, to, version } = record;
	return { operation: id, kind: "move", step, list, from, to, version, waves };
}
