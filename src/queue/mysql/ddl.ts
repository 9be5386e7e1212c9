import { MADE_HOURS } from "../bucket.ts";

/*
 * A queue has two tables on each shard. Names of queues are checked by the port.
 *
 * What changes while a job lives has a fixed width: with a text in its place,
 * InnoDB wrote the whole row again for each claim (2,400 instead of 286 bytes of redo
 * for a job of 2 KB, measured). `status` grows only if a job fails.
 */

export function jobsTable(database: string, queue: string): string {
	return `\`${database}\`.\`jobs_${queue}\``;
}

/** Keys of pending jobs. Apart from the jobs, because a unique key of a partitioned table has to hold the partition. */
export function keysTable(database: string, queue: string): string {
	return `\`${database}\`.\`keys_${queue}\``;
}

export function queuesTable(database: string): string {
	return `\`${database}\`.\`queues\``;
}

/** Rounds of rotation, of all queues. */
export function rotationsTable(database: string): string {
	return `\`${database}\`.\`rotations\``;
}

/** The columns and keys of a jobs table, without its partitions. */
const JOBS_DEFINITION = `(
	local_id BINARY(16) NOT NULL,
	bucket INT UNSIGNED NOT NULL,
	state TINYINT UNSIGNED NOT NULL,
	priority TINYINT UNSIGNED NOT NULL,
	at BIGINT UNSIGNED NOT NULL,
	claim BIGINT UNSIGNED NOT NULL,
	attempts SMALLINT UNSIGNED NOT NULL,
	allowed SMALLINT UNSIGNED NOT NULL,
	created_at BIGINT UNSIGNED NOT NULL,
	unique_key VARBINARY(200) NULL,
	status VARCHAR(5000) NOT NULL,
	body MEDIUMTEXT NOT NULL,
	PRIMARY KEY (local_id, bucket),
	KEY queue (state, priority, at, local_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC
	DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;

/** The partition of an hour. */
export function partitionOf(bucket: number): string {
	return `PARTITION h${bucket} VALUES LESS THAN (${bucket + 1})`;
}

/** Takes what is beyond the partitions of hours, for which rotation splits it. */
export const LATER = "PARTITION later VALUES LESS THAN MAXVALUE";

/** With partitions for the present hour and as many ahead as rotation makes: the first rounds of many new queues would change all their tables at once. */
export function createJobs(
	database: string,
	queue: string,
	hour: number,
): string {
	const hours = Array.from({ length: MADE_HOURS + 1 }, (_, index) =>
		partitionOf(hour + index),
	);
	return `CREATE TABLE IF NOT EXISTS ${jobsTable(database, queue)} ${JOBS_DEFINITION}
		PARTITION BY RANGE (bucket) (${[...hours, LATER].join(", ")})`;
}

export function createKeys(database: string, queue: string): string {
	return `CREATE TABLE IF NOT EXISTS ${keysTable(database, queue)} (
		unique_key VARBINARY(200) NOT NULL PRIMARY KEY,
		local_id BINARY(16) NOT NULL
	) ENGINE=InnoDB`;
}

export function createQueues(database: string): string {
	return `CREATE TABLE IF NOT EXISTS ${queuesTable(database)} (
		name VARBINARY(40) NOT NULL PRIMARY KEY,
		settings MEDIUMTEXT NOT NULL,
		version BIGINT UNSIGNED NOT NULL,
		tokens DOUBLE NOT NULL,
		filled_at BIGINT UNSIGNED NOT NULL
	) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;
}

/** Times in microseconds; 0 for none. */
export function createRotations(database: string): string {
	return `CREATE TABLE IF NOT EXISTS ${rotationsTable(database)} (
		name VARBINARY(40) NOT NULL PRIMARY KEY,
		next_at BIGINT UNSIGNED NOT NULL,
		refusals INT UNSIGNED NOT NULL,
		refused_since BIGINT UNSIGNED NOT NULL,
		changes_at BIGINT UNSIGNED NOT NULL
	) ENGINE=InnoDB`;
}
