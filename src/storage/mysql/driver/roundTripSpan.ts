import type { Span } from "../../../trace.ts";
import { StorageFailure } from "../../storageFailure.ts";
import type { Result } from "./mysql2Connection.ts";
import type { MysqlConnection, Sql } from "./mysqlConnection.ts";

/** The span of statements that are sent in one round trip, in the names of OpenTelemetry's conventions for databases. */
export function startRoundTrip(
	parent: Span,
	host: string,
	connection: MysqlConnection,
	statements: readonly Sql[],
	{
		shard,
		onModShard = false,
		requests = 1,
	}: {
		readonly shard: number;
		readonly onModShard?: boolean | undefined;
		readonly requests?: number | undefined;
	},
): Span {
	const names = new Set(statements.map(({ name }) => name));
	const summary = [...names].slice(0, MAX_NAMES).join("; ");
	return parent.start(summary, "client", {
		...addressOf(host),
		"db.system.name": connection.product === "MySQL" ? "mysql" : "mariadb",
		"db.query.summary": summary,
		"db.operation.batch.size":
			statements.length > 1 ? statements.length : undefined,
		[onModShard ? "corkboard.mod_shard" : "corkboard.shard"]: shard,
		"corkboard.wait_ms": connection.waitedMs || undefined,
		"corkboard.merged.requests": requests > 1 ? requests : undefined,
	});
}

/** Most names of one span. A transaction has a handful. */
const MAX_NAMES = 8;

/** The statement as it is sent. The comment is behind it: what the server counts by the beginning of the text stays together. */
export function withComment(sql: Sql, span: Span): Sql {
	return sql.name === "commit" || sql.name === "rollback"
		? sql
		: { ...sql, text: `${sql.text} ${span.sqlComment}` };
}

/** Ends the span with the answer, or with why there is none. */
export async function endingWith(
	span: Span,
	answer: Promise<readonly Result[]>,
): Promise<readonly Result[]> {
	try {
		const results = await answer;
		const returned = results.filter((result) => Array.isArray(result));
		span.end(null, {
			"db.response.returned_rows":
				returned.length > 0
					? returned.reduce((sum, { length }) => sum + length, 0)
					: undefined,
		});
		return results;
	} catch (thrown) {
		span.end(failureOf(thrown));
		throw thrown;
	}
}

/** No connection could be had. */
export function recordNoConnection(
	parent: Span,
	host: string,
	askedAt: number,
	thrown: unknown,
): void {
	parent
		.start("connect", "client", addressOf(host), askedAt)
		.end(failureOf(thrown));
}

/** The kind of a failure; `aborted` if the request ended. */
export function failureOf(thrown: unknown): string {
	return thrown instanceof StorageFailure ? thrown.kind : "aborted";
}

function addressOf(host: string) {
	const colon = host.lastIndexOf(":");
	return {
		"server.address": host.slice(0, colon),
		"server.port": Number(host.slice(colon + 1)),
	};
}
