import assert from "node:assert/strict";
import { test } from "node:test";
import {
	createDatabase,
	createTable,
	databaseOf,
	HOST_OUTBOX,
} from "../../../src/storage/mysql/ddl.ts";
import {
	MOD_SHARD_TABLES,
	shardTables,
} from "../../../src/storage/statements/tables.ts";
import { MODEL } from "../../helpers/storageModel.ts";

test("a shard on MySQL has a table for each type and mapping of the model, one for all lists, and one for their renumberings", () => {
	assert.deepEqual(
		shardTables(MODEL).map(({ name }) => name),
		[
			"pins",
			"boards",
			"users",
			"comments",
			"board_has_pins",
			"user_likes_pins",
			"pin_liked_by_users",
			"pin_has_comments",
			"lists",
			"renumberings",
		],
	);
	assert.deepEqual(
		MOD_SHARD_TABLES.map(({ name }) => name),
		["lookups"],
	);
});

test("the tables on MySQL are as spelled out here", () => {
	const text = (name: string) => {
		const table = [
			...shardTables(MODEL),
			HOST_OUTBOX,
			...MOD_SHARD_TABLES,
		].find((one) => one.name === name);
		assert.ok(table !== undefined);
		return createTable("db00007", table).replace(/\s+/g, " ");
	};
	const spelled = (name: string, columns: string) =>
		`CREATE TABLE IF NOT EXISTS \`db00007\`.\`${name}\` ( ${columns} ) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;
	assert.equal(
		text("pins"),
		spelled(
			"pins",
			"local_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, data MEDIUMTEXT NOT NULL, ts BIGINT UNSIGNED NOT NULL",
		),
	);
	assert.equal(
		text("user_likes_pins"),
		spelled(
			"user_likes_pins",
			"from_id BIGINT UNSIGNED NOT NULL, to_id BIGINT UNSIGNED NOT NULL, sequence BIGINT UNSIGNED NOT NULL, state TINYINT UNSIGNED NOT NULL, version BIGINT UNSIGNED NOT NULL, PRIMARY KEY (from_id, state, sequence, to_id), UNIQUE KEY edge (from_id, to_id)",
		),
	);
	assert.equal(
		text("lists"),
		spelled(
			"lists",
			"from_id BIGINT UNSIGNED NOT NULL, mapping VARBINARY(100) NOT NULL, count BIGINT NOT NULL, last_sequence BIGINT UNSIGNED NOT NULL, epoch BIGINT UNSIGNED NOT NULL, PRIMARY KEY (from_id, mapping)",
		),
	);
	assert.equal(
		text("renumberings"),
		spelled(
			"renumberings",
			"from_id BIGINT UNSIGNED NOT NULL, mapping VARBINARY(100) NOT NULL, epoch BIGINT UNSIGNED NOT NULL, low_sequence BIGINT UNSIGNED NOT NULL, low_to BIGINT UNSIGNED NOT NULL, high_sequence BIGINT UNSIGNED NOT NULL, high_to BIGINT UNSIGNED NOT NULL, shift BIGINT UNSIGNED NOT NULL, PRIMARY KEY (from_id, mapping, epoch)",
		),
	);
	assert.equal(
		text("outbox"),
		spelled(
			"outbox",
			"local_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, entry MEDIUMTEXT NOT NULL, ts BIGINT UNSIGNED NOT NULL, attempts INT UNSIGNED NOT NULL DEFAULT 0, next_attempt_at BIGINT UNSIGNED NOT NULL DEFAULT 0, last_error VARCHAR(255), shard INT UNSIGNED NOT NULL, KEY due (next_attempt_at, local_id, shard)",
		),
	);
	assert.equal(
		text("lookups"),
		spelled(
			"lookups",
			"name VARBINARY(100) NOT NULL, `key` VARBINARY(2900) NOT NULL, id BIGINT UNSIGNED NOT NULL, token VARBINARY(255) NOT NULL, PRIMARY KEY (name, `key`)",
		),
	);
});

test("databases are named by kind and shard, five digits wide", () => {
	assert.deepEqual(
		[databaseOf("db", 0), databaseOf("mod", 42), databaseOf("db", 65_535)],
		["db00000", "mod00042", "db65535"],
	);
	assert.equal(
		createDatabase("db00000").replace(/\s+/g, " "),
		"CREATE DATABASE IF NOT EXISTS `db00000` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
	);
});
