import { after } from "node:test";
import { openMysqlPools } from "../../src/feed/mysql/mysqlPools.ts";
import { openSqlitePools } from "../../src/feed/sqlite/sqlitePools.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { startMariadb } from "../services/mariadb.ts";
import { startMysql } from "../services/mysql.ts";
import { poolSuite } from "../suites/pools.ts";

// A disk that stands still for seconds fails no test.
const limits = { readMs: 60_000, writeMs: 60_000, connectMs: 60_000 };

const folder = temporaryFolder();
after(() => folder[Symbol.dispose]());
poolSuite(
	"SQLite",
	async () =>
		openSqlitePools({
			pools: [{ range: [0, 1], primary: `sqlite:${folder.path}` }],
		}),
	{ writers: 2 },
);

const servers = await Promise.all([startMysql(), startMariadb()]);
after(() => Promise.all(servers.map((server) => server.stop())));
for (const [at, name] of ["MySQL", "MariaDB"].entries()) {
	const primary = (servers[at] as (typeof servers)[number]).url;
	poolSuite(
		name,
		async () => openMysqlPools({ pools: [{ range: [0, 1], primary }], limits }),
		{ writers: 8 },
	);
}
