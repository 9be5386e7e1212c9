import type { EnqueuesJobs } from "../../queue/job.ts";
import type { StorageMap } from "../../storage/storage.ts";
import { recount } from "./recount.ts";
import { verifyShards } from "./verifyShards.ts";

/** At most so many jobs: each reads all outboxes. */
const MAX_VERIFY_JOBS = 64;

type Shards = Pick<StorageMap, "shards" | "modShards">;

/**
 * Enqueues jobs that verify the whole graph, each some shards. Returns how many.
 * The keys merge them with those of an earlier call that have not begun.
 */
export async function enqueueVerify(
	{ shards, modShards }: Shards,
	jobs: EnqueuesJobs,
	repair: boolean,
): Promise<number> {
	const mods = Array.from({ length: modShards }, (_, shard) => shard);
	const most = Math.max(shards.length, modShards);
	const count = Math.min(MAX_VERIFY_JOBS, most);
	const part = <T>(all: readonly T[], nth: number) =>
		all.filter((_, at) => at % count === nth);
	await jobs.enqueueAll(
		verifyShards,
		Array.from({ length: count }, (_, nth) => ({
			body: { modShards: part(mods, nth), shards: part(shards, nth), repair },
			key: `${repair ? "repair" : "verify"} ${nth} of ${count}`,
			priority: 3,
		})),
	);
	return count;
}

/** Enqueues a job for each shard that counts its lists again. Returns how many. */
export async function enqueueRecount(
	{ shards }: Pick<Shards, "shards">,
	jobs: EnqueuesJobs,
): Promise<number> {
	await jobs.enqueueAll(
		recount,
		shards.map((shard) => ({
			body: { shard },
			key: `shard ${shard}`,
			priority: 3,
		})),
	);
	return shards.length;
}
