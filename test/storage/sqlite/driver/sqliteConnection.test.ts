import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import {
	type DatabaseFailure,
	STORAGE_CHANNELS,
} from "../../../../src/storage/diagnostics.ts";
import {
	type OpenMode,
	type Sql,
	SqliteConnection,
} from "../../../../src/storage/sqlite/driver/sqliteConnection.ts";
import {
	StorageFailure,
	toStorageError,
} from "../../../../src/storage/storageFailure.ts";
import { publishedDuring } from "../../../helpers/publishedDuring.ts";
import { temporaryFolder } from "../../../helpers/temporaryFolder.ts";

const CREATE = sql("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER) STRICT");
const INSERT = sql("INSERT INTO t (id, n) VALUES (?, ?)");
const READ = sql("SELECT CAST(id AS TEXT) AS id, n FROM t ORDER BY t.id");

function sql(text: string): Sql {
	return { name: text.split(" ")[0] ?? "", text };
}

function connect(folder: string, mode: OpenMode): SqliteConnection {
	const path = join(folder, "db00007.sqlite");
	return new SqliteConnection({ path, host: "db00007.sqlite", shard: 7 }, mode);
}

test("a full disk is named, to a client by its shard, and leaves what is there", async () => {
	using folder = temporaryFolder();
	using connection = connect(folder.path, "create");
	connection.run(CREATE);
	connection.run(INSERT, [1, 1]);
	// SQLite says the same as when the file system has no space.
	connection.rows(sql("PRAGMA max_page_count = 3"), []);
	const fill = () =>
		connection.transaction(() => {
			for (let n = 2; n < 9_999; n++) connection.run(INSERT, [n, n]);
		});
	const failures = await publishedDuring<DatabaseFailure>(
		STORAGE_CHANNELS.databaseFailure,
		async () => {
			assert.throws(fill, (thrown) => {
				assert.ok(thrown instanceof StorageFailure);
				assert.equal(thrown.kind, "diskFull");
				const { code, message } = toStorageError(thrown, 7);
				assert.equal(code, "UNAVAILABLE");
				assert.equal(message, "Shard 7 takes no writes: its disk is full.");
				return true;
			});
		},
	);
	assert.deepEqual(failures, [{ host: "db00007.sqlite", kind: "diskFull" }]);
	assert.equal(connection.rows(READ, []).length, 1);
});

test("a SQLite writer syncs to disk at each commit", () => {
	using folder = temporaryFolder();
	using created = connect(folder.path, "create");
	assert.deepEqual(
		created
			.rows(sql("PRAGMA journal_mode"), [])
			.map((row) => ({ ...Object(row) })),
		[{ journal_mode: "wal" }],
	);
	using writer = connect(folder.path, "write");
	assert.deepEqual(
		writer
			.rows(sql("PRAGMA synchronous"), [])
			.map((row) => ({ ...Object(row) })),
		[{ synchronous: 2 }],
	);
});

test("SQLite opens a missing file in create mode only; other modes fail with its name", () => {
	using folder = temporaryFolder();
	for (const mode of ["read", "write"] as const) {
		assert.throws(() => connect(folder.path, mode), {
			name: "StorageFailure",
			kind: "connectionLost",
			host: "db00007.sqlite",
			statement: "open",
		});
	}
	using created = connect(folder.path, "create");
	assert.equal(created.isLost, false);
});

test("SQLite stores and returns 64-bit ids exactly", () => {
	using folder = temporaryFolder();
	using writer = connect(folder.path, "create");
	writer.run(CREATE);
	const ids = [2n ** 31n, 2n ** 53n + 1n, 241294492511762325n, 2n ** 62n - 1n];
	for (const id of ids) writer.run(INSERT, [id, 0]);
	assert.deepEqual(
		writer.rows<{ id: string }>(READ, []).map(({ id }) => id),
		ids.map(String),
	);
});

test("a SQLite transaction whose body throws is rolled back, and the next one commits", () => {
	using folder = temporaryFolder();
	using writer = connect(folder.path, "create");
	writer.run(CREATE);
	assert.throws(
		() =>
			writer.transaction(() => {
				writer.run(INSERT, [1, 1]);
				throw new RangeError("no");
			}),
		/^RangeError: no$/,
	);
	const changes = writer.transaction(() => writer.run(INSERT, [2, 2]));
	assert.deepEqual(changes, { changes: 1, insertedAs: 2 });
	using reader = connect(folder.path, "read");
	assert.deepEqual(
		reader.rows<{ id: string }>(READ, []).map(({ id }) => id),
		["2"],
	);
});

test("SQLite rejects a duplicate key or a value of the wrong type as constraint", () => {
	using folder = temporaryFolder();
	using writer = connect(folder.path, "create");
	writer.run(CREATE);
	writer.run(INSERT, [1, 1]);
	assert.throws(() => writer.run(INSERT, [1, 1]), {
		name: "StorageFailure",
		kind: "constraint",
	});
	assert.throws(() => writer.run(INSERT, [2, "text"]), { kind: "constraint" });
	assert.equal(writer.isLost, false);
});

test("a write to a locked SQLite file fails with timeout after a bounded wait; reads continue", () => {
	using folder = temporaryFolder();
	using writer = connect(folder.path, "create");
	writer.run(CREATE);
	using reader = connect(folder.path, "read");
	const other = new DatabaseSync(join(folder.path, "db00007.sqlite"));
	other.exec("BEGIN IMMEDIATE; INSERT INTO t (id, n) VALUES (5, 5)");
	const began = performance.now();
	assert.throws(() => writer.transaction(() => {}), { kind: "timeout" });
	// SQLite waits by the clock on the wall, and this process may be paused meanwhile.
	assert.ok(performance.now() - began < 60_000);
	assert.deepEqual(reader.rows(READ, []), []);
	other.exec("COMMIT");
	other.close();
	writer.transaction(() => writer.run(INSERT, [6, 6]));
	assert.equal(reader.rows(READ, []).length, 2);
});
