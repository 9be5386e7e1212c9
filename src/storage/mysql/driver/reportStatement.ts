import type { Statement } from "../../../trace.ts";
import { STORAGE_CHANNELS } from "../../diagnostics.ts";
import { describeSql } from "../../sqlText.ts";
import { StorageFailure } from "../../storageFailure.ts";
import type { Result } from "./mysql2Connection.ts";
import type { MysqlConnection, Sql } from "./mysqlConnection.ts";
import type { QueryOptions } from "./queryOptions.ts";

/** Statements of one round trip, which began then. */
export function reportStatements(
	host: string,
	connection: MysqlConnection,
	statements: readonly Sql[],
	results: readonly Result[],
	{ shard, trace, onModShard, requests, countRows }: QueryOptions,
	began: number,
): void {
	const { waitedMs } = connection;
	if (trace === undefined && !STORAGE_CHANNELS.statement.hasSubscribers) return;
	connection.waitedMs = 0;
	const ms = performance.now() - began;
	for (const [at, { name, shard: own, text, values }] of statements.entries()) {
		const result = results[at] as Result;
		const isFirst = at === 0;
		const statement: Statement = {
			name,
			host,
			shard: own ?? shard,
			rows:
				"affectedRows" in result
					? result.affectedRows
					: (countRows?.(result) ?? result.length),
			ms: isFirst ? ms : 0,
			...(!isFirst && { joined: true }),
			...(onModShard && { onModShard }),
			...(isFirst && waitedMs > 0 && { waitedMs }),
			...(requests !== undefined && requests > 1 && { requests }),
			...(trace && !trace.isBrief && { sql: describeSql(text, values) }),
		};
		trace?.statement(statement);
		if (STORAGE_CHANNELS.statement.hasSubscribers)
			STORAGE_CHANNELS.statement.publish(statement);
	}
}

export function reportFailure(thrown: unknown): void {
	if (!(thrown instanceof StorageFailure)) return;
	if (!STORAGE_CHANNELS.databaseFailure.hasSubscribers) return;
	const { host, kind } = thrown;
	STORAGE_CHANNELS.databaseFailure.publish({
		host,
		kind,
	});
}
