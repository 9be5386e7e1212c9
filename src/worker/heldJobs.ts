import type { Held, ShardOfQueue } from "../queue/jobStore.ts";

/** Claims of one place, made together. */
export interface HeldClaims {
	readonly place: ShardOfQueue;
	readonly jobs: readonly Held[];
	readonly claimMs: number;
	/** When they were made, in milliseconds of `monotonicMs`. */
	readonly since: number;
}

interface HeldJob extends Held, Pick<HeldClaims, "place" | "claimMs"> {
	/** When the claim was made or last renewed. */
	since: number;
}

/** Jobs of one place whose claims last equally long. */
export type RenewalBatch = Omit<HeldClaims, "since">;

/** Which claims a process holds, and when they have to be renewed: once half of their time is over. Times in milliseconds. */
export class HeldJobs {
	readonly #jobs = new Map<string, HeldJob>();

	get size(): number {
		return this.#jobs.size;
	}

	hold({ place, jobs, claimMs, since }: HeldClaims): void {
		for (const { local, bucket, claim } of jobs) {
			const job = { local, bucket, claim, place, claimMs, since };
			this.#jobs.set(keyOf(job), job);
		}
	}

	drop(jobs: readonly Held[]): void {
		for (const job of jobs) this.#jobs.delete(keyOf(job));
	}

	/** All of them, as `hold` takes them. */
	all(): readonly HeldClaims[] {
		return [...this.#jobs.values()].map(
			({ place, claimMs, since, local, bucket, claim }) => ({
				place,
				claimMs,
				since,
				jobs: [{ local, bucket, claim }],
			}),
		);
	}

	/** Those to renew now, at most `limit` in a batch. */
	due(now: number, limit: number): readonly RenewalBatch[] {
		const due = [...this.#jobs.values()].filter(
			({ since, claimMs }) => now - since >= claimMs / 2,
		);
		const groups = Map.groupBy(
			due,
			({ place, claimMs }) => `${place.queue} ${place.shard} ${claimMs}`,
		);
		return [...groups.values()].flatMap((group) => {
			const [{ place, claimMs }] = group as [HeldJob];
			const batches: RenewalBatch[] = [];
			for (let at = 0; at < group.length; at += limit) {
				batches.push({ place, claimMs, jobs: group.slice(at, at + limit) });
			}
			return batches;
		});
	}

	renewed(jobs: readonly Held[], at: number): void {
		for (const one of jobs) {
			const job = this.#jobs.get(keyOf(one));
			if (job !== undefined) job.since = at;
		}
	}

	/** Those of the jobs whose claim is over unless a renewal arrives that was not answered. */
	overdue(jobs: readonly Held[], now: number): readonly Held[] {
		return jobs.filter((one) => {
			const job = this.#jobs.get(keyOf(one));
			return job !== undefined && now - job.since >= job.claimMs;
		});
	}

	/** The shortest claim that is held; null without one. */
	shortestMs(): number | null {
		let shortest: number | null = null;
		for (const { claimMs } of this.#jobs.values()) {
			shortest = Math.min(shortest ?? claimMs, claimMs);
		}
		return shortest;
	}
}

/** The key of a claim. */
export function keyOf({ local, claim }: Pick<Held, "local" | "claim">): string {
	return `${local} ${claim}`;
}
