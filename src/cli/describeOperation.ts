import type { Agreement } from "../fleet/map/barrier.ts";
import type { ReplicaResult } from "../fleet/operations/addReplica.ts";
import type { Loss } from "../fleet/operations/loss.ts";
import { describeLostTransactions } from "../fleet/operations/promoteDead.ts";
import type { PromotionResult } from "../fleet/operations/promotion.ts";
import type { OperationResult } from "../fleet/resumeOperation.ts";
import { compact } from "../util/compact.ts";
import { describeMove } from "./describeMove.ts";

/** What an operator reads of an operation of any kind that is over. */
export function describeOperation(result: OperationResult): readonly string[] {
	if ("waves" in result) return describeMove(result);
	return "replica" in result
		? describeReplica(result)
		: describePromotion(result);
}

/** What an operator reads of a replica that was added or removed. */
function describeReplica({
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
	return [
		`${operation}: published version ${version}: ${replica} is ${isAdded ? "the" : "no"} replica of ${primary}${isAdded ? "" : " any more"}`,
		...agreementLines(agreement),
	];
}

/** What an operator reads of a promotion that is over. */
function describePromotion({
	operation,
	from,
	to,
	version,
	pauseMs,
	agreement,
	isFollowing,
	loss = null,
}: PromotionResult): readonly string[] {
	if (version === null) {
		return [
			`${operation}: rolled back; ${from} is the primary, nothing changed`,
		];
	}
	const isAcceptance = from === to;
	return compact([
		isAcceptance
			? `${operation}: published version ${version}: ${from} is written to again`
			: `${operation}: published version ${version}: ${to} is the primary in the place of ${from}`,
		pauseMs !== null &&
			`the old primary took no writes for ${Math.round(pauseMs)} ms until then`,
		...agreementLines(agreement),
		isFollowing && `${from} follows ${to}, and takes no writes`,
		...(loss !== null
			? compact([
					!isAcceptance && describeLostTransactions(loss, { from, to }),
					...describeWrites(loss),
					`Next: corkboard verify --repair, because edges, counts and lookups may disagree until then${isAcceptance ? "." : `; and corkboard replicas add NEW --of ${to}.`}`,
				])
			: []),
	]);
}

function agreementLines(agreement: Agreement | null): readonly string[] {
	if (agreement?.by !== "members") return [];
	const { agreed, missing } = agreement;
	return [
		`${agreed.length} of ${agreed.length + missing.length} processes serve it`,
		...missing.map(({ id, oldest }) => `  ${id} still runs version ${oldest}`),
	];
}

const SHOWN_WRITES = 20;

/** The first of them, each on a line. */
export function describeWrites({ writes }: Loss): readonly string[] {
	const named = writes.filter(({ wrote }) => wrote.length > 0);
	const shown = named.slice(0, SHOWN_WRITES);
	return compact([
		...shown.map(
			({ gtid, at, wrote }) =>
				`  ${new Date(at).toISOString()} ${gtid} ${wrote.join(", ")}`,
		),
		named.length > shown.length &&
			`  and ${named.length - shown.length} more, in operations list --all --json`,
	]);
}
