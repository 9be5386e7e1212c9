import { CorkboardError } from "../errors.ts";
import { checkLocalId, checkQueueName } from "./jobId.ts";
import {
	type Ack,
	type ClaimRange,
	type CountedJobs,
	type DueRange,
	type ExpireOptions,
	type Held,
	type JobKey,
	type JobScan,
	MAX_JOBS,
	MAX_KEY_BYTES,
	type NewJob,
	PRIORITIES,
	type ShardOfQueue,
	STATE,
} from "./jobStore.ts";

/*
 * Misuse of the port, the same in every store. Ids, names and integers become
 * part of SQL, so nothing else may get that far.
 */

/** The largest number of attempts: what fits MySQL's SMALLINT UNSIGNED. */
const MAX_ALLOWED = 65_535;

export function checkPlace({ queue, shard }: ShardOfQueue): void {
	checkQueueName(queue);
	checkInteger("shard", shard, 0);
}

export function checkKeys(keys: readonly JobKey[]): void {
	checkCount(keys.length);
	for (const { local, bucket } of keys) {
		checkLocalId(local);
		checkInteger("bucket", bucket, 0);
	}
}

export function checkNewJobs(jobs: readonly NewJob[]): void {
	checkKeys(jobs);
	for (const { priority, due, allowed, createdAt, key } of jobs) {
		checkPriority(priority);
		checkInteger("due", due, 0);
		checkInteger("createdAt", createdAt, 0);
		checkInteger("allowed", allowed, 1, MAX_ALLOWED);
		if (key !== null && Buffer.byteLength(key) > MAX_KEY_BYTES) {
			throw new TypeError(
				`A key must have at most ${MAX_KEY_BYTES} bytes, got ${Buffer.byteLength(key)}.`,
			);
		}
	}
	checkDistinct(jobs);
}

export function checkHeld(claims: readonly Held[]): void {
	checkKeys(claims);
	for (const { claim } of claims) checkInteger("claim", claim, 1);
	checkDistinct(claims);
}

export function checkAcks(acks: readonly Ack[]): void {
	checkHeld(acks);
	for (const ack of acks) {
		if (ack.allowed !== undefined) {
			checkInteger("allowed", ack.allowed, 0, MAX_ALLOWED);
		}
		if ("delayMs" in ack && !(ack.delayMs >= 0 && ack.delayMs < MAX_DELAY_MS)) {
			throw new TypeError(
				`delayMs must be from 0 to ${MAX_DELAY_MS}, got ${ack.delayMs}.`,
			);
		}
	}
}

export function checkClaim(range: ClaimRange): void {
	const { bucket, priority, floor, limit, claim, claimMs } = range;
	checkInteger("bucket", bucket, 0);
	checkPriority(priority);
	checkInteger("floor", floor, 0);
	checkInteger("limit", limit, 1, MAX_JOBS);
	checkInteger("claim", claim, 1);
	checkInteger("claimMs", claimMs, 1);
}

export function checkExpire({ bucket, limit }: ExpireOptions): void {
	if (bucket !== undefined) checkInteger("bucket", bucket, 0);
	checkInteger("limit", limit, 1, MAX_JOBS);
}

export function checkDue({ at, buckets, priority, floor }: DueRange): void {
	checkQueueName(at.queue);
	for (const bucket of buckets) checkInteger("bucket", bucket, 0);
	checkPriority(priority);
	checkInteger("floor", floor, 0);
}

export function checkScan(scan: JobScan): void {
	checkCounted(scan);
	checkInteger("limit", scan.limit, 1);
	if (scan.after !== undefined) {
		checkInteger("after.at", scan.after.at, 0);
		checkLocalId(scan.after.local);
	}
}

export function checkCounted(counted: CountedJobs): void {
	const { state, priority, from, until } = counted;
	if (!Object.hasOwn(STATE, state)) {
		throw new TypeError(`${state} is no state of a job.`);
	}
	if (priority !== undefined) checkPriority(priority);
	if (from !== undefined) checkInteger("from", from, 0);
	if (until !== undefined) checkInteger("until", until, 0);
}

function checkPriority(priority: number): void {
	if ((PRIORITIES as readonly number[]).includes(priority)) return;
	throw new TypeError(`A priority must be 1, 2 or 3, got ${priority}.`);
}

export function checkInteger(
	name: string,
	value: number,
	least: number,
	most = Number.MAX_SAFE_INTEGER,
): void {
	if (Number.isSafeInteger(value) && value >= least && value <= most) return;
	throw new TypeError(
		`${name} must be an integer from ${least} to ${most}, got ${value}.`,
	);
}

export function unknownQueueShard(shard: number): CorkboardError {
	return new CorkboardError(
		"NOT_FOUND",
		`The topology has no queue shard ${shard}.`,
	);
}

export function unknownQueue({ queue, shard }: ShardOfQueue): CorkboardError {
	return new CorkboardError(
		"NOT_FOUND",
		`There is no queue ${queue} on queue shard ${shard}.`,
	);
}

const MAX_DELAY_MS = 100 * 366 * 86_400_000;

function checkCount(count: number): void {
	if (count <= MAX_JOBS) return;
	throw new TypeError(`A call takes at most ${MAX_JOBS} jobs, got ${count}.`);
}

/** One job twice in a call would be answered as if each came first. */
function checkDistinct(keys: readonly JobKey[]): void {
	if (new Set(keys.map(({ local }) => local)).size < keys.length) {
		throw new TypeError("A call names a job twice.");
	}
}
