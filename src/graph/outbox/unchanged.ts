import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";

const UNCHANGED = "unchanged";

/** For a change that is certainly not committed, and may be tried again. */
export function unchanged(id: Id, message: string): CorkboardError {
	return new CorkboardError("UNAVAILABLE", message, {
		details: { id, kind: UNCHANGED },
	});
}

export function isUnchanged(error: unknown): boolean {
	return error instanceof CorkboardError && error.details.kind === UNCHANGED;
}

/** Whether what failed may have taken effect, or take effect yet. */
export function isUnknownOutcome(error: unknown): boolean {
	return (
		!(error instanceof CorkboardError) ||
		(error.code === "UNAVAILABLE" && !isUnchanged(error))
	);
}
