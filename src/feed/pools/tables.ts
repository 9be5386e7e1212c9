import type { Sql } from "../../storage/sqlite/driver/sqliteConnection.ts";

/** Each table of a pool shard on MySQL, and the statement that creates it. */
export const POOL_TABLES: Readonly<
	Record<"pool" | "visits" | "pulled", (database: string) => string>
> = {
	pool: (database) => `CREATE TABLE IF NOT EXISTS \`${database}\`.\`pool\` (
		user_id BIGINT UNSIGNED NOT NULL,
		state TINYINT UNSIGNED NOT NULL,
		source TINYINT UNSIGNED NOT NULL,
		score BIGINT UNSIGNED NOT NULL,
		item_id BIGINT UNSIGNED NOT NULL,
		origin_id BIGINT UNSIGNED NOT NULL,
		via_id BIGINT UNSIGNED NOT NULL,
		changed_at BIGINT UNSIGNED NOT NULL,
		PRIMARY KEY (user_id, state, source, score, item_id),
		UNIQUE KEY origin (user_id, origin_id)
	) ENGINE=InnoDB`,
	visits: (database) => `CREATE TABLE IF NOT EXISTS \`${database}\`.\`visits\` (
		user_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
		visited_at BIGINT UNSIGNED NOT NULL,
		generated_at BIGINT UNSIGNED NOT NULL,
		asked SMALLINT UNSIGNED NOT NULL,
		rebuilt_at BIGINT UNSIGNED NOT NULL
	) ENGINE=InnoDB`,
	pulled: (database) => `CREATE TABLE IF NOT EXISTS \`${database}\`.\`pulled\` (
		producer_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
		since BIGINT UNSIGNED NOT NULL,
		pushed_since BIGINT UNSIGNED NOT NULL
	) ENGINE=InnoDB`,
};

/** The same in a file of SQLite. */
export const CREATE_SQLITE_TABLES: readonly Sql[] = [
	{
		name: "create pool",
		text: `CREATE TABLE IF NOT EXISTS pool (
			user_id INTEGER NOT NULL,
			state INTEGER NOT NULL,
			source INTEGER NOT NULL,
			score INTEGER NOT NULL,
			item_id INTEGER NOT NULL,
			origin_id INTEGER NOT NULL,
			via_id INTEGER NOT NULL,
			changed_at INTEGER NOT NULL,
			PRIMARY KEY (user_id, state, source, score, item_id),
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
