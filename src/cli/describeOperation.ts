import type { ReplicaResult } from "../ops/fleet/addReplica.ts";
import type { PromotionResult } from "../ops/fleet/promote.ts";
import { describePromotion } from "./fleetCommand.ts";

/** What an operator reads of an operation of any kind that is over. */
export function describeOperation(
	result: PromotionResult | ReplicaResult,
): readonly string[] {
	return "replica" in result
		? describeReplica(result)
		: describePromotion(result);
}

/** What an operator reads of a replica that was added or removed. */
export function describeReplica({
	operation,
	kind,
	primary,
	replica,
	version,
	agreement,
}: ReplicaResult): readonly string[] {
	const isAdded = kind === "replica add";
	if (version === null) {
		return [
			`${operation}: undone; ${replica} is ${isAdded ? "no" : "still the"} replica of ${primary}`,
		];
	}
	const agreed = agreement?.agreed.length ?? 0;
	const missing = agreement?.missing ?? [];
	return [
		`${operation}: published version ${version}: ${replica} is ${isAdded ? "the" : "no"} replica of ${primary}${isAdded ? "" : " any more"}`,
		...(agreement?.by === "members"
			? [
					`${agreed} of ${agreed + missing.length} processes serve it`,
					...missing.map(
						({ id, oldest }) => `  ${id} still runs version ${oldest}`,
					),
				]
			: []),
	];
}
