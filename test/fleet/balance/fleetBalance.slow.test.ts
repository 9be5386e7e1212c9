import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ask } from "../../helpers/mysqlStorage.ts";
import { command, runHere } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { startMysql } from "../../services/mysql.ts";

const ROOT = join(import.meta.dirname, "../../..");

test("shards balance measures sizes and writes of real servers, plans the moves that level them or empty one, and prints the commands in the documented shape", async () => {
	using folder = temporaryFolder();
	const args = ["--performance-schema=ON"];
	await using full = await startMysql({ args });
	await using other = await startMysql({ args });
	const file = join(folder.path, "topology.json");
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range: [0, 3], primary: full.url, open: true }],
			lookups: [{ range: [0, 1], primary: other.url }],
		}),
	);
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_MODE: "development",
		CORKBOARD_SECRET: "of this test alone of 32 bytes or more",
	};
	const init = await runHere(["init"], { env });
	assert.equal(init.code, 0, init.err);
	for (const shard of [0, 1, 2, 3]) {
		await ask(
			full,
			`INSERT INTO db0000${shard}.pins (data, ts) WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 900) SELECT REPEAT('x', 5000), 0 FROM n`,
			`ANALYZE TABLE db0000${shard}.pins`,
		);
	}
	// All writes are in one shard.
	let isWriting = true;
	const writing = (async () => {
		while (isWriting) {
			await ask(full, "UPDATE db00000.pins SET ts = ts + 1 LIMIT 500");
		}
	})();
	const balance = async (...more: readonly string[]) => {
		const ran = await command(
			["shards", "balance", "--measure", "1s", "--json", ...more],
			{ env },
		);
		assert.equal(ran.code, 0, ran.err);
		return { ...JSON.parse(ran.out), err: ran.err };
	};
	const level = await balance();
	const emptied = await balance("--empty", full.address);
	isWriting = false;
	await writing;

	const { "shards balance": documented } = JSON.parse(
		readFileSync(join(ROOT, "docs/reference/commands.json"), "utf8"),
	);
	const { err, ...value } = level;
	assert.deepEqual(Object.keys(value), Object.keys(documented));
	assert.deepEqual(
		Object.keys(value.moves[0]),
		Object.keys(documented.moves[0]),
	);
	assert.equal(err, "");
	const busy = value.hosts.find(
		({ host }: { host: string }) => host === full.address,
	);
	assert.ok(busy.before.bytes > 4 * 900 * 5_000, JSON.stringify(busy));
	assert.ok(busy.before.writes > 100, JSON.stringify(busy));
	const [move] = value.moves;
	assert.deepEqual(
		[move.kind, move.from, move.to],
		["db", full.address, other.address],
	);
	assert.match(move.command, /^corkboard shards move [0-3](-[0-3])? --to /);
	assert.deepEqual(
		emptied.moves.map(({ command }: { command: string }) => command),
		[`corkboard shards move 0-3 --to ${other.address}`],
	);
	assert.equal(
		(await command(["shards", "balance", "--empty", "db009a"], { env })).code,
		1,
	);

	await using silent = await startMysql();
	writeFileSync(
		file,
		JSON.stringify({
			version: 2,
			shards: [{ range: [0, 3], primary: full.url, open: true }],
			lookups: [{ range: [0, 1], primary: silent.url }],
		}),
	);
	const bySize = await balance();
	assert.match(
		bySize.err,
		new RegExp(`only sizes count.* on ${silent.address}`),
	);
	assert.ok(bySize.moves.length > 0);
});
