import type { Row } from "../../storage/mysql/driver/mysql2Connection.ts";
import { checkLocalId, type LocalId } from "../jobId.ts";
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

/** The columns of a job, without its body. */
export const HEAD =
	"local_id, bucket, state, priority, at, claim, attempts, allowed, created_at, unique_key";

/** A row that begins with the columns of HEAD. Times and tokens are below 2^53. */
export function rowOf(row: Row): JobRow {
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

/** A row of HEAD, status and body. */
export function jobOf(row: Row): Job {
	const head = rowOf(row);
	const [status, body] = row.slice(10);
	return {
		...head,
		state: STATES[head.state] as JobState,
		status: String(status),
		body: body === null ? null : String(body),
	};
}

export function localOf(value: unknown): LocalId {
	return (value as Buffer).toString("hex") as LocalId;
}

/** A local id as SQL: a literal, because the client's escaping costs more than the rest of a long list. */
export function literal(local: LocalId): string {
	return `x'${checkLocalId(local)}'`;
}

/** In order of the primary key: two statements that lock some of the same rows do so in one order. */
export function literals(keys: readonly JobKey[]): string {
	return keys
		.map(({ local }) => literal(local))
		.toSorted()
		.join(", ");
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
