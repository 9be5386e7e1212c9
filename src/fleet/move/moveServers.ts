import type { Environment } from "../../topology/secret.ts";
import type { Topology } from "../../topology/types.ts";
import { allRanges, nameOf } from "../map/mapRanges.ts";
import type { MoveFacts, MoveHost, Side } from "../operations/moveFacts.ts";
import { FleetServer } from "../server/fleetServer.ts";

/** A primary and its replica. */
export interface Servers {
	readonly host: MoveHost;
	readonly primary: FleetServer;
	readonly replica: FleetServer | null;
}

/** The fence uses several, side by side. */
const CONNECTIONS = 16;

/** Both pairs of a move, until it is disposed of. */
export class MoveServers implements AsyncDisposable {
	readonly from: Servers;
	readonly to: Servers;

	constructor(
		facts: Pick<MoveFacts, "from" | "to">,
		topology: Topology,
		environment: Environment,
	) {
		this.from = open(asNow(facts.from, topology), environment);
		this.to = open(asNow(facts.to, topology), environment);
	}

	at(side: Side): Servers {
		return this[side];
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const all = [this.from, this.to].flatMap(({ primary, replica }) => [
			primary,
			...(replica === null ? [] : [replica]),
		]);
		await Promise.all(all.map((server) => server[Symbol.asyncDispose]()));
	}
}

/** A promotion may have put its replica in the place of a primary since: that has all it had, parked copies too. */
export function asNow(host: MoveHost, topology: Topology): MoveHost {
	const ranges = allRanges(topology);
	const isPrimary = ranges.some(({ primary }) => nameOf(primary) === host.name);
	const promoted =
		host.replica === null || isPrimary
			? undefined
			: ranges.find(
					({ primary }) => nameOf(primary) === nameOf(host.replica ?? ""),
				);
	if (promoted !== undefined) {
		return {
			name: nameOf(promoted.primary),
			url: promoted.primary,
			replica: promoted.replica ?? null,
		};
	}
	const named = ranges.filter(({ primary }) => nameOf(primary) === host.name);
	// One that was added or removed since.
	const replica =
		named.length === 0
			? host.replica
			: (named.find((each) => each.replica !== undefined)?.replica ?? null);
	return { ...host, replica };
}

function open(host: MoveHost, environment: Environment): Servers {
	return {
		host,
		primary: new FleetServer(host.url, environment, CONNECTIONS),
		replica:
			host.replica === null ? null : new FleetServer(host.replica, environment),
	};
}
