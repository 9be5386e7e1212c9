import type { Config } from "../config/config.ts";
import { checkServers } from "../ops/fleet/checkServers.ts";
import { isOver, listOperations } from "../ops/fleet/operations.ts";
import { isHeld } from "../ops/fleet/signOfLife.ts";
import { agreed } from "../topology/barrier.ts";
import type { Environment } from "../topology/secret.ts";
import type { TopologyStore } from "../topology/store.ts";
import { type Deadline, deadlineIn } from "../util/deadline.ts";
import { type FleetStatus, fleetStatus } from "./fleetStatus.ts";
import { processConnections } from "./processConnections.ts";
import { storeToChange } from "./topologyOperations.ts";

/** Everything that stands against an operation on the fleet. */
export interface FleetCheck {
	/** A sentence for each; those of the status first. */
	readonly faults: readonly string[];
	/** What could not be looked at, and why. */
	readonly unchecked: readonly string[];
	readonly status: FleetStatus;
}

/** For members to go over to the newest version. Milliseconds. */
const AGREEMENT_MS = 5_000;
const STATUS_MS = 3_000;

/** Looks at all servers, processes and operations of a fleet, and changes nothing. Throws BAD_CONFIG for an embedded folder. */
export async function checkFleet(
	config: Config,
	environment: Environment,
	deadline: Deadline = deadlineIn(STATUS_MS),
): Promise<FleetCheck> {
	await using store = storeToChange(config);
	const status = await fleetStatus(config, deadline);
	const { topology } = status;
	const isLost = topology.store === "down";
	const [servers, members, operations] = await Promise.all([
		checkServers(status.map, environment, {
			processes: Math.max(1, status.members?.length ?? 1),
			connections: processConnections(status.map),
		}),
		isLost ? [] : membersBehind(store, topology.version),
		isLost ? [] : abandonedOperations(store),
	]);
	return {
		faults: [...status.problems, ...members, ...operations, ...servers.faults],
		unchecked: [
			...(isLost
				? [
						"The store of the topology does not answer, so members and operations are not known.",
					]
				: []),
			...servers.unchecked,
		],
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

async function abandonedOperations(
	store: TopologyStore,
): Promise<readonly string[]> {
	const open = (await listOperations(store)).filter(
		(record) => !isOver(record),
	);
	const found = await Promise.all(
		open.map(async ({ id, step }) =>
			(await isHeld(store, id))
				? []
				: [
						`${id} stands at "${step}" and nobody runs it: operations resume ${id}.`,
					],
		),
	);
	return found.flat();
}
