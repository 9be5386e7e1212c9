/** Names of databases are made of numbers. */
export function poolDatabase(shard: number): string {
	return `pool${String(shard).padStart(5, "0")}`;
}

/** Each table of a pool shard, and the statement that creates it. */
export const POOL_TABLES: Readonly<
	Record<string, (database: string) => string>
> = {
	pool: (database) => `CREATE TABLE IF NOT EXISTS \`${database}\`.\`pool\` (
		user_id BIGINT UNSIGNED NOT NULL,
		state TINYINT UNSIGNED NOT NULL,
		source TINYINT UNSIGNED NOT NULL,
		score BIGINT UNSIGNED NOT NULL,
		pin_id BIGINT UNSIGNED NOT NULL,
		origin_id BIGINT UNSIGNED NOT NULL,
		via_id BIGINT UNSIGNED NOT NULL,
		changed_at BIGINT UNSIGNED NOT NULL,
		PRIMARY KEY (user_id, state, source, score, pin_id),
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
