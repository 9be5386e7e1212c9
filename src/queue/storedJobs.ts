import type { MaybePromise } from "../util/maybePromise.ts";
import type {
	AckedAndClaimed,
	AcksAndClaim,
	CountedJobs,
	Enqueued,
	Expired,
	ExpireOptions,
	Held,
	Job,
	JobChange,
	JobKey,
	JobScan,
	NewJob,
	ScannedJobs,
	ShardOfQueue,
} from "./jobStore.ts";
import type { QueueStore } from "./openedJobStore.ts";
import {
	checkAcks,
	checkClaim,
	checkCounted,
	checkExpire,
	checkHeld,
	checkInteger,
	checkKeys,
	checkNewJobs,
	checkScan,
} from "./portChecks.ts";

/** What a database does with the jobs of one queue and shard. `Call` is what it does it with. */
export interface JobVerbs<Call> {
	enqueue(
		call: Call,
		jobs: readonly NewJob[],
		isRepeat: boolean,
	): MaybePromise<readonly Enqueued[]>;
	ackAndClaim(call: Call, wanted: AcksAndClaim): MaybePromise<AckedAndClaimed>;
	renew(
		call: Call,
		claims: readonly Held[],
		claimMs: number,
	): MaybePromise<readonly Held[]>;
	expire(call: Call, options: ExpireOptions): MaybePromise<Expired>;
	find(
		call: Call,
		jobs: readonly JobKey[],
		body: boolean,
	): MaybePromise<readonly (Job | null)[]>;
	scan(call: Call, scan: JobScan): MaybePromise<ScannedJobs>;
	change(
		call: Call,
		jobs: readonly JobKey[],
		to: JobChange,
	): MaybePromise<number>;
	count(call: Call, of: CountedJobs, cap: number): MaybePromise<number>;
}

/** The calls of the port on one queue and shard, for every database: checked, then done by its verb. */
export abstract class StoredJobs<Call>
	implements Pick<QueueStore, keyof JobVerbs<unknown>>
{
	readonly #verbs: JobVerbs<Call>;

	constructor(verbs: JobVerbs<Call>) {
		this.#verbs = verbs;
	}

	/** Throws what callers of the port expect. */
	protected abstract onShard<Given extends readonly unknown[], T>(
		at: ShardOfQueue,
		kind: "read" | "write",
		verb: (call: Call, ...given: Given) => MaybePromise<T>,
		...given: Given
	): Promise<T>;

	async enqueue(
		at: ShardOfQueue,
		jobs: readonly NewJob[],
		{ isRepeat = false }: { readonly isRepeat?: boolean } = {},
	): Promise<readonly Enqueued[]> {
		checkNewJobs(jobs);
		return this.onShard(at, "write", this.#verbs.enqueue, jobs, isRepeat);
	}

	async ackAndClaim(
		at: ShardOfQueue,
		wanted: AcksAndClaim,
	): Promise<AckedAndClaimed> {
		checkAcks(wanted.acks ?? []);
		if (wanted.claim !== undefined) checkClaim(wanted.claim);
		return this.onShard(at, "write", this.#verbs.ackAndClaim, wanted);
	}

	async renew(
		at: ShardOfQueue,
		claims: readonly Held[],
		claimMs: number,
	): Promise<readonly Held[]> {
		checkHeld(claims);
		checkInteger("claimMs", claimMs, 1);
		return this.onShard(at, "write", this.#verbs.renew, claims, claimMs);
	}

	async expire(at: ShardOfQueue, options: ExpireOptions): Promise<Expired> {
		checkExpire(options);
		return this.onShard(at, "write", this.#verbs.expire, options);
	}

	async find(
		at: ShardOfQueue,
		jobs: readonly JobKey[],
		{ body = false }: { readonly body?: boolean } = {},
	): Promise<readonly (Job | null)[]> {
		checkKeys(jobs);
		return this.onShard(at, "read", this.#verbs.find, jobs, body);
	}

	async scan(at: ShardOfQueue, scan: JobScan): Promise<ScannedJobs> {
		checkScan(scan);
		return this.onShard(at, "read", this.#verbs.scan, scan);
	}

	async change(
		at: ShardOfQueue,
		jobs: readonly JobKey[],
		to: JobChange,
	): Promise<number> {
		checkKeys(jobs);
		return this.onShard(at, "write", this.#verbs.change, jobs, to);
	}

	async count(at: ShardOfQueue, of: CountedJobs, cap: number): Promise<number> {
		checkCounted(of);
		checkInteger("cap", cap, 1);
		return this.onShard(at, "read", this.#verbs.count, of, cap);
	}
}
