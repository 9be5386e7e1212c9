import { WORKER_CHANNELS } from "./diagnostics.ts";

/** Which shards cannot be asked for jobs: reports the first failure of each, and its end. */
export class ShardProblems {
	/** Null: not of one shard. */
	readonly #failing = new Set<number | null>();

	failed(shard: number | null, error: unknown): void {
		if (this.#failing.has(shard)) return;
		this.#failing.add(shard);
		publish(shard, error);
	}

	/** All of these shards were asked. Those that are not among them have left the topology. */
	asked(
		shards: readonly number[],
		failures: ReadonlyMap<number, unknown>,
	): void {
		for (const shard of this.#failing) {
			if (shard !== null && failures.has(shard)) continue;
			this.#failing.delete(shard);
			publish(shard, null);
		}
		for (const shard of shards) {
			const error = failures.get(shard);
			if (error !== undefined) this.failed(shard, error);
		}
	}
}

function publish(shard: number | null, error: unknown): void {
	if (!WORKER_CHANNELS.workerProblem.hasSubscribers) return;
	WORKER_CHANNELS.workerProblem.publish({
		kind: "shard",
		shard,
		error,
	});
}
