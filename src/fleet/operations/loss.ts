import { GtidSet } from "../../storage/mysql/driver/gtidSet.ts";
import {
	type Answers,
	askMembers,
	type RememberedWrite,
} from "../../topology/asks.ts";
import type { TopologyStore } from "../../topology/store.ts";
import { plural } from "../../util/format.ts";
import type { FleetServer } from "../server/fleetServer.ts";

/** What a primary acknowledged, and a replica that takes its place lacks. */
export interface Loss {
	/** As a set of GTIDs; empty: nothing that anybody who answered knows of. */
	readonly gtids: string;
	readonly transactions: number;
	/** Those that processes remember by name, oldest first. */
	readonly writes: readonly LostWrite[];
	/** How many processes said what they were acknowledged. */
	readonly answered: number;
	/** Processes that did not: what only they were acknowledged is not in this. */
	readonly silent: readonly string[];
}

interface LostWrite extends RememberedWrite {
	/** The process that was answered. */
	readonly process: string;
}

/** Beyond these, the loss is stated by GTID alone: a store takes a megabyte. */
const NAMED = 2_000;

/**
 * Asks all processes what the primary acknowledged, and compares it with what the
 * replica has. A server numbers its transactions as it commits them, so that all
 * up to the highest acknowledged one were committed, whether they were answered or not.
 */
export async function measureLoss(
	{ store, askMs }: { readonly store: TopologyStore; readonly askMs: number },
	primary: string,
	replica: FleetServer,
	/** What the primary itself says, if it answers; else empty. */
	executed: string,
): Promise<Loss> {
	const first = await askMembers(
		store,
		{ host: primary, missing: null },
		askMs,
	);
	const acknowledged = [
		...first.answered.map(({ answer }) => answer.acknowledged),
		executed,
	]
		.filter((set) => set !== "")
		.join(",");
	const gtids = await replica.subtract(acknowledged, await replica.executed());
	const named =
		gtids === ""
			? first
			: await askMembers(store, { host: primary, missing: gtids }, askMs);
	return {
		gtids,
		transactions: new GtidSet(gtids).size,
		writes: writesOf(named),
		answered: first.answered.length,
		silent: first.silent.map(({ id }) => id),
	};
}

function writesOf({ answered }: Answers): readonly LostWrite[] {
	return answered
		.flatMap(({ member, answer }) =>
			answer.writes.map((write) => ({ ...write, process: member.id })),
		)
		.sort((a, b) => a.at - b.at)
		.slice(-NAMED);
}

/** What a loss of these GTIDs has beyond one that was accepted, as a set of GTIDs; empty: nothing. */
export async function grownBy(
	server: FleetServer,
	gtids: string,
	accepted: Pick<Loss, "gtids">,
): Promise<string> {
	return gtids === "" ? "" : server.subtract(gtids, accepted.gtids);
}

/** `as 3 processes know` */
export function whoKnows({ answered, silent }: Loss, hint = ""): string {
	const known = `as ${plural(answered, "process knows", "processes know")}`;
	return silent.length === 0
		? known
		: `${known}; ${silent.length} did not answer${hint}: ${silent.join(", ")}`;
}
