import { Host, type HostLimits } from "../../storage/mysql/driver/host.ts";
import { addressOf } from "../../storage/mysql/serverAddress.ts";
import type { Environment } from "../../topology/secret.ts";
import type { QueueRange } from "../../topology/types.ts";
import { queueDatabase } from "./ddl.ts";
import { HostClock } from "./hostClock.ts";

/** One queue shard: a database on a host. */
export interface QueueShard {
	readonly number: number;
	readonly database: string;
	readonly host: Host;
	readonly clock: HostClock;
	/** Whether it takes new jobs. */
	readonly isOpen: boolean;
}

/**
 * Ranges with the same URL share one host. Its connections are the queue's own,
 * also where the graph is on the same server: neither takes those of the other.
 */
export function mapQueueShards(
	queues: readonly QueueRange[],
	limits: HostLimits,
	environment: Environment,
): ReadonlyMap<number, QueueShard> {
	const hosts = new Map<
		string,
		{ readonly host: Host; readonly clock: HostClock }
	>();
	const hostAt = (url: string) => {
		let opened = hosts.get(url);
		if (opened === undefined) {
			const host = new Host(addressOf(url, environment), limits, false);
			opened = { host, clock: new HostClock(host, limits.readMs) };
			hosts.set(url, opened);
		}
		return opened;
	};
	const shards = queues.flatMap(({ range: [first, last], primary, drain }) =>
		Array.from({ length: last - first + 1 }, (_, index): QueueShard => {
			const number = first + index;
			return {
				number,
				database: queueDatabase(number),
				...hostAt(primary),
				isOpen: drain !== true,
			};
		}),
	);
	return new Map(
		shards
			.toSorted((a, b) => a.number - b.number)
			.map((shard) => [shard.number, shard]),
	);
}
