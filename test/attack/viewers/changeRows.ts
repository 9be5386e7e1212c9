import { ask } from "../../helpers/mysqlStorage.ts";
import type { Server } from "../../services/server.ts";

/** Changes rows past the program: no cache notices, so a comparison has to. */
export async function changeRows(
	servers: readonly Server[],
	count: number,
): Promise<void> {
	for (const server of servers) {
		const tables = await ask(
			server,
			`SELECT table_schema AS db, table_name AS name FROM information_schema.tables
				WHERE table_name IN ('pins', 'user_likes_pins')`,
		);
		for (const { db, name } of tables) {
			await ask(
				server,
				name === "pins"
					? `UPDATE ${db}.pins SET data = JSON_SET(data, '$.details', 'changed') ORDER BY local_id LIMIT ${count}`
					: `DELETE FROM ${db}.${name} ORDER BY from_id LIMIT ${count}`,
			);
		}
	}
}
