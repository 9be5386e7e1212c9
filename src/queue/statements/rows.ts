import type { LocalId } from "../jobId.ts";
import {
	type Held,
	type Job,
	type JobKey,
	type JobState,
	type Priority,
	STATE,
} from "../jobStore.ts";
import type { JobRow } from "../jobTransitions.ts";

const STATES = Object.keys(STATE) as readonly JobState[];

/** The columns of a job, without its status and its body. */
export const HEAD = [
	"local_id",
	"bucket",
	"state",
	"priority",
	"at",
	"claim",
	"attempts",
	"allowed",
	"created_at",
	"unique_key",
] as const;

/** A row that begins with the columns of HEAD. Times and tokens are below 2^53. */
export function rowOf(row: readonly unknown[]): JobRow {
	const [local, bucket, state, priority, at, claim, ...more] = row;
	const [attempts, allowed, createdAt, key] = more;
	return {
		local: localOf(local),
		bucket: Number(bucket),
		state: Number(state),
		priority: Number(priority) as Priority,
		at: Number(at),
		claim: Number(claim),
		attempts: Number(attempts),
		allowed: Number(allowed),
		createdAt: Number(createdAt),
		key: key === null ? null : String(key),
	};
}

/** A job as a statement reads it. */
export interface FoundJob {
	readonly head: JobRow;
	/** Null if it was not asked for. */
	readonly status: string | null;
	/** The same. */
	readonly body: string | null;
}

/** A row of HEAD, status and body. */
export function foundJob(row: readonly unknown[]): FoundJob {
	const [status, body] = row.slice(HEAD.length);
	return {
		head: rowOf(row),
		status: status === null ? null : String(status),
		body: body === null ? null : String(body),
	};
}

export function jobOf({ head, status, body }: FoundJob): Job {
	return {
		...head,
		state: STATES[head.state] as JobState,
		status: status ?? "",
		body,
	};
}

/** An id as a database stores it: as bytes, or as text. */
export function localOf(value: unknown): LocalId {
	return (Buffer.isBuffer(value) ? value.toString("hex") : value) as LocalId;
}

/** Claims that one statement may name: those with one bucket and token. */
export function byClaim<Claim extends Held>(
	claims: readonly Claim[],
): readonly (readonly Claim[])[] {
	return [
		...Map.groupBy(
			claims,
			({ bucket, claim }) => `${bucket} ${claim}`,
		).values(),
	];
}

export function byBucket<Key extends JobKey>(
	keys: readonly Key[],
): readonly (readonly [number, readonly Key[]])[] {
	return [...Map.groupBy(keys, ({ bucket }) => bucket)].toSorted(
		([a], [b]) => a - b,
	);
}
