import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { embeddedTopology } from "../../src/topology/parseTopology.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { command, type Ran } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { startMysql } from "../services/mysql.ts";

/** Half of the local ids: 34 billion. */
const FAR = 2 ** 35;

function runIn(env: Readonly<Record<string, string>>) {
	return (...args: readonly string[]): Promise<Ran> =>
		command(args, { env, open: openCorkboard });
}

describe("a table that was made and is gone", () => {
	test("is lost, not new: init refuses it on MySQL, and with --lost makes it again above every id that was given", async () => {
		using folder = temporaryFolder();
		await using mysql = await startMysql();
		const file = join(folder.path, "topology.json");
		const write = (version: number, last: number) =>
			writeFileSync(
				file,
				JSON.stringify({
					version,
					shards: [{ range: [0, last], primary: mysql.url, open: true }],
					lookups: [{ range: [0, 0], primary: mysql.url }],
				}),
			);
		write(1, 1);
		const run = runIn({
			CORKBOARD_TOPOLOGY: file,
			CORKBOARD_SECRET: "of the tests of lost tables 32 bytes",
		});
		const made = await run("init");
		assert.equal(made.code, 0, made.err);

		await ask(
			mysql,
			"INSERT INTO db00001.comments (data, ts) VALUES ('{}', 1)",
			"DROP TABLE db00001.comments",
		);
		const status = await run("status");
		assert.equal(status.code, 1);
		assert.match(
			status.out,
			/1 table was made once and is lost: db00001\.comments\..*Restore .*hosts raise-ids.*init --lost/,
		);
		assert.doesNotMatch(status.out, /Create them/);
		const verified = await run("verify");
		assert.match(
			verified.out,
			/^ {2}db00001\.comments: 127\.0\.0\.1:\d+ has no table: /m,
		);
		assert.doesNotMatch(verified.out, /did not answer/);
		const check = await run("init", "--check");
		assert.equal(check.code, 3);
		assert.match(check.out, /1 table was made once and is lost/);
		assert.doesNotMatch(check.out, /^next: init/m);

		// A new range beside it is not made either: the operator who runs init is to look first.
		const refused = await run("init");
		assert.equal(refused.code, 1);
		assert.match(refused.err, /db00001\.comments.*init --lost/);
		assert.deepEqual(
			await ask(mysql, "SHOW TABLES IN db00001 LIKE 'comments'"),
			[],
		);

		const again = await run("init", "--lost");
		assert.equal(again.code, 0, again.err);
		assert.match(again.out, /^made again, empty: 1 lost table: db00001\.com/m);
		assert.match(again.out, /^next: raise the generation .*; then verify, /m);
		assert.equal(await nextId(), FAR);
		// It may get lost a second time.
		await ask(mysql, "DROP TABLE db00001.comments");
		assert.equal((await run("init")).code, 1);
		assert.equal((await run("init", "--lost")).code, 0);
		assert.equal(await nextId(), FAR + FAR / 2);
		assert.equal((await run("status")).code, 0);

		// What was never made is made as ever.
		write(2, 2);
		const wider = await run("init");
		assert.equal(wider.code, 0, wider.err);
		await ask(mysql, "DROP DATABASE db00002");
		const gone = await run("init");
		assert.equal(gone.code, 1);
		assert.match(gone.err, /tables were made once and are lost: db00002\./);

		async function nextId(): Promise<number> {
			const [row] = await ask(
				mysql,
				"INSERT INTO db00001.comments (data, ts) VALUES ('{}', 1)",
				"SELECT MAX(local_id) AS id FROM db00001.comments",
			);
			return Number(row?.id);
		}
	});

	test("is lost also where nothing is remembered, if other databases have it", async () => {
		using folder = temporaryFolder();
		await using mysql = await startMysql();
		const file = join(folder.path, "topology.json");
		const write = (version: number, last: number) =>
			writeFileSync(
				file,
				JSON.stringify({
					version,
					shards: [{ range: [0, last], primary: mysql.url, open: true }],
					lookups: [{ range: [0, 0], primary: mysql.url }],
				}),
			);
		write(1, 1);
		const run = runIn({
			CORKBOARD_TOPOLOGY: file,
			CORKBOARD_SECRET: "of the tests of lost tables 32 bytes",
		});
		assert.equal((await run("init")).code, 0);
		const forget = () => rmSync(`${file}.d`, { recursive: true });
		// All shards lack a table that came with an update, and a range was added.
		forget();
		await ask(
			mysql,
			"DROP TABLE db00000.renumberings",
			"DROP TABLE db00001.renumberings",
		);
		write(2, 2);
		const updated = await run("init");
		assert.equal(updated.code, 0, updated.err);
		forget();
		await ask(mysql, "DROP TABLE db00001.pins");
		const refused = await run("init");
		assert.equal(refused.code, 1);
		assert.match(
			refused.err,
			/1 table was made once and is lost: db00001\.pins/,
		);
	});

	test("is lost in an embedded folder too, whose file is gone", async () => {
		using folder = temporaryFolder();
		const run = runIn({
			CORKBOARD_DATA: folder.path,
			CORKBOARD_DEMO: "off",
			CORKBOARD_WORKER: "off",
		});
		assert.equal((await run("init")).code, 0);
		const record = join(folder.path, "tables.json");
		const { tables } = JSON.parse(readFileSync(record, "utf8"));
		const [range] = embeddedTopology(folder.path).shards;
		assert.deepEqual(tables["db.comments"], [range?.range]);

		const lost = join(folder.path, "db00003.sqlite");
		for (const end of ["", "-wal", "-shm"]) rmSync(lost + end, { force: true });
		for (const forgets of [false, true]) {
			if (forgets) rmSync(record);
			const refused = await run("init");
			assert.equal(refused.code, 1);
			assert.match(refused.err, /lost: db00003\..*init --lost/);
			assert.ok(!existsSync(lost), "the file was made anew");
			const status = await run("status");
			assert.equal(status.code, 1);
			assert.match(status.out, /lost: db00003\./);
		}
		const again = await run("init", "--lost");
		assert.equal(again.code, 0, again.err);
		assert.equal((await run("status")).code, 0);
		assert.equal((await run("init")).code, 0);
	});
});
