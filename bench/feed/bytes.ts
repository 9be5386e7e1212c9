import pinsApp from "../../pins/app.ts";
import { readApp } from "../../src/app/readApp.ts";
import { openMysqlPools } from "../../src/feed/pools/mysqlPools.ts";
import type { PoolEntry } from "../../src/feed/pools/pools.ts";
import { type Id, packId } from "../../src/id/ids.ts";
import { openMysqlStorage } from "../../src/storage/mysql/mysqlStorage.ts";
import { ask } from "../../test/helpers/mysqlStorage.ts";
import { startMysql } from "../../test/services/mysql.ts";
import type { Progress } from "../progress.ts";
import { MYSQL_OPTIONS } from "./fleet.ts";
import type { Options } from "./options.ts";
import type { Measurement } from "./results.ts";

const WAITING = 500;
const SHOWN = 1_000;
/** Followers of each pin. */
const RECEIVERS = 8;
const CHUNK = 50;

/** Fills pools and feeds as they are filled in life, pin by pin, look by look. */
export async function measureBytes(
	{ sized }: Options,
	progress: Progress,
): Promise<readonly Measurement[]> {
	await using server = await startMysql({ args: MYSQL_OPTIONS });
	const range = { range: [0, 0] as const, primary: server.url };
	await using pools = openMysqlPools({
		pools: [range],
		limits: { writeMs: 60_000 },
	});
	await pools.createTables();
	{
		await using storage = await openMysqlStorage({
			model: readApp(pinsApp).model,
			topology: {
				version: 1,
				shards: [{ ...range, open: true }],
				lookups: [range],
			},
		});
		await storage.admin.createTables();
	}
	const users = Array.from({ length: sized }, (_, at) =>
		packId({ shard: 0, type: 3, local: at + 1 }),
	);
	for (const user of users) {
		await pools.noteVisit(user, { visitedAt: Date.now() });
	}
	const before = await bytesOf(server);
	let pins = 0;
	const pushAll = async (perUser: number) => {
		const wanted = Math.ceil((perUser * users.length) / RECEIVERS);
		const push = async () => {
			pins += 1;
			const pin = packId({ shard: 0, type: 1, local: pins });
			const first = (pins * RECEIVERS) % users.length;
			const receivers = Array.from({ length: RECEIVERS }, (_, at) => ({
				user: users[(first + at) % users.length] as Id,
				score: 2 ** 40 + pins,
			}));
			const now = Date.now();
			const via = users[first] as Id;
			const { failed } = await pools.push(
				{ source: "user", item: pin, origin: pin, via, now },
				receivers,
				1,
			);
			for (const { error } of failed) throw error;
		};
		const last = pins + wanted;
		while (pins < last) {
			await Promise.all(
				Array.from({ length: Math.min(50, last - pins) }, push),
			);
		}
	};
	let sequence = 0;
	for (let shown = 0; shown < SHOWN; shown += CHUNK) {
		await pushAll(CHUNK);
		for (const user of users) {
			const taken: readonly PoolEntry[] = await pools.best(user, {
				user: CHUNK,
			});
			await pools.settle(user, { taken, dropped: [] }, Date.now());
			const rows = taken.map(
				({ item }) => `(${user}, ${item}, ${++sequence}, 0, ${Date.now()}000)`,
			);
			await ask(
				server,
				`INSERT INTO db00000.user_home_feed (from_id, to_id, sequence, state, version) VALUES ${rows.join(", ")}`,
			);
		}
	}
	await pushAll(WAITING);
	const after = await bytesOf(server);
	const values = {
		"KB of the pool": (after.pool - before.pool) / sized / 1_024,
		"KB of the list": (after.list - before.list) / sized / 1_024,
		"KB in all":
			(after.pool + after.list - before.pool - before.list) / sized / 1_024,
	};
	progress.say(`bytes: ${values["KB in all"].toFixed(0)} KB a user`);
	return [{ part: "bytes", name: `${sized} users`, values }];
}

/** The sizes of the tables' files. */
async function bytesOf(
	server: Parameters<typeof ask>[0],
): Promise<{ readonly pool: number; readonly list: number }> {
	const rows = await ask(
		server,
		"SELECT name, file_size FROM information_schema.innodb_tablespaces WHERE name IN ('pool00000/pool', 'db00000/user_home_feed')",
	);
	const of = (name: string) =>
		Number(
			rows.find((row) => (row.name ?? row.NAME) === name)?.file_size ??
				rows.find((row) => (row.name ?? row.NAME) === name)?.FILE_SIZE ??
				0,
		);
	return { pool: of("pool00000/pool"), list: of("db00000/user_home_feed") };
}
