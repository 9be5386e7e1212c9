import type { JWTPayload } from "jose";
import type { Id } from "../../id/ids.ts";

/**
 * Operators run the fleet. They may read the schema, explain operations and run
 * any document where others may not. They see no more of the graph than any
 * other user.
 */
export interface Operators {
	/** By user id. */
	readonly ids: ReadonlySet<Id>;
	/** By a claim of their token; one of these suffices. */
	readonly claims: readonly OperatorClaim[];
}

/** `roles=operator`: the claim is that text, a list that contains it, or a space-separated text that contains it (RFC 8693 §4.2). */
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
