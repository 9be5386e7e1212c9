import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { reportSmallSettings } from "../../../src/server/reportMissingTables.ts";
import { TABLE_CACHE_LEVELS } from "../../../src/storage/diagnostics.ts";
import { settingProblems } from "../../../src/storage/hostReport.ts";
import { openMysqlStorage } from "../../../src/storage/mysql/mysqlStorage.ts";
import { fileText } from "../../deploy/composeFile.ts";
import { theModel } from "../../helpers/model.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { startMysql } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";

let mysql: Server;
before(async () => {
	mysql = await startMysql();
});
after(() => mysql[Symbol.asyncDispose]());

function openStorage(shards: number) {
	const range = { range: [0, shards - 1] as const, primary: mysql.url };
	return openMysqlStorage({
		model: theModel().model,
		topology: {
			version: 1,
			shards: [{ ...range, open: true }],
			lookups: [range],
		},
	});
}

it("a host with MySQL's defaults is said to be too small for 512 shards, in one line at the start, and to be large enough for four", async () => {
	const lines: string[] = [];
	const log = {
		warn: (...line: unknown[]) => void lines.push(JSON.stringify(line)),
	};
	{
		await using small = await openStorage(4);
		await reportSmallSettings(small.admin, log);
	}
	assert.deepEqual(lines, []);
	await using storage = await openStorage(512);
	await reportSmallSettings(storage.admin, log);
	assert.equal(lines.length, 1);
	const [line = ""] = lines;
	assert.match(line, /"hosts":1,.*"database settings too small"/);
	assert.match(
		line,
		new RegExp(
			`"${mysql.address} is set for fewer tables than it has: table_open_cache must be at least \\d+, got \\d+; table_definition_cache must be at least \\d+, got \\d+; `,
		),
	);
	// A look at the host says the same.
	const [problem] = settingProblems(await storage.admin.inspectHosts());
	assert.ok(line.includes(JSON.stringify(problem)), line);
});

it("the settings that docs/how-to/install.md has for 512 shards are enough", async () => {
	const [, cache, files] =
		/^\| 512 \| ([\d,]+) \| ([\d,]+) \|/m.exec(
			fileText("docs/how-to/install.md"),
		) ?? [];
	const number = (text = "") => Number(text.replaceAll(",", ""));
	await ask(mysql, `SET GLOBAL table_open_cache = ${number(cache) * 4}`);
	await ask(mysql, `SET GLOBAL table_definition_cache = ${number(files)}`);
	await using storage = await openStorage(512);
	const [{ settings } = { settings: null }] = await storage.admin.settings();
	const small = (settings ?? [])
		.filter(({ least, value }) => value < least)
		.map(({ name }) => name);
	// The server had these at its start; as many instances as by default need four times the cache.
	assert.deepEqual(
		small.filter((name) => !/files/.test(name)),
		[],
	);
});

it("metrics say how often each host closed a table for want of room, and a host is asked once a minute", async () => {
	await ask(mysql, "SET GLOBAL table_open_cache = 1");
	await ask(mysql, "CREATE DATABASE IF NOT EXISTS many");
	for (let n = 0; n < 20; n++) {
		await ask(mysql, `CREATE TABLE IF NOT EXISTS many.t${n} (a INT)`);
	}
	const tables = Array.from(
		{ length: 20 },
		(_, n) => `SELECT * FROM many.t${n}`,
	);
	await ask(mysql, ...tables);
	await using _storage = await openStorage(1);
	const levels = async () =>
		(await Promise.all(TABLE_CACHE_LEVELS.read())).flat();
	const [level] = await levels();
	assert.equal(level?.host, mysql.address);
	assert.ok(level.overflows > 0);
	await ask(mysql, ...tables);
	assert.deepEqual(await levels(), [level]);
});
