import type { Sql } from "../../storage/sqlite/driver/sqliteConnection.ts";

/**
 * The statements of one queue. `INDEXED BY` refuses every other plan: without
 * the index a claim would sort all pending jobs.
 */
export interface QueueStatements {
	readonly insert: Sql;
	readonly byId: Sql;
	readonly keyHolder: Sql;
	readonly claim: Sql;
	readonly begin: Sql;
	readonly step: Sql;
	readonly succeed: Sql;
	readonly renew: Sql;
	readonly expired: Sql;
	readonly due: Sql;
	readonly scan: Sql;
	readonly scanBodies: Sql;
	readonly endClaims: Sql;
	readonly remove: Sql;
	readonly count: Sql;
}

/** Times and tokens are below 2^53, so they are read as numbers. */
const HEAD = `local_id AS local, bucket, state, priority, at, claim, attempts, allowed,
	created_at AS createdAt, unique_key AS key, status`;

export function statementsOf(queue: string): QueueStatements {
	const table = `"jobs_${queue}"`;
	const index = `${table} INDEXED BY "queue_${queue}"`;
	const scan = (columns: string) => `SELECT ${columns} FROM ${index}
		WHERE state = ?1 AND priority = ?2 AND at >= ?3 AND at < ?4
			AND (at > ?3 OR local_id > ?5)
		ORDER BY at, local_id LIMIT ?6`;
	return {
		insert: {
			name: "enqueue",
			text: `INSERT INTO ${table} (local_id, bucket, state, priority, at, claim,
					attempts, allowed, created_at, unique_key, status, body)
				VALUES (?, ?, 0, ?, ?, 0, 0, ?, ?, ?, '', ?)
				ON CONFLICT DO NOTHING`,
		},
		byId: {
			name: "job",
			text: `SELECT ${HEAD}, CASE ?2 WHEN 1 THEN body END AS body
				FROM ${table} WHERE local_id = ?1`,
		},
		keyHolder: {
			name: "job with key",
			text: `SELECT local_id AS local FROM ${table} INDEXED BY "key_${queue}"
				WHERE unique_key = ? AND unique_key IS NOT NULL AND state = 0`,
		},
		claim: {
			name: "claim",
			text: `SELECT ${HEAD}, body FROM ${index}
				WHERE state = 0 AND priority = ? AND at >= ? AND at <= ?
				ORDER BY at, local_id LIMIT ?`,
		},
		begin: {
			name: "begin jobs",
			text: `UPDATE ${table} SET state = 1, claim = ?1, at = ?2,
					attempts = attempts + 1
				WHERE local_id IN (SELECT value FROM json_each(?3))`,
		},
		step: {
			name: "step of a job",
			text: `UPDATE ${table} SET state = ?2, bucket = ?3, at = ?4, claim = ?5,
					attempts = ?6, allowed = ?7, unique_key = ?8, status = ?9,
					body = coalesce(?10, body)
				WHERE local_id = ?1`,
		},
		succeed: {
			name: "succeed",
			text: `UPDATE ${table} SET state = 2, at = ?3
				WHERE local_id = ?1 AND state = 1 AND claim = ?2`,
		},
		renew: {
			name: "renew",
			text: `UPDATE ${table} SET at = ?3
				WHERE local_id = ?1 AND state = 1 AND claim = ?2`,
		},
		expired: {
			name: "expired claims",
			text: `SELECT ${HEAD} FROM ${index}
				WHERE state = 1 AND priority IN (1, 2, 3) AND at < ? LIMIT ?`,
		},
		endClaims: {
			name: "end claims",
			text: `UPDATE ${table} SET at = ?1 - 1
				WHERE local_id IN (SELECT local_id FROM ${index}
					WHERE state = 1 AND priority IN (1, 2, 3) AND at >= ?1)`,
		},
		due: {
			name: "due",
			text: `SELECT bucket, at FROM ${index}
				WHERE state = 0 AND priority = ? AND at >= ?
				ORDER BY at, local_id LIMIT 1`,
		},
		scan: { name: "scan jobs", text: scan(`${HEAD}, NULL AS body`) },
		scanBodies: { name: "scan jobs", text: scan(`${HEAD}, body`) },
		remove: {
			name: "remove job",
			text: `DELETE FROM ${table} WHERE local_id = ? AND state <> 1`,
		},
		count: {
			name: "count jobs",
			text: `SELECT COUNT(*) AS jobs FROM (SELECT 1 FROM ${index}
				WHERE state = ? AND priority BETWEEN ? AND ? AND at >= ? AND at < ?
				LIMIT ?)`,
		},
	};
}

export const QUEUES: Sql = {
	name: "queues",
	text: "SELECT name, settings, version FROM queues ORDER BY name",
};

export const PUT_QUEUE: Sql = {
	name: "put queue",
	text: `INSERT INTO queues (name, settings, version, tokens, filled_at)
		VALUES (?, ?, ?, 0, 0)
		ON CONFLICT (name) DO UPDATE
			SET settings = excluded.settings, version = excluded.version
			WHERE excluded.version > queues.version`,
};

export const DELETE_QUEUE: Sql = {
	name: "delete queue",
	text: "DELETE FROM queues WHERE name = ?",
};

export const READ_RATE: Sql = {
	name: "rate of queue",
	text: "SELECT tokens, filled_at AS filledAt FROM queues WHERE name = ?",
};

export const WRITE_RATE: Sql = {
	name: "set rate of queue",
	text: "UPDATE queues SET tokens = ?, filled_at = ? WHERE name = ?",
};
