import type { Host } from "../../storage/mysql/driver/host.ts";
import type { HostLease } from "../../storage/mysql/sharedHosts.ts";
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

/** A host's clock is measured once, for all versions of a topology that have the host. */
const CLOCKS = new WeakMap<Host, HostClock>();

/** Ranges with the same URL share one host. */
export function mapQueueShards(
	queues: readonly QueueRange[],
	hosts: HostLease,
	readMs: number,
): ReadonlyMap<number, QueueShard> {
	const hostAt = (url: string) => {
		const host = hosts.at(url);
		const clock = CLOCKS.get(host) ?? new HostClock(host, readMs);
		CLOCKS.set(host, clock);
		return { host, clock };
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
