import type { StatementTrace } from "../../trace.ts";
import { storedError } from "../order.ts";
import type { FailedDelivery, OutboxKey, OutboxPosition } from "../rows.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";

const DELETE: Sql = {
	name: "delete outbox",
	text: "DELETE FROM outbox WHERE local_id IN (SELECT value FROM json_each(?))",
};

const TAKE: Sql = {
	name: "take outbox",
	text: `UPDATE outbox SET next_attempt_at = ?1 FROM json_each(?2) AS wanted
		WHERE local_id = wanted.value->>0 AND next_attempt_at = wanted.value->>1
		RETURNING local_id AS local`,
};

const POSTPONE: Sql = {
	name: "postpone outbox",
	text: `UPDATE outbox SET attempts = attempts + (failure.value->>5),
			next_attempt_at = failure.value->>2, last_error = failure.value->>3,
			entry = coalesce(failure.value->>4, entry)
		FROM json_each(?) AS failure
		WHERE local_id = failure.value->>0 AND next_attempt_at = failure.value->>1`,
};

export function deleteOutboxEntries(
	connection: SqliteConnection,
	keys: readonly OutboxKey[],
	trace?: StatementTrace,
): void {
	const locals = keys.map(({ local }) => local);
	connection.run(DELETE, [JSON.stringify(locals)], trace);
}

/** The keys of those that were taken, in their order. */
export function takeEntries(
	connection: SqliteConnection,
	entries: readonly OutboxPosition[],
	until: number,
	trace?: StatementTrace,
): readonly OutboxKey[] {
	const rows = entries.map(({ local, nextAttemptAt }) => [
		local,
		nextAttemptAt,
	]);
	const taken = new Set(
		connection
			.rows<{ local: number }>(TAKE, [until, JSON.stringify(rows)], trace)
			.map(({ local }) => local),
	);
	return entries
		.filter(({ local }) => taken.has(local))
		.map(({ shard, local }) => ({ shard, local }));
}

/** Failures of one shard. */
export function recordFailedDeliveries(
	connection: SqliteConnection,
	failures: readonly FailedDelivery[],
	trace?: StatementTrace,
): void {
	const rows = failures.map((failure) => [
		failure.local,
		failure.takenUntil,
		failure.nextAttemptAt,
		storedError(failure.error),
		failure.remaining === undefined ? null : JSON.stringify(failure.remaining),
		failure.isGivenBack ? 0 : 1,
	]);
	connection.run(POSTPONE, [JSON.stringify(rows)], trace);
}
