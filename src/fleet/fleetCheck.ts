import type { AppModel } from "../app/readApp.ts";
import type { Config } from "../config/config.ts";
import { settingProblems } from "../storage/hostReport.ts";
import type { Environment } from "../topology/secret.ts";
import type { TopologyStore } from "../topology/store.ts";
import { compact } from "../util/compact.ts";
import { type FleetStatus, fleetStatus } from "./fleetStatus.ts";
import { agreed } from "./map/barrier.ts";
import { fencedBy } from "./move/findMove.ts";
import { readOperations } from "./operations/operations.ts";
import { checkServers } from "./preflight/checkServers.ts";
import { processConnections } from "./processConnections.ts";
import { storeToChange } from "./topologyOperations.ts";

/** Everything that stands against an operation on the fleet. */
export interface FleetCheck {
	/** A sentence for each; those of the status first. */
	readonly faults: readonly string[];
	/** What does not stop an operation, and may make it take longer. */
	readonly notes: readonly string[];
	/** What could not be looked at, and why. */
	readonly unchecked: readonly string[];
	readonly status: FleetStatus;
}

/** For members to switch to the newest version. Milliseconds. */
const AGREEMENT_MS = 5_000;

/** Looks at all servers, processes and operations of a fleet, and changes nothing. Throws BAD_CONFIG for an embedded folder. */
export async function checkFleet(
	own: Pick<AppModel, "model" | "feedModel">,
	config: Config,
	environment: Environment,
): Promise<FleetCheck> {
	await using store = storeToChange(config);
	const status = await fleetStatus(own, config);
	const { topology } = status;
	const isLost = topology.store === "down";
	const { records, unknown } = isLost
		? { records: [], unknown: [] }
		: await readOperations(store);
	const [servers, members] = await Promise.all([
		checkServers(status.map, environment, {
			fencedByMoves: new Set(records.flatMap(fencedBy)),
			ofUnknown: new Set(unknown.flatMap(({ hosts }) => hosts)),
			processes: Math.max(1, status.members?.length ?? 1),
			connections: processConnections(status.map),
		}),
		isLost ? [] : membersBehind(store, topology.version),
	]);
	return {
		faults: [
			// The servers' own look is at their clocks too, with more rounds.
			...status.problems.filter((problem) => !status.clocks.includes(problem)),
			...members,
			...servers.faults,
			...settingProblems(status.hosts),
		],
		notes: servers.notes,
		unchecked: compact([
			isLost &&
				"The store of the topology does not answer, so members and operations are not known.",
			...servers.unchecked,
		]),
		status,
	};
}

async function membersBehind(
	store: TopologyStore,
	version: number,
): Promise<readonly string[]> {
	if (!store.hasMembers) return [];
	const { missing } = await agreed(store, version, AGREEMENT_MS);
	return missing.map(({ id, version: at, oldest }) =>
		at === 0
			? `${id} does not serve yet.`
			: at < version
				? `${id} serves version ${at} of the topology, not ${version}.`
				: `${id} still runs calls on version ${oldest} of the topology.`,
	);
}
