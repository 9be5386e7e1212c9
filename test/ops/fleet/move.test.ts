import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { MoveOptions } from "../../../src/fleet/move/moveRun.ts";
import { completeMove, reverseMove } from "../../../src/fleet/move/redirect.ts";
import { findAskedMove, startMove } from "../../../src/fleet/move/startMove.ts";
import { openMysqlStorage } from "../../../src/storage/mysql/mysqlStorage.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { readCurrent } from "../../../src/topology/history.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { MODEL, topologyOn } from "../../helpers/storageModel.ts";
import { good } from "../../helpers/storing.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { startMysqlPair } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";
import { member } from "./member.ts";

/** Every database, table, account and event of a server, by name. */
async function contentsOf(server: Server): Promise<readonly string[]> {
	const rows = await ask(
		server,
		`SELECT CONCAT_WS(' ', 'database', schema_name, options) AS what
			FROM information_schema.schemata_extensions
		UNION ALL SELECT CONCAT_WS('.', 'table', table_schema, table_name)
			FROM information_schema.tables WHERE table_schema NOT IN ('sys', 'mysql', 'information_schema', 'performance_schema')
		UNION ALL SELECT CONCAT_WS(' ', 'account', user, host) FROM mysql.user
		UNION ALL SELECT CONCAT_WS(' ', 'event', event_name) FROM information_schema.events
		ORDER BY 1`,
	);
	return rows.map(({ what }) => String(what));
}

test("shards move to a new pair under load, come back with what was written there, and leave nothing behind", async () => {
	await using source = await startMysqlPair();
	await using target = await startMysqlPair();
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const { shards, lookups } = topologyOn(source.primary.url);
	const both = <Range>(range: Range) => ({
		...range,
		replica: source.replica.url,
	});
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: shards.map(both),
			lookups: lookups.map(both),
		}),
	);
	{
		await using storage = await openMysqlStorage({
			model: MODEL,
			topology: topologyOn(source.primary.url),
		});
		await storage.admin.createTables();
	}
	const before = {
		source: await contentsOf(source.primary),
		target: await contentsOf(target.primary),
	};
	await using store = openFileStore(file);
	await using first = await member(file);
	await using second = await member(file);
	const options: MoveOptions = {
		store,
		environment: {},
		agreeMs: 60_000,
		watchMs: 0,
		lookMs: 50,
		againMs: 50,
	};
	const count = () => first.acknowledged.length + second.acknowledged.length;
	const someMore = async () => {
		const before = count();
		await until("more writes", () => count() > before + 30);
	};
	const patient = { maxPauseMs: 60_000, maxLagMs: 60_000 };
	await someMore();
	const asked = {
		list: "shards",
		range: [0, 1],
		to: target.primary.url,
		replica: target.replica.url,
		wave: 1,
	} as const;
	const found = await findAskedMove(options, asked);
	const moved = await startMove(options, found, [], patient);
	assert.equal(moved.step, "way open");
	assert.deepEqual(
		moved.waves.map(({ state, at, flips }) => [state, at, flips]),
		[
			["parked", "to", 1],
			["parked", "to", 1],
		],
	);
	const map = (await readCurrent(store))?.topology;
	assert.deepEqual(
		map?.shards.map(({ range, primary, generation }) => [
			range,
			primary,
			generation,
		]),
		[
			[[0, 1], target.primary.url, 1],
			[[2, 3], source.primary.url, undefined],
		],
	);
	await someMore();

	// Back, with what was written since; and there again, and to the end.
	const back = await reverseMove(options, moved.operation, { keepsWay: true });
	assert.equal(back.step, "way open");
	await someMore();
	const again = await reverseMove(options, moved.operation, { keepsWay: true });
	assert.equal(again.step, "way open");
	await someMore();
	const done = await completeMove(options, moved.operation, {
		skipsRehearsal: false,
	});
	assert.equal(done.step, "done");
	await someMore();
	const left = await contentsOf(source.primary);
	assert.deepEqual(
		left,
		before.source.filter((what) => !/db0000[01]/.test(what)),
	);
	// Back by another move, so that both are as they were.
	const home = await startMove(
		options,
		await findAskedMove(options, {
			...{ list: "shards", range: [0, 1], wave: 16 },
			to: source.primary.address,
		}),
		[],
		patient,
	);
	await completeMove(options, home.operation, { skipsRehearsal: false });
	assert.deepEqual(await contentsOf(source.primary), before.source);
	assert.deepEqual(await contentsOf(target.primary), before.target);

	for (const each of [first, second]) {
		await each.end();
		assert.deepEqual(each.failures, []);
		const texts = await each.storage.read("objects", each.acknowledged);
		assert.equal(texts.filter((text) => good(text) === null).length, 0);
	}
	const ids = [first, second].flatMap(({ acknowledged }) => acknowledged);
	assert.equal(new Set(ids).size, ids.length);
});
