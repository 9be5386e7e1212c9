import type { Sql } from "../../storage/sqlite/driver/sqliteConnection.ts";

/** The tables of one queue, and what a shard has beside them. Names of queues are checked by the port. */
export function createQueueTables(queue: string): readonly Sql[] {
	return [
		{
			name: "create jobs",
			text: `CREATE TABLE IF NOT EXISTS "jobs_${queue}" (
				local_id TEXT NOT NULL PRIMARY KEY,
				bucket INTEGER NOT NULL,
				state INTEGER NOT NULL,
				priority INTEGER NOT NULL,
				at INTEGER NOT NULL,
				claim INTEGER NOT NULL,
				attempts INTEGER NOT NULL,
				allowed INTEGER NOT NULL,
				created_at INTEGER NOT NULL,
				unique_key TEXT,
				status TEXT NOT NULL,
				body TEXT NOT NULL
			) STRICT, WITHOUT ROWID`,
		},
		{
			name: "create queue index",
			text: `CREATE INDEX IF NOT EXISTS "queue_${queue}"
				ON "jobs_${queue}" (state, priority, at, local_id)`,
		},
		{
			name: "create keys",
			text: `CREATE TABLE IF NOT EXISTS "keys_${queue}" (
				unique_key TEXT NOT NULL PRIMARY KEY,
				local_id TEXT NOT NULL
			) STRICT, WITHOUT ROWID`,
		},
	];
}

export const CREATE_QUEUES: Sql = {
	name: "create queues",
	text: `CREATE TABLE IF NOT EXISTS queues (
		name TEXT NOT NULL PRIMARY KEY,
		settings TEXT NOT NULL,
		version INTEGER NOT NULL,
		tokens REAL NOT NULL,
		filled_at INTEGER NOT NULL
	) STRICT, WITHOUT ROWID`,
};

/**
 * Gives a queue a table of keys whose tables an older version made: pending jobs
 * keep their keys, and the index is dropped that held them.
 */
export function addKeys(queue: string): readonly Sql[] {
	return [
		...createQueueTables(queue),
		{
			name: "keys of pending jobs",
			text: `INSERT INTO "keys_${queue}" (unique_key, local_id)
				SELECT unique_key, local_id FROM "jobs_${queue}"
				WHERE unique_key IS NOT NULL AND state = 0
				ON CONFLICT DO NOTHING`,
		},
		{ name: "drop key index", text: `DROP INDEX IF EXISTS "key_${queue}"` },
	];
}

/** Queues without a table of keys. */
export const QUEUES_WITHOUT_KEYS: Sql = {
	name: "queues without keys",
	text: `SELECT name FROM queues WHERE NOT EXISTS (
		SELECT 1 FROM sqlite_master AS made
		WHERE made.type = 'table' AND made.name = 'keys_' || queues.name)`,
};

export function dropQueueTables(queue: string): readonly Sql[] {
	return [
		{ name: "drop jobs", text: `DROP TABLE IF EXISTS "jobs_${queue}"` },
		{ name: "drop keys", text: `DROP TABLE IF EXISTS "keys_${queue}"` },
	];
}
