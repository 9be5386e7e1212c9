import assert from "node:assert/strict";
import { test } from "node:test";
import { createTable } from "../../../src/storage/sqlite/ddl.ts";
import {
	MOD_SHARD_TABLES,
	OUTBOX,
	shardTables,
} from "../../../src/storage/statements/tables.ts";
import { MODEL } from "../../helpers/storageModel.ts";

test("the tables are as spelled out here", () => {
	const text = (name: string) =>
		[...shardTables(MODEL), OUTBOX, ...MOD_SHARD_TABLES]
			.map(createTable)
			.find((table) => table.name === name)
			?.text.replace(/\s+/g, " ");
	assert.equal(
		text("create pins"),
		'CREATE TABLE IF NOT EXISTS "pins" ( local_id INTEGER PRIMARY KEY AUTOINCREMENT, data TEXT NOT NULL, ts INTEGER NOT NULL ) STRICT',
	);
	assert.equal(
		text("create user_likes_pins"),
		'CREATE TABLE IF NOT EXISTS "user_likes_pins" ( from_id INTEGER NOT NULL, to_id INTEGER NOT NULL, sequence INTEGER NOT NULL, state INTEGER NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (from_id, state, sequence, to_id), UNIQUE (from_id, to_id) ) STRICT, WITHOUT ROWID',
	);
	assert.equal(
		text("create lists"),
		'CREATE TABLE IF NOT EXISTS "lists" ( from_id INTEGER NOT NULL, mapping TEXT NOT NULL, count INTEGER NOT NULL, last_sequence INTEGER NOT NULL, epoch INTEGER NOT NULL, PRIMARY KEY (from_id, mapping) ) STRICT, WITHOUT ROWID',
	);
	assert.equal(
		text("create renumberings"),
		'CREATE TABLE IF NOT EXISTS "renumberings" ( from_id INTEGER NOT NULL, mapping TEXT NOT NULL, epoch INTEGER NOT NULL, low_sequence INTEGER NOT NULL, low_to INTEGER NOT NULL, high_sequence INTEGER NOT NULL, high_to INTEGER NOT NULL, shift INTEGER NOT NULL, PRIMARY KEY (from_id, mapping, epoch) ) STRICT, WITHOUT ROWID',
	);
	assert.equal(
		text("create outbox"),
		'CREATE TABLE IF NOT EXISTS "outbox" ( local_id INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL, ts INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, next_attempt_at INTEGER NOT NULL DEFAULT 0, last_error TEXT ) STRICT',
	);
	assert.equal(
		text("create lookups"),
		'CREATE TABLE IF NOT EXISTS "lookups" ( name TEXT NOT NULL, key TEXT NOT NULL, id INTEGER NOT NULL, token TEXT NOT NULL, PRIMARY KEY (name, key) ) STRICT, WITHOUT ROWID',
	);
});
