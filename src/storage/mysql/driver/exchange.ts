import { STORAGE_CHANNELS } from "../../diagnostics.ts";
import type { Product, Result } from "./mysql2Connection.ts";
import type { MysqlConnection, Sql } from "./mysqlConnection.ts";
import type { QueryOptions } from "./queryOptions.ts";
import { reportStatements } from "./reportStatement.ts";
import { endingWith, startRoundTrip, withComment } from "./roundTripSpan.ts";

/** Statements, which may differ by product. */
export type Statements =
	| readonly Sql[]
	| ((product: Product) => readonly Sql[]);

export function statementsFor(
	{ product }: MysqlConnection,
	statements: Statements,
): readonly Sql[] {
	return typeof statements === "function" ? statements(product) : statements;
}

/**
 * Sends statements in one round trip, and reports them and what they committed.
 * Those of a sampled request have a span, and a comment that names it.
 */
export async function exchange(
	connection: MysqlConnection,
	given: Statements,
	options: QueryOptions,
	{
		executed,
		wrote,
	}: {
		/** Called for each write that the server has executed, even if a later one fails. */
		readonly executed?: () => void;
		/** Names of what is written, for `AcknowledgedCommit`. */
		readonly wrote?: (() => readonly string[]) | undefined;
	} = {},
): Promise<readonly Result[]> {
	const began = performance.now();
	const statements = statementsFor(connection, given);
	const { deadline, trace } = options;
	const { host } = connection;
	let results: readonly Result[];
	if (trace?.span) {
		const span = startRoundTrip(
			trace.span,
			host,
			connection,
			statements,
			options,
		);
		const sent = statements.map((sql) => withComment(sql, span));
		const answer = connection.together(sent, deadline, executed);
		results = await endingWith(span, answer);
	} else {
		results = await connection.together(statements, deadline, executed);
	}
	const { gtid } = connection;
	if (gtid !== null) {
		connection.gtid = null;
		if (STORAGE_CHANNELS.acknowledgedCommit.hasSubscribers) {
			STORAGE_CHANNELS.acknowledgedCommit.publish({
				host,
				gtid,
				wrote: wrote?.() ?? [],
			});
		}
	}
	reportStatements(host, connection, statements, results, options, began);
	return results;
}

/** Sends statements in as few round trips as their length allows. */
export async function exchangeAll(
	connection: MysqlConnection,
	statements: readonly Sql[],
	options: QueryOptions,
): Promise<readonly Result[]> {
	const results: Result[] = [];
	for (const some of byLength(statements)) {
		results.push(...(await exchange(connection, some, options)));
	}
	return results;
}

/** About how many characters are sent together: the server accepts packets of 16 MB. */
const TOGETHER_LENGTH = 1_000_000;

/** As many statements as fit into one round trip; a longer one goes alone. */
export function* byLength(
	statements: readonly Sql[],
): Generator<readonly Sql[]> {
	let some: Sql[] = [];
	let length = 0;
	for (const sql of statements) {
		const own = lengthOf(sql);
		if (some.length > 0 && length + own > TOGETHER_LENGTH) {
			yield some;
			some = [];
			length = 0;
		}
		some.push(sql);
		length += own;
	}
	if (some.length > 0) yield some;
}

function lengthOf({ text, values }: Sql): number {
	let length = text.length;
	for (const value of values) {
		if (typeof value === "string") length += value.length;
	}
	return length;
}
