import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openMysqlPools } from "../../src/feed/pools/mysqlPools.ts";
import { openSqlitePools } from "../../src/feed/pools/sqlitePools.ts";
import { Sources } from "../../src/feed/sources.ts";
import { type Id, packId } from "../../src/id/ids.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { topologyOn } from "../helpers/storageModel.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { startMariadb } from "../services/mariadb.ts";
import { startMysql } from "../services/mysql.ts";
import { poolSuite } from "../suites/pools.ts";
import { feedOnFleet } from "./onFleet.ts";

const sources = new Sources(["user", "board", "interest"]);

// A disk that stalls for seconds fails no test.
const limits = { readMs: 60_000, writeMs: 60_000, connectMs: 60_000 };

const folder = temporaryFolder();
after(() => folder[Symbol.dispose]());
await poolSuite(
	"SQLite",
	async () =>
		openSqlitePools({
			pools: [{ range: [0, 1], primary: `sqlite:${folder.path}` }],
			sources,
		}),
	{ writers: 2 },
);

const servers = await Promise.all([startMysql(), startMariadb()]);
after(() => Promise.all(servers.map((server) => server.stop())));
for (const [at, name] of ["MySQL", "MariaDB"].entries()) {
	const primary = (servers[at] as (typeof servers)[number]).url;
	await poolSuite(
		name,
		async () =>
			openMysqlPools({
				pools: [{ range: [0, 1], primary }],
				sources,
				limits,
			}),
		{ writers: 8 },
	);
}

test("a shard that lost a table fails alone: pushes to the others of its host are written", async () => {
	const [server] = servers;
	await using pools = openMysqlPools({
		pools: [{ range: [0, 1], primary: server.url }],
		sources,
		limits,
	});
	const users = [0, 1].map((shard) =>
		packId({ shard, type: 3, local: 2 ** 30 + 1 }),
	);
	for (const user of users) await pools.noteVisit(user, { visitedAt: 2 });
	await ask(server, "DROP TABLE pool00001.visits");
	const push = (local: number) => {
		const pin = packId({ shard: 0, type: 1, local: 2 ** 30 + local });
		return pools.push(
			{ source: "user", item: pin, origin: pin, via: pin, now: 3 },
			users.map((user) => ({ user, score: 1 })),
			1,
		);
	};
	const pushed = await Promise.all([push(1), push(2)]);
	assert.deepEqual(
		pushed.map(({ rows, failed }) => [rows, failed.map(({ shard }) => shard)]),
		[
			[1, [1]],
			[1, [1]],
		],
	);
	await pools.createTables();
	await pools.noteVisit(users[1] as Id, { visitedAt: 2 });
	const { rows, failed } = await push(1);
	assert.deepEqual([rows, failed], [1, []]);
});

test("pools switch to a newer topology on the same connections", async () => {
	const server = servers[0];
	const topology = (version: number, replica: string) => ({
		...topologyOn(server.url),
		version,
		pools: [{ range: [0, 0] as const, primary: server.url, replica }],
	});
	await using pools = openMysqlPools({
		pools: topology(1, "mysql://a").pools,
		version: 1,
		limits,
	});
	await pools.missingTables();
	const connections = async () => {
		const [row] = await ask(server, "SHOW GLOBAL STATUS LIKE 'Connections'");
		return Number(row?.Value);
	};
	const before = await connections();
	pools.switchTopology(topology(2, "mysql://b"));
	await pools.missingTables();
	assert.equal(pools.oldestVersion, 2);
	// The second look is one itself.
	assert.equal((await connections()) - before, 1);
});

{
	const [mysql, mariadb] = servers;
	feedOnFleet(mysql, mariadb);
}
