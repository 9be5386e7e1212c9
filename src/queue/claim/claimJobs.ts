import { CorkboardError } from "../../errors.ts";
import { scanJobs } from "../admin/scanJobs.ts";
import { formatJobId, newClaim } from "../jobId.ts";
import {
	type Ack,
	type Acked,
	type ClaimedJob,
	type JobStore,
	MAX_JOBS,
	type ShardOfQueue,
} from "../jobStore.ts";
import type { LiveSettings } from "../liveSettings.ts";
import { clocksOf, type DueBucket, DueProbe, type Probed } from "./dueProbe.ts";

/** What a worker of another kind than `corkboard worker` says of a job that it claimed. */
export interface AckOnShard {
	readonly shard: number;
	readonly ack: Ack;
}

export interface ClaimOptions {
	/** Jobs at most: up to 500 (default 50); 0 for acks alone. */
	readonly limit?: number;
	/** What is said of earlier jobs; on the shard of a claim it shares the claim's commit. */
	readonly acks?: readonly AckOnShard[];
	/** Shows what would be claimed, and claims and acknowledges nothing. Limits are not looked at. */
	readonly dryRun?: boolean;
	/** The part of the shards that is asked, above 0 (default 1): all of them are asked over several calls, as it takes them by chance. */
	readonly coverage?: number;
	/** How long the jobs are the caller's without `renew` (default: the queue's `claimMs`). */
	readonly claimMs?: number;
}

export interface ClaimedOnShard
	extends Pick<
		ClaimedJob,
		| "local"
		| "bucket"
		| "claim"
		| "priority"
		| "attempts"
		| "allowed"
		| "createdAt"
		| "dueAt"
		| "key"
		| "body"
	> {
	readonly id: string;
	readonly shard: number;
}

export interface ClaimAnswer {
	/** By priority. Of a dry run: with `claim` 0. */
	readonly claimed: readonly ClaimedOnShard[];
	/** In the order of `acks`; an error if the shard did not answer. */
	readonly acked: readonly (Acked | CorkboardError)[];
	/** Until the queue's rate lets another job start, as far as is known; null if nothing has to be waited for. Milliseconds. */
	readonly waitMs: number | null;
}

/**
 * Claims due jobs of a queue: the first priority of all shards before the second
 * of any. This is one call for programs that run their own loop. They look for
 * due jobs as `corkboard worker` does, whose loop claims and runs without end
 * (`ClaimLoop`). Throws NOT_FOUND for the queue.
 */
export async function claimJobs(
	store: JobStore,
	settings: LiveSettings,
	queue: string,
	options: ClaimOptions = {},
	/** What earlier calls know of where jobs are due. */
	probe = new DueProbe(store),
): Promise<ClaimAnswer> {
	const { limit = 50, coverage = 1, dryRun = false } = options;
	if (!(Number.isInteger(limit) && limit >= 0 && limit <= MAX_JOBS)) {
		throw new TypeError(`limit must be from 0 to ${MAX_JOBS}, got ${limit}.`);
	}
	if (!(coverage > 0 && coverage <= 1)) {
		throw new TypeError(
			`coverage must be above 0 and at most 1, got ${coverage}.`,
		);
	}
	const own = settings.settingsOf(queue);
	if (own === null) {
		throw new CorkboardError("NOT_FOUND", `There is no queue ${queue}.`);
	}
	const shards = chosenShards(store.shards, coverage);
	if (dryRun) {
		const claimed = await dueNow(store, queue, shards, limit);
		return { claimed, acked: [], waitMs: null };
	}
	const { claimMs = own.claimMs } = options;
	const acks = new AcksByShard(options.acks ?? []);
	const claimed: ClaimedOnShard[] = [];
	let waitMs: number | null = null;
	// Again after a round that found something: a shard may have due jobs of several hours.
	for (let before = -1; claimed.length > before && waitMs === null; ) {
		before = claimed.length;
		const { due } =
			claimed.length === limit || settings.isStopped(queue)
				? NOTHING
				: await probe.find([queue], shards);
		for (const place of due.toSorted(byPriorityAndAge)) {
			if (claimed.length === limit) break;
			const { shard, bucket, priority, oldestAt } = place;
			const at = { queue, shard };
			const answer = await ackAndClaim(store, at, acks, {
				bucket,
				priority,
				floor: oldestAt,
				limit: limit - claimed.length,
				claim: newClaim(),
				claimMs,
				limits: settings.limit(at),
			});
			if (answer === null) continue;
			probe.claimed(place, answer.claimed, claimMs);
			for (const job of answer.claimed) claimed.push(onShard(at, job));
			const { waitMs: wait = null } = answer;
			if (wait !== null) waitMs = Math.min(waitMs ?? wait, wait);
		}
	}
	for (const shard of acks.shardsLeft()) {
		await ackAndClaim(store, { queue, shard }, acks, null);
	}
	return { claimed, acked: acks.answers, waitMs };
}

const NOTHING: Pick<Probed, "due"> = { due: [] };

function byPriorityAndAge(one: DueBucket, other: DueBucket): number {
	return one.priority - other.priority || other.ageMs - one.ageMs;
}

/** Acks by shard, each sent once. */
class AcksByShard {
	readonly answers: (Acked | CorkboardError)[];
	readonly #waiting: Map<number, { index: number; ack: Ack }[]>;

	constructor(acks: readonly AckOnShard[]) {
		this.answers = new Array(acks.length);
		const indexed = acks.map(({ shard, ack }, index) => ({
			shard,
			ack,
			index,
		}));
		this.#waiting = Map.groupBy(indexed, ({ shard }) => shard);
	}

	shardsLeft(): readonly number[] {
		return [...this.#waiting.keys()];
	}

	take(shard: number): readonly { index: number; ack: Ack }[] {
		const all = this.#waiting.get(shard) ?? [];
		const own = all.splice(0, MAX_JOBS);
		if (all.length === 0) this.#waiting.delete(shard);
		return own;
	}
}

/** Null if the shard did not answer: its acks say so, and other shards are asked. */
async function ackAndClaim(
	store: JobStore,
	at: ShardOfQueue,
	acks: AcksByShard,
	claim: NonNullable<Parameters<JobStore["ackAndClaim"]>[1]["claim"]> | null,
) {
	const own = acks.take(at.shard);
	try {
		const answer = await store.ackAndClaim(at, {
			acks: own.map(({ ack }) => ack),
			...(claim !== null && { claim }),
		});
		for (const [n, { index }] of own.entries()) {
			acks.answers[index] = answer.acked[n] as Acked;
		}
		return answer;
	} catch (error) {
		if (!(error instanceof CorkboardError)) throw error;
		for (const { index } of own) acks.answers[index] = error;
		return null;
	}
}

async function dueNow(
	store: JobStore,
	queue: string,
	shards: readonly number[],
	limit: number,
): Promise<readonly ClaimedOnShard[]> {
	const { clocks } = await clocksOf(store, shards);
	const until = Math.max(0, ...clocks.values()) + 1;
	const { jobs } = await scanJobs(
		{ shards, scan: (at, scan) => store.scan(at, scan) },
		queue,
		{ state: "pending", until },
		{ limit, body: true },
	);
	return jobs.map((job) =>
		onShard(
			{ queue, shard: job.shard },
			{ ...job, claim: 0, dueAt: job.at, body: job.body ?? "" },
		),
	);
}

function chosenShards(
	shards: readonly number[],
	coverage: number,
): readonly number[] {
	const left = [...shards];
	const count = Math.ceil(coverage * left.length);
	return Array.from({ length: count }, () => {
		const at = Math.floor(Math.random() * left.length);
		return left.splice(at, 1)[0] as number;
	});
}

function onShard(
	{ queue, shard }: ShardOfQueue,
	job: Omit<ClaimedOnShard, "id" | "shard">,
): ClaimedOnShard {
	const { local, bucket, claim, priority, attempts, allowed } = job;
	const { createdAt, dueAt, key, body } = job;
	return {
		id: formatJobId({ queue, shard, bucket, local }),
		shard,
		local,
		bucket,
		claim,
		priority,
		attempts,
		allowed,
		createdAt,
		dueAt,
		key,
		body,
	};
}
