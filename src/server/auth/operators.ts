import type { JWTPayload } from "jose";
import type { Id } from "../../id/ids.ts";

/**
 * Who runs the fleet, as against who uses the graph: they may look at the
 * schema, at what a run did, and run any document, where others may not. They
 * see no more of the graph than anybody: what is another's stays hidden.
 */
export interface Operators {
	/** Users of ours. */
	readonly ids: ReadonlySet<Id>;
	/** What a token may say beside whose it is; one of these is enough. */
	readonly claims: readonly OperatorClaim[];
}

/** `roles=operator`: the claim is that text, a list that has it, or words with spaces between (RFC 8693 §4.2) that it is one of. */
export interface OperatorClaim {
	readonly name: string;
	readonly value: string;
}

export const NO_OPERATORS: Operators = { ids: new Set(), claims: [] };

export function hasOperators({ ids, claims }: Operators): boolean {
	return ids.size > 0 || claims.length > 0;
}

export function hasOperatorClaim(
	payload: JWTPayload,
	claims: readonly OperatorClaim[],
): boolean {
	return claims.some(({ name, value }) => {
		const claimed = Object.hasOwn(payload, name) ? payload[name] : undefined;
		if (Array.isArray(claimed)) return claimed.includes(value);
		return typeof claimed === "string" && claimed.split(" ").includes(value);
	});
}
