import { deadlineIn } from "../../../util/deadline.ts";
import { StorageFailure } from "../../storageFailure.ts";
import type { ServerIdentity } from "./currentServer.ts";
import type { Row } from "./mysql2Connection.ts";
import type { Sql } from "./mysqlConnection.ts";
import type { QueryOptions } from "./queryOptions.ts";

const LIMIT_MS = 5_000;

/** What a server lacks of a set of GTIDs, besides another; null: it has none. Throws if the host leads to another by now. */
export async function lackedGtids(
	host: {
		readonly name: string;
		rows(sql: Sql, options: QueryOptions): Promise<readonly Row[]>;
	},
	found: ServerIdentity,
	set: string,
	besides: string,
): Promise<string | null> {
	if (!found.hasGtids) return null;
	const [row] = await host.rows(
		{
			name: "gtid difference",
			text: `SELECT @@global.server_uuid, REPLACE(GTID_SUBTRACT(?,
				CONCAT_WS(',', @@global.gtid_executed, NULLIF(?, ''))), '\\n', '')`,
			values: [set, besides],
		},
		{ shard: 0, deadline: deadlineIn(LIMIT_MS) },
	);
	if (row?.[0] === found.id) return String(row[1] ?? "");
	throw new StorageFailure("connectionLost", "It is another server.", {
		host: host.name,
		statement: "gtid difference",
	});
}
