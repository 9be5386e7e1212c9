import { createConnection, type RowDataPacket } from "mysql2/promise";
import { ask } from "../../test/services/ask.ts";
import { type Fleet, fleetOf } from "../databases.ts";
import type { World } from "../world.ts";

/** Tables with so many rows say how large a row is; smaller ones how large a page is. */
const LEAST_ROWS = 2_000;

/** What a row takes on disk, and an item in the shared caches: the inputs of `bench/capacity/inputs.ts`. */
export async function measureSizes(
	world: World,
): Promise<Readonly<Record<string, number>>> {
	const fleet = fleetOf(world.databases);
	return {
		...(await rowSizes(fleet)),
		...(await memcachedSizes(fleet)),
		...(await redisSizes(fleet)),
	};
}

async function rowSizes({ mysql }: Fleet): Promise<Record<string, number>> {
	const connection = await createConnection({ uri: mysql.url });
	try {
		const [tables] = await connection.query<RowDataPacket[]>(
			"SELECT table_name AS name, CAST(SUM(data_length + index_length) AS DOUBLE) AS bytes, CAST(SUM(table_rows) AS DOUBLE) AS count FROM information_schema.tables WHERE table_schema LIKE 'db%' OR table_schema LIKE 'mod%' GROUP BY table_name",
		);
		return Object.fromEntries(
			tables
				.filter(({ count }) => count >= LEAST_ROWS)
				.map(({ name, bytes, count }) => [
					`MySQL, bytes per row of ${name}`,
					Number(bytes) / Number(count),
				]),
		);
	} finally {
		connection.destroy();
	}
}

async function memcachedSizes({
	memcached: { host, port },
}: Fleet): Promise<Record<string, number>> {
	const text = await ask({ host, port }, "stats", /END\r\n$/);
	const stat = (name: string) =>
		Number(new RegExp(`STAT ${name} (\\d+)`).exec(text)?.[1] ?? 0);
	const items = stat("curr_items");
	return items === 0
		? {}
		: { "memcached, bytes per object": stat("bytes") / items };
}

async function redisSizes({
	redis: { host, port },
}: Fleet): Promise<Record<string, number>> {
	const text = await ask({ host, port }, "INFO", /\r\nloading:\d[\s\S]*\r\n$/);
	const used = Number(/\r\nused_memory_dataset:(\d+)/.exec(text)?.[1] ?? 0);
	const keys = Number(/\r\ndb0:keys=(\d+)/.exec(text)?.[1] ?? 0);
	return keys < LEAST_ROWS ? {} : { "Redis, bytes per head": used / keys };
}
