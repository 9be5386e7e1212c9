import type { AckedAndClaimed, AcksAndClaim, Held } from "../jobStore.ts";
import { ackAndClaim } from "../verbs/ackAndClaim.ts";
import { renewAll } from "../verbs/upkeep.ts";
import type { MysqlCall } from "./queueCall.ts";
import { bringBack } from "./rotation/rotation.ts";

/*
 * A job that runs is in no partition while rotation gives its span back: for
 * milliseconds, or, if the rotating process was killed then, until somebody
 * stores it again. A worker whose job is not there does so, and asks once more:
 * running jobs return to their own bucket.
 */

export async function ackAndClaimSwappedOut(
	call: MysqlCall,
	wanted: AcksAndClaim,
): Promise<AckedAndClaimed> {
	const outcome = await ackAndClaim(call, wanted);
	const acks = (wanted.acks ?? []).filter(
		(_, index) => outcome.acked[index] === "absent",
	);
	if (acks.length === 0) return outcome;
	await bringBackFor(call);
	const again = [...(await ackAndClaim(call, { acks })).acked];
	return {
		...outcome,
		acked: outcome.acked.map((answer) =>
			answer === "absent" ? (again.shift() ?? answer) : answer,
		),
	};
}

export async function renewSwappedOut(
	call: MysqlCall,
	claims: readonly Held[],
	claimMs: number,
): Promise<readonly Held[]> {
	const held = await renewAll(call, claims, claimMs);
	if (held.length === claims.length) return held;
	const first = new Set(held);
	const missing = claims.filter((claim) => !first.has(claim));
	await bringBackFor(call);
	const second = new Set(await renewAll(call, missing, claimMs));
	return claims.filter((claim) => first.has(claim) || second.has(claim));
}

function bringBackFor({ at, shard }: MysqlCall): Promise<void> {
	const { host, database } = shard;
	return bringBack({ host, database, at });
}
