import type { Statement } from "../../../trace.ts";
import { STORAGE_CHANNELS } from "../../diagnostics.ts";
import { describeSql } from "../../sqlText.ts";
import { StorageFailure } from "../../storageFailure.ts";
import type { Result } from "./mysql2Connection.ts";
import type { MysqlConnection, Sql } from "./mysqlConnection.ts";
import type { QueryOptions } from "./queryOptions.ts";

export function reportStatements(
	host: string,
	connection: MysqlConnection,
	statements: readonly Sql[],
	results: readonly Result[],
	options: QueryOptions,
	began: number,
): void {
	if (options.trace === undefined && !STORAGE_CHANNELS.statement.hasSubscribers)
		return;
	for (const [at, sql] of statements.entries()) {
		const result = results[at] as Result;
		reportStatement(
			host,
			connection,
			sql,
			options,
			began,
			() => rowsOf(result),
			at > 0,
		);
	}
}

export function reportStatement(
	host: string,
	connection: MysqlConnection,
	{ name, shard, text, values }: Sql,
	{ shard: shardOfAll, trace, onModShard, requests }: QueryOptions,
	began: number,
	count: () => number,
	isJoined = false,
): void {
	if (trace === undefined && !STORAGE_CHANNELS.statement.hasSubscribers) return;
	const { waitedMs } = connection;
	connection.waitedMs = 0;
	const statement: Statement = {
		name,
		host,
		shard: shard ?? shardOfAll,
		rows: count(),
		ms: isJoined ? 0 : performance.now() - began,
		...(isJoined && { joined: true }),
		...(onModShard && { onModShard }),
		...(waitedMs > 0 && { waitedMs }),
		...(requests !== undefined && requests > 1 && { requests }),
		...(trace && !trace.isBrief && { sql: describeSql(text, values) }),
	};
	trace?.statement(statement);
	if (STORAGE_CHANNELS.statement.hasSubscribers)
		STORAGE_CHANNELS.statement.publish(statement);
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

function rowsOf(result: Result): number {
	return "affectedRows" in result ? result.affectedRows : result.length;
}
