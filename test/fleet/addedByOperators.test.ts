import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createConnection } from "mysql2/promise";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { listOperations } from "../../src/fleet/operations/operations.ts";
import { openFileStore } from "../../src/topology/file/fileStore.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { runProgram } from "../helpers/program.ts";
import { command } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { caughtUp, startMysql, startMysqlPair } from "../services/mysql.ts";
import type { Server } from "../services/server.ts";

/** What operators add to plain tables for their reports, each to a table of its own. */
const ADDED = {
	/** Refuses what is no JSON. */
	boards:
		"ADD KEY by_title ((CAST(JSON_UNQUOTE(JSON_EXTRACT(data, '$.title')) AS CHAR(40))))",
	/** Refuses every document without a text. */
	comments:
		"ADD words VARCHAR(500) AS (JSON_UNQUOTE(JSON_EXTRACT(data, '$.text'))) STORED NOT NULL",
	pins: "ADD CONSTRAINT has_title CHECK (JSON_EXTRACT(data, '$.title') IS NOT NULL)",
} as const;

/** The next local id that a server would give. */
async function nextIds(
	server: Server,
): Promise<Readonly<Record<string, number>>> {
	const rows = await ask(
		server,
		"SET SESSION information_schema_stats_expiry = 0",
		`SELECT table_name AS name, auto_increment AS next FROM information_schema.tables
			WHERE table_schema = 'db00000' AND table_name IN ('boards', 'comments', 'pins', 'users')`,
	);
	return Object.fromEntries(
		rows.map(({ name, next }) => [String(name), Number(next ?? 1)]),
	);
}

test("what operators add to tables stops neither hosts raise-ids nor a move nor hosts promote --dead, and checks say beforehand which table and index take another way, or cannot move", async () => {
	await using stack = new AsyncDisposableStack();
	const [pair, other] = await Promise.all([startMysqlPair(), startMysql()]);
	stack.use(pair);
	stack.defer(() => other.stop());
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const { primary, replica } = pair;
	const hosts = { primary: primary.url, replica: replica.url };
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range: [0, 1], ...hosts, open: true }],
			lookups: [{ range: [0, 0], ...hosts }],
		}),
	);
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_SECRET: "of the test of additions of 32 bytes or more",
	};
	{
		await using corkboard = await openCorkboard(
			pinsApp,
			readConfig(env),
			"readWrite",
		);
		await corkboard.admin.createTables();
	}
	for (const [table, added] of Object.entries(ADDED)) {
		await ask(primary, `ALTER TABLE db00000.${table} ${added}`);
	}
	await ask(primary, `ALTER TABLE db00001.boards ${ADDED.boards}`);
	await caughtUp(pair);
	await using store = openFileStore(file);
	const run = (...args: readonly string[]) => command(args, { env });
	const { address } = primary;
	/** What `{}` is refused by; the index takes it. */
	const takesAnotherWay =
		/ALTER TABLE raises them.*db00000\.comments \(column words\): .*db00000\.pins \(constraint has_title\): /s;

	const dry = await run(
		"hosts",
		"raise-ids",
		address,
		"--by",
		"500",
		"--dry-run",
	);
	assert.equal(dry.code, 0, dry.err);
	assert.match(dry.out + dry.err, takesAnotherWay);
	assert.doesNotMatch(dry.out + dry.err, /by_title/);
	const before = await nextIds(primary);
	const raised = await run("hosts", "raise-ids", address, "--by", "500");
	assert.equal(raised.code, 0, raised.err);
	const after = await nextIds(primary);
	for (const [table, next] of Object.entries(before)) {
		assert.equal(after[table], next + 500, table);
	}

	const checked = await run("hosts", "check", "--json");
	const { notes } = JSON.parse(checked.out) as {
		readonly notes: readonly string[];
	};
	assert.match(notes.join("\n"), takesAnotherWay);
	assert.ok(notes.some((note) => note.startsWith(replica.address)));

	// What cannot be moved is said before it is; a functional index can.
	const moving = [
		"--to",
		other.url,
		"--max-pause",
		"60s",
		"--max-lag",
		"60s",
		"--settle",
		"0s",
	];
	await ask(
		primary,
		"CREATE TRIGGER db00001.noted BEFORE INSERT ON db00001.pins FOR EACH ROW SET NEW.data = NEW.data",
	);
	const refused = await run("shards", "move", "0-1", ...moving, "--dry-run");
	assert.equal(refused.code, 1);
	assert.match(
		refused.out,
		/db00000\.comments\.words is computed from other columns.*DROP COLUMN words/,
	);
	assert.match(
		refused.out,
		/db00001\.pins has the trigger noted.*DROP TRIGGER db00001\.noted/,
	);
	await ask(primary, "DROP TRIGGER db00001.noted");
	const moved = await run("shards", "move", "1", ...moving, "--yes");
	assert.equal(moved.code, 0, moved.err);
	const [id = ""] = /move-\d+-\w+/.exec(moved.err) ?? [];
	// In a process of its own: the guard of the first may still be there, and would guard this one too.
	const back = await runProgram(["moves", "reverse", id, "--yes"], { env });
	assert.equal(back.code, 0, back.err);

	await caughtUp(pair);

	// As a dump or a maintenance script does: the fence would wait for it, and all writes with it.
	{
		const script = await createConnection({ uri: primary.url });
		await script.query("LOCK TABLES db00000.pins WRITE");
		const locked = await run("hosts", "promote", address, "--yes");
		assert.equal(locked.code, 1, locked.out);
		// With the performance schema it says which connection, and does not try.
		assert.match(
			locked.err,
			/did not stop writes within 2000 ms.*LOCK TABLES|connection \d+ of .*End that/s,
		);
		await script.end();
		const { step } = (await listOperations(store)).at(-1) ?? {};
		assert.equal(step, "rolled back");
	}

	// A former primary that is gone for good: its copies cannot be dropped, and the move can be ended all the same.
	const again = await run("shards", "move", "1", ...moving, "--yes");
	assert.equal(again.code, 0, again.err);
	const [last = ""] = /move-\d+-\w+/.exec(again.err) ?? [];
	const ended = await run("operations", "abort", last, "--leave", "--yes");
	assert.equal(ended.code, 0, ended.err);
	assert.match(ended.out, /is over\. Left to you:/);
	assert.equal((await listOperations(store)).at(-1)?.step, "done");
	assert.deepEqual(await store.list("wishes"), []);

	// Nobody runs who would know what it lacks.
	await ask(replica, "STOP REPLICA IO_THREAD");
	const blind = await run("hosts", "promote", address, "--dead", "--dry-run");
	assert.match(blind.out, /had stopped receiving from/);
	await ask(replica, "START REPLICA IO_THREAD");

	const dead = ["hosts", "promote", address, "--dead", "--force"];
	const tried = await run(...dead, "--dry-run");
	assert.equal(tried.code, 0, tried.err);
	assert.match(tried.out, takesAnotherWay);
	const promoted = await run(...dead, "--yes", "--accept-loss");
	assert.equal(promoted.code, 0, promoted.err);
	for (const [table, next] of Object.entries(await nextIds(replica))) {
		assert.ok(next >= 1_000_000, `${table} ${next}`);
	}
});
