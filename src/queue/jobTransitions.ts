import { nextBucketOf } from "./bucket.ts";
import {
	type Ack,
	type Acked,
	type ClaimedJob,
	type ClaimRange,
	type Job,
	type JobChange,
	MAX_STATUS,
	STATE,
} from "./jobStore.ts";

/*
 * The arrows between the states of a job, for all stores:
 *
 *     enqueue ──▶ pending ──claim──▶ running ──succeed──▶ succeeded
 *                  ▲ ▲                │ │
 *                  │ └─ release, again, fail or expiry with attempts left
 *                retry                  │
 *                  └── failed ◀── giveUp, fail or expiry without
 *
 * A retry that says so takes a running job from its worker too.
 *
 * A store reads a job under its lock, asks what becomes of it, and writes that.
 */

/** A job as its row has it: the state by its number, and without the texts. */
export type JobRow = Omit<Job, "state" | "status" | "body"> & {
	readonly state: number;
};

/** What a transition reads of a job. */
type JobHead = Pick<
	JobRow,
	"state" | "bucket" | "claim" | "attempts" | "allowed" | "createdAt"
>;

/** What a transition writes. */
export interface JobTransition {
	readonly state: number;
	readonly bucket: number;
	readonly at: number;
	readonly claim: number;
	readonly attempts: number;
	readonly allowed: number;
}

/** A job that was claimed, from its row before: times in µs. */
export function claimedOf(
	row: JobRow,
	body: string,
	{ claim }: Pick<ClaimRange, "claim">,
	until: number,
): ClaimedJob {
	return {
		local: row.local,
		bucket: row.bucket,
		claim,
		priority: row.priority,
		attempts: row.attempts + 1,
		allowed: row.allowed,
		createdAt: row.createdAt,
		dueAt: row.at,
		until,
		key: row.key,
		body,
	};
}

/** The answer to an ack, or null if the ack is to be applied. */
export function answerTo(job: JobHead | null, ack: Ack): Acked | null {
	if (job === null) return "absent";
	if (job.claim !== ack.claim) return "lost";
	if (job.state === STATE.running) return null;
	return ENDS[ack.kind].includes(job.state) ? "done" : "lost";
}

/** The states of a job to which an ack was applied before. */
const ENDS: Readonly<Record<Ack["kind"], readonly number[]>> = {
	succeed: [STATE.succeeded],
	fail: [STATE.pending, STATE.failed],
	giveUp: [STATE.failed],
	release: [STATE.pending],
	again: [STATE.pending],
	checkpoint: [],
};

/** What becomes of a running job. `at` is when its claim ends. */
export function afterAck(
	job: JobHead & { readonly at: number },
	ack: Ack,
	now: number,
): JobTransition {
	const { attempts } = job;
	const allowed = ack.allowed ?? job.allowed;
	const ended = { ...kept(job), allowed, at: now };
	switch (ack.kind) {
		case "succeed":
			return { ...ended, state: STATE.succeeded };
		case "giveUp":
			return { ...ended, state: STATE.failed };
		case "checkpoint":
			return { ...ended, state: STATE.running, at: job.at };
		case "fail":
			return attempts < allowed
				? { ...ended, ...pending(job, ack.delayMs, now) }
				: { ...ended, state: STATE.failed };
		case "release":
		case "again":
			return {
				...ended,
				...pending(job, ack.delayMs, now),
				// What ran was either nothing yet or a part that went well.
				attempts: Math.max(0, attempts - 1),
			};
	}
}

/** What becomes of a running job whose claim was not renewed. The token is gone: no ack of its worker is accepted. */
export function afterExpiry(
	job: JobHead,
	delayMs: number,
	now: number,
): JobTransition {
	const ended = { ...kept(job), claim: 0, at: now };
	return job.attempts < job.allowed
		? { ...ended, ...pending(job, delayMs, now) }
		: { ...ended, state: STATE.failed };
}

/** What a change makes of a job; null if it does not apply. `remove` is the store's. */
export function afterChange(
	job: JobHead,
	change: Exclude<JobChange, { readonly kind: "remove" }>,
	now: number,
): JobTransition | null {
	const at = Math.max(change.due, now);
	const bucket = nextBucketOf(job, at, now);
	if (change.kind === "reschedule") {
		return job.state === STATE.pending ? { ...kept(job), bucket, at } : null;
	}
	const isFreed = change.running === true && job.state === STATE.running;
	if (job.state !== STATE.failed && !isFreed) return null;
	const allowed = Math.min(
		MAX_ALLOWED,
		Math.max(job.allowed, job.attempts) + change.moreAttempts,
	);
	// Without its token a worker that still runs it reports nothing.
	return { ...kept(job), claim: 0, state: STATE.pending, bucket, at, allowed };
}

const MAX_ALLOWED = 65_535;

function kept({ state, bucket, claim, attempts, allowed }: JobHead) {
	return { state, bucket, claim, attempts, allowed };
}

function pending(job: JobHead, delayMs: number, now: number) {
	const at = now + Math.max(0, Math.round(delayMs * 1_000));
	return { state: STATE.pending, at, bucket: nextBucketOf(job, at, now) };
}

/** The newest first. */
export function withStatus(status: string, line: string | undefined): string {
	if (line === undefined) return status;
	const text = status === "" ? line : `${line}\n${status}`;
	return text.length > MAX_STATUS ? text.slice(0, MAX_STATUS) : text;
}
