import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
	copyFileSync,
	existsSync,
	readdirSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { CorkboardError } from "../../../src/errors.ts";
import { STORAGE_CHANNELS } from "../../../src/storage/diagnostics.ts";
import { REMOVED } from "../../../src/storage/rows.ts";
import { SQLITE } from "../../../src/storage/sqlite/dialect.ts";
import { scanStatements } from "../../../src/storage/sqlite/scan.ts";
import { openSqliteStorage } from "../../../src/storage/sqlite/sqliteStorage.ts";
import { edgesBetween } from "../../../src/storage/statements/edges.ts";
import type { Statement } from "../../../src/trace.ts";
import { publishedDuring } from "../../helpers/publishedDuring.ts";
import {
	NOT_SQLITE,
	openIn,
	sqliteForSuite,
} from "../../helpers/sqliteStorage.ts";
import {
	MAPPINGS,
	MODEL,
	pin,
	topologyOn,
	user,
} from "../../helpers/storageModel.ts";
import {
	codes,
	create,
	good,
	listOf,
	setEdges,
	toggle,
} from "../../helpers/storing.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { storageSuite } from "../../suites/storage.ts";

const open = await sqliteForSuite();

storageSuite("SQLite", open);

test("createTables creates one SQLite file for each shard and each mod shard", async () => {
	using folder = temporaryFolder();
	const data = join(folder.path, "deep", "data");
	await using storage = await openIn(data);
	assert.deepEqual(codes(await storage.read("objects", [pin(1)])), [
		"UNAVAILABLE",
	]);
	await assert.rejects(create(storage, 0, "Pin", {}), { code: "UNAVAILABLE" });
	assert.equal(existsSync(data), false);
	await storage.admin.createTables();
	assert.deepEqual(
		readdirSync(data).filter((name) => name.endsWith(".sqlite")),
		[0, 1, 2, 3]
			.map((shard) => `db0000${shard}.sqlite`)
			.concat([0, 1, 2, 3].map((shard) => `mod0000${shard}.sqlite`)),
	);
	assert.equal(storage.map.hostOf(2), "db00002.sqlite");
	// Reads that failed before the files existed succeed now.
	assert.deepEqual(await storage.read("objects", [pin(1)]), [null]);
});

test("a SQLite shard that was lost and restored is used again without a restart", async () => {
	using folder = temporaryFolder();
	{
		await using made = await openIn(folder.path);
		await made.admin.createTables();
		await create(made, 0, "Pin", { kept: true });
	}
	const file = join(folder.path, "db00000.sqlite");
	copyFileSync(file, join(folder.path, "backup"));
	rmSync(file);
	await using storage = await openIn(folder.path);
	assert.deepEqual(codes(await storage.read("objects", [pin(1), pin(1, 1)])), [
		"UNAVAILABLE",
		null,
	]);
	assert.equal(
		existsSync(file),
		false,
		"a missing shard must not be made anew",
	);
	writeFileSync(file, NOT_SQLITE);
	assert.deepEqual(codes(await storage.read("objects", [pin(1)])), [
		"UNAVAILABLE",
	]);
	await assert.rejects(create(storage, 0, "Pin", {}), { code: "UNAVAILABLE" });
	// A restore replaces the file; it does not overwrite the bytes of the old one.
	rmSync(file);
	copyFileSync(join(folder.path, "backup"), file);
	assert.deepEqual(await storage.read("objects", [pin(1)]), ['{"kept":true}']);
	assert.deepEqual(await create(storage, 0, "Pin", {}), [pin(2)]);
});

test("SQLite storage logs the file and SQLite's error; the message contains neither", async () => {
	await using opened = await open({ dead: [1] });
	const [answer] = await opened.storage.read("objects", [pin(1, 1)]);
	assert.ok(answer instanceof CorkboardError);
	assert.equal(answer.details.host, "db00001.sqlite");
	assert.match(String(answer.cause), /file is not a database/);
	assert.doesNotMatch(answer.message, /sqlite|database/);
});

test("read-only SQLite storage reads what another storage writes, and rejects writes", async () => {
	using folder = temporaryFolder();
	await using writing = await openIn(folder.path);
	await writing.admin.createTables();
	await using reading = await openIn(folder.path, true);
	await create(writing, 0, "Pin", { n: 1 });
	assert.deepEqual(await reading.read("objects", [pin(1)]), ['{"n":1}']);
	await create(writing, 0, "Pin", { n: 2 });
	assert.deepEqual(await reading.read("objects", [pin(2)]), ['{"n":2}']);
	const refused = {
		name: "TypeError",
		message: "db00000.sqlite was opened read-only and takes no writes.",
	};
	await assert.rejects(create(reading, 0, "Pin", {}), refused);
	await assert.rejects(reading.admin.createTables(), refused);
});

test("read-only SQLite storage reads a folder that no other storage has open", async () => {
	using folder = temporaryFolder();
	{
		await using writing = await openIn(folder.path);
		await writing.admin.createTables();
		await create(writing, 0, "Pin", { n: 1 });
	}
	await using reading = await openIn(folder.path, true);
	assert.deepEqual(await reading.read("objects", [pin(1)]), ['{"n":1}']);
});

test("closed SQLite storage rejects reads with an error that says so", async () => {
	const opened = await open();
	await opened[Symbol.asyncDispose]();
	await assert.rejects(opened.storage.read("objects", [pin(1)]), {
		name: "TypeError",
		message: "db00000.sqlite is closed.",
	});
});

test("SQLite storage rejects a topology with other than sqlite: URLs", async () => {
	for (const primary of ["mysql://db1:3306", "sqlite:", "data"]) {
		await assert.rejects(
			openSqliteStorage({ model: MODEL, topology: topologyOn(primary) }),
			{
				code: "BAD_TOPOLOGY",
				message: `The primary of a range must be sqlite:FOLDER, got ${primary}.`,
			},
		);
	}
});

test("a SQLite transaction inside another's decide is rejected, and the outer one commits", async () => {
	await using opened = await open();
	const { storage } = opened;
	let inner: Promise<unknown> | undefined;
	const { result } = await storage.transact({
		shard: 0,
		creates: [{ type: "Pin", data: { outer: true } }],
		decide: ({ created: [id] }) => {
			inner = create(storage, 0, "Pin", { inner: true });
			inner.catch(() => {});
			return { result: id };
		},
	});
	await assert.rejects(inner ?? Promise.resolve(), {
		name: "TypeError",
		message: "db00000.sqlite has an open transaction already.",
	});
	assert.equal(result, pin(1));
	assert.deepEqual(await storage.read("objects", [pin(1), pin(2)]), [
		'{"outer":true}',
		null,
	]);
});

test("reads during a SQLite transaction see the state committed before it", async () => {
	await using opened = await open();
	const { storage } = opened;
	await create(storage, 0, "Pin", { n: "old" });
	let during: Promise<readonly unknown[]> | undefined;
	await storage.transact({
		shard: 0,
		objects: [pin(1)],
		creates: [{ type: "Pin", data: { n: "new" } }],
		decide: () => {
			during = storage.read("objects", [pin(1), pin(2)]);
			return { result: null };
		},
	});
	assert.deepEqual(await during, ['{"n":"old"}', null]);
});

test("SQLite reads list pages and single edges through an index, without a scan or sort", async () => {
	using folder = temporaryFolder();
	{
		await using made = await openIn(folder.path);
		await made.admin.createTables();
	}
	const { likePin: mapping } = MAPPINGS;
	const edges = edgesBetween(
		SQLITE,
		{ number: 0, host: { name: "" } },
		mapping,
		[{ mapping, from: user(1), to: pin(1) }],
	);
	const texts = [
		scanStatements(MAPPINGS.likePin).ascending.text,
		scanStatements(MAPPINGS.likePin).descending.text,
		`SELECT ${edges.columns.join(", ")} ${edges.rest}`,
	];
	const file = new DatabaseSync(join(folder.path, "db00000.sqlite"));
	const plans = texts.map((text) =>
		file
			.prepare(`EXPLAIN QUERY PLAN ${text}`)
			.all()
			.map(({ detail }) => String(detail))
			.filter((detail) => /user_likes_pins|lists/.test(detail)),
	);
	file.close();
	const scan = [
		"SEARCH user_likes_pins USING PRIMARY KEY (from_id=? AND state=? AND sequence>? AND sequence<?)",
		"SEARCH lists USING PRIMARY KEY (from_id=? AND mapping=?)",
	];
	assert.deepEqual(plans, [
		scan,
		scan,
		[
			"SEARCH user_likes_pins USING INDEX sqlite_autoindex_user_likes_pins_2 (from_id=? AND to_id=?)",
		],
	]);
});

test("a SQLite transaction publishes all its statements, including BEGIN and COMMIT", async () => {
	await using opened = await open();
	const { storage } = opened;
	const statements = await publishedDuring<Statement>(
		STORAGE_CHANNELS.statement,
		() => toggle(storage, MAPPINGS.likePin, user(1), pin(1), true),
	);
	assert.deepEqual(
		statements.map(({ name, host }) => `${host} ${name}`),
		[
			"begin",
			"lists",
			"edges likePin",
			"set likePin",
			"set list",
			"commit",
		].map((name) => `db00000.sqlite ${name}`),
	);
});

test("recount corrects the count and last sequence of a SQLite list from its edges", async () => {
	using folder = temporaryFolder();
	await using storage = await openIn(folder.path);
	await storage.admin.createTables();
	const list = { mapping: MAPPINGS.likePin, from: user(1) };
	await setEdges(storage, list.mapping, list.from, [
		{ to: pin(1), sequence: 1 },
		{ to: pin(2), sequence: 2 },
		{ to: pin(3), sequence: 3, state: REMOVED },
	]);
	const file = new DatabaseSync(join(folder.path, "db00000.sqlite"));
	file.exec("UPDATE lists SET count = 99, last_sequence = 0, epoch = 4");
	file.close();
	await storage.transact({
		shard: 0,
		lists: [list],
		decide: () => ({ result: null, recount: [list] }),
	});
	const { count, lastSequence, epoch } = await listOf(
		storage,
		list.mapping,
		list.from,
	);
	// No renumbering made epoch 4. Recounted again, the list stays as it is.
	assert.deepEqual([count, lastSequence, epoch], [2, 3, 6]);
	await storage.transact({
		shard: 0,
		lists: [list],
		decide: () => ({ result: null, recount: [list] }),
	});
	const again = await listOf(storage, list.mapping, list.from);
	assert.deepEqual([again.count, again.epoch], [2, 6]);
});

test("SQLite storage loses no acknowledged write when the process is killed", {
	timeout: 60_000,
}, async () => {
	using folder = temporaryFolder();
	const here = (path: string) =>
		JSON.stringify(pathToFileURL(join(import.meta.dirname, path)).href);
	const child = spawn(
		process.execPath,
		[
			"--input-type=module",
			"--eval",
			`import { openSqliteStorage } from ${here("../../../src/storage/sqlite/sqliteStorage.ts")};
			import { MODEL, topologyOn } from ${here("../../helpers/storageModel.ts")};
			const topology = topologyOn("sqlite:" + process.argv[1]);
			const storage = await openSqliteStorage({ model: MODEL, topology });
			await storage.admin.createTables();
			for (;;) {
				const { result } = await storage.transact({
					shard: 0,
					creates: [{ type: "Pin", data: {} }],
					decide: ({ created }) => ({ result: created[0], outboxEntry: { created } }),
				});
				await new Promise((done) => process.stdout.write(result + "\\n", done));
			}`,
			folder.path,
		],
		{ stdio: ["ignore", "pipe", "inherit"] },
	);
	const acknowledged: string[] = [];
	for await (const line of createInterface({ input: child.stdout })) {
		acknowledged.push(line);
		if (acknowledged.length === 300) child.kill("SIGKILL");
	}
	assert.ok(acknowledged.length >= 300);
	await using storage = await openIn(folder.path, true);
	const ids = acknowledged.map((_, index) => pin(index + 1));
	assert.deepEqual(acknowledged, ids);
	assert.deepEqual(
		(await storage.read("objects", ids)).map(good),
		ids.map(() => "{}"),
	);
	const pending = await storage.pendingEntries({
		olderThanMs: 0,
		limit: 1_000_000,
	});
	assert.ok(pending.length >= ids.length);
	// Object and outbox row are written in one transaction, so there are equally many.
	assert.deepEqual(
		await storage.read(
			"objects",
			pending.map((_, index) => pin(index + 1)),
		),
		pending.map(() => "{}"),
	);
});
