import type { Sql } from "../../storage/sqlite/driver/sqliteConnection.ts";

/*
 * Ids are bound as texts and compared with integer columns, whose affinity turns
 * them into integers; they are read as texts.
 */

export const CREATE_TABLES: readonly Sql[] = [
	{
		name: "create pool",
		text: `CREATE TABLE IF NOT EXISTS pool (
			user_id INTEGER NOT NULL,
			state INTEGER NOT NULL,
			source INTEGER NOT NULL,
			score INTEGER NOT NULL,
			pin_id INTEGER NOT NULL,
			origin_id INTEGER NOT NULL,
			via_id INTEGER NOT NULL,
			changed_at INTEGER NOT NULL,
			PRIMARY KEY (user_id, state, source, score, pin_id),
			UNIQUE (user_id, origin_id)
		) STRICT, WITHOUT ROWID`,
	},
	{
		name: "create visits",
		text: `CREATE TABLE IF NOT EXISTS visits (
			user_id INTEGER NOT NULL PRIMARY KEY,
			visited_at INTEGER NOT NULL,
			generated_at INTEGER NOT NULL,
			asked INTEGER NOT NULL,
			rebuilt_at INTEGER NOT NULL
		) STRICT`,
	},
	{
		name: "create pulled",
		text: `CREATE TABLE IF NOT EXISTS pulled (
			producer_id INTEGER NOT NULL PRIMARY KEY,
			since INTEGER NOT NULL,
			pushed_since INTEGER NOT NULL
		) STRICT`,
	},
];

const ROW = `state, source, score, CAST(pin_id AS TEXT) AS pin,
	CAST(origin_id AS TEXT) AS origin, CAST(via_id AS TEXT) AS via,
	changed_at AS changedAt`;

const COLUMNS =
	"user_id, state, source, score, pin_id, origin_id, via_id, changed_at";

/** ?1: `[user, score]` pairs. A picture that is known already is left alone. */
export const PUSH: Sql = {
	name: "push",
	text: `INSERT OR IGNORE INTO pool (${COLUMNS})
		SELECT visits.user_id, 0, ?2, receiver.value->>1, CAST(?3 AS INTEGER),
			CAST(?4 AS INTEGER), CAST(?5 AS INTEGER), ?6
		FROM json_each(?1) AS receiver
		JOIN visits ON visits.user_id = CAST(receiver.value->>0 AS INTEGER)
		WHERE visited_at > ?7`,
};

/** ?1: user, ?2: entries, ?3: state, ?4: now */
const INSERT = `INSERT OR IGNORE INTO pool (${COLUMNS})
	SELECT CAST(?1 AS INTEGER), ?3, value->>0, value->>1, CAST(value->>2 AS INTEGER),
		CAST(value->>3 AS INTEGER), CAST(value->>4 AS INTEGER), ?4
	FROM json_each(?2)`;

export const ADD: Sql = { name: "add", text: INSERT };
export const RECORD: Sql = { name: "record", text: INSERT };

const ORIGINS = "SELECT CAST(value AS INTEGER) FROM json_each(?2)";

export const TAKE: Sql = {
	name: "take",
	text: `UPDATE pool SET state = 1, changed_at = ?3
		WHERE user_id = ?1 AND origin_id IN (${ORIGINS}) AND state = 0`,
};

export const DROP: Sql = {
	name: "drop",
	text: `UPDATE pool SET state = 2, changed_at = ?3
		WHERE user_id = ?1 AND origin_id IN (${ORIGINS}) AND state < 2`,
};

export const WITHDRAW: Sql = {
	name: "withdraw",
	text: `DELETE FROM pool
		WHERE user_id = ?1 AND via_id = ?2 AND state = 0
			AND origin_id IN (SELECT CAST(value AS INTEGER) FROM json_each(?3))`,
};

export const VISIT: Sql = {
	name: "visit",
	text: `SELECT visited_at AS visitedAt, generated_at AS generatedAt, asked,
			rebuilt_at AS rebuiltAt
		FROM visits WHERE user_id = ?1`,
};

export const NOTE_VISIT: Sql = {
	name: "note visit",
	text: `INSERT INTO visits (user_id, visited_at, generated_at, asked, rebuilt_at)
		VALUES (CAST(?1 AS INTEGER), COALESCE(?2, 0), COALESCE(?3, 0), COALESCE(?4, 0), COALESCE(?5, 0))
		ON CONFLICT (user_id) DO UPDATE SET
			visited_at = MAX(visited_at, excluded.visited_at),
			generated_at = MAX(generated_at, excluded.generated_at),
			asked = COALESCE(?4, asked),
			rebuilt_at = MAX(rebuilt_at, excluded.rebuilt_at)`,
};

export const BEST: Sql = {
	name: "best",
	text: `SELECT ${ROW} FROM pool
		WHERE user_id = ?1 AND state = ?4 AND source = ?2
		ORDER BY score DESC, pin_id DESC LIMIT ?3`,
};

export const FIND: Sql = {
	name: "find in pool",
	text: `SELECT ${ROW} FROM pool
		WHERE user_id = ?1 AND origin_id IN (${ORIGINS})`,
};

export const WAITING: Sql = {
	name: "count waiting",
	text: `SELECT COUNT(*) AS count FROM (
		SELECT 1 FROM pool WHERE user_id = ?1 AND state = 0 LIMIT ?2)`,
};

export const LIST_VIA: Sql = {
	name: "list via",
	text: `SELECT ${ROW} FROM pool
		WHERE user_id = ?1 AND state = ?2 AND via_id = ?3
		ORDER BY source, score DESC LIMIT ?4`,
};

export const TRIM_SETTLED: Sql = {
	name: "trim settled",
	text: "DELETE FROM pool WHERE user_id = ?1 AND state > 0 AND changed_at <= ?2",
};

/** The score of the first row to go; rows of the same score go by their pin. */
export const TRIM_WAITING: Sql = {
	name: "trim waiting",
	text: `DELETE FROM pool WHERE user_id = ?1 AND state = 0 AND source = ?2
		AND (score, pin_id) <= (
			SELECT score, pin_id FROM pool
			WHERE user_id = ?1 AND state = 0 AND source = ?2
			ORDER BY score DESC, pin_id DESC LIMIT 1 OFFSET ?3)`,
};

export const FORGET: readonly Sql[] = [
	{ name: "forget pool", text: "DELETE FROM pool WHERE user_id = ?1" },
	{ name: "forget visits", text: "DELETE FROM visits WHERE user_id = ?1" },
];

export const PULLED: Sql = {
	name: "pulled",
	text: `SELECT CAST(producer_id AS TEXT) AS producer, since,
			pushed_since AS pushedSince
		FROM pulled ORDER BY producer_id LIMIT ?1`,
};

export const PUT_PULLED: Sql = {
	name: "put pulled",
	text: `INSERT INTO pulled (producer_id, since, pushed_since)
		VALUES (CAST(?1 AS INTEGER), ?2, ?3)
		ON CONFLICT (producer_id) DO UPDATE SET
			since = excluded.since, pushed_since = excluded.pushed_since`,
};

export const DELETE_PULLED: Sql = {
	name: "delete pulled",
	text: "DELETE FROM pulled WHERE producer_id = ?1",
};

export const ACTIVE_USERS: Sql = {
	name: "active users",
	text: `SELECT CAST(user_id AS TEXT) AS user FROM visits
		WHERE user_id > ?1 AND visited_at > ?2 ORDER BY user_id LIMIT ?3`,
};

export const COUNT_POOL: Sql = {
	name: "count pool",
	text: "SELECT COUNT(*) AS count FROM pool",
};

export const COUNT_USERS: Sql = {
	name: "count users",
	text: "SELECT COUNT(*) AS count FROM visits",
};
