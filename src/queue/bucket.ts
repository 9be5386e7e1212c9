/**
 * A job's bucket is an hour since 1970: the partition it is stored in. It is
 * chosen at each transition to pending, and claims and successes leave it as it is.
 *
 * - B1: a pending job that is due is in no bucket after the present hour.
 * - B2: a transition to pending chooses no bucket before the present hour, and commits
 *   within a minute. So a bucket whose hour ended two minutes ago only loses pending jobs.
 * - B3: a job that is due later than AHEAD_HOURS is stored in that hour, and rotation moves it on.
 *
 * Times are microseconds since 1970.
 */

export const HOUR_US = 3_600_000_000;

/** How far ahead of now jobs are stored. */
export const AHEAD_HOURS = 24;

/** Partitions are made for so many hours ahead: rotation may rest for those in which no job is stored yet. */
export const MADE_HOURS = AHEAD_HOURS + 6;

/**
 * While a job is so young, a transition to pending leaves it in its bucket if that
 * is not past: its producer may be repeating the enqueue with that bucket, and the
 * table refuses a second row only in the same bucket. Microseconds.
 */
const YOUNG_US = 120_000_000;

/**
 * How long after the end of its hour a bucket still takes a row, of an enqueue
 * that began in that hour. Microseconds.
 */
const OPEN_US = 60_000_000;

/** The bucket of a moment. */
export function hourOf(us: number): number {
	return Math.floor(us / HOUR_US);
}

/** The bucket for a job that becomes pending now. */
export function bucketOf(due: number, now: number): number {
	return Math.min(hourOf(Math.max(due, now)), hourOf(now) + AHEAD_HOURS);
}

/** The bucket for a job that becomes pending again. */
export function nextBucketOf(
	job: { readonly bucket: number; readonly createdAt: number },
	due: number,
	now: number,
): number {
	const isYoung = now - job.createdAt < YOUNG_US;
	const next = bucketOf(due, now);
	const stays = job.bucket >= hourOf(now) && job.bucket <= next;
	return isYoung && stays ? job.bucket : next;
}

/** Whether an enqueue that chose the bucket earlier may still use it. */
export function isOpen(bucket: number, now: number): boolean {
	return bucket >= hourOf(now - OPEN_US);
}
