import type { StatementTrace } from "../../diagnostics.ts";
import type { JsonObject } from "../../util/json.ts";
import { storedError } from "../outboxOrder.ts";
import type {
	FailedDelivery,
	OutboxKey,
	OutboxPosition,
	OutboxSize,
	PendingEntry,
	StoredEntry,
} from "../storage.ts";
import { parseJsonObject } from "../storedObject.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";

/** Numbers as REAL, so that a damaged one beyond 2^53 fails no other entry. */
const COLUMNS = `local_id AS local, entry, CAST(ts AS REAL) AS writtenAt,
	CAST(attempts AS REAL) AS attempts,
	CAST(next_attempt_at AS REAL) AS nextAttemptAt, last_error AS lastError`;

const INSERT: Sql = {
	name: "insert outbox",
	text: "INSERT INTO outbox (entry, ts) VALUES (?, ?)",
};

/** Ties are in the order of the commits, which is that of local ids: the clock may have stepped back between them. */
const PENDING: Sql = {
	name: "pending entries",
	text: `SELECT ${COLUMNS} FROM outbox INDEXED BY outbox_due
		WHERE next_attempt_at <= ?1 AND next_attempt_at >= ?2
			AND (next_attempt_at > ?2 OR local_id > ?3) AND ts <= ?4
		ORDER BY next_attempt_at, local_id LIMIT ?5`,
};

const UNTAKEN: Sql = {
	name: "untaken outbox entries",
	text: `SELECT local_id AS local FROM outbox INDEXED BY outbox_due
		WHERE next_attempt_at = 0 AND local_id > ? ORDER BY local_id LIMIT ?`,
};

const SIZE: Sql = {
	name: "outbox sizes",
	text: `SELECT COUNT(*) AS entries, CAST(MIN(ts) AS REAL) AS oldestAt
		FROM (SELECT ts FROM outbox ORDER BY local_id LIMIT ?)`,
};

const ENTRY: Sql = {
	name: "outbox entry",
	text: "SELECT entry FROM outbox WHERE local_id = ?",
};

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

const WALK: Sql = {
	name: "walk outbox",
	text: `SELECT ${COLUMNS} FROM outbox
		WHERE local_id > ? ORDER BY local_id LIMIT ?`,
};

/** Returns the row's local id. */
export function insertOutboxEntry(
	connection: SqliteConnection,
	entry: JsonObject,
	now: number,
): number {
	return connection.run(INSERT, [JSON.stringify(entry), now]).insertedAs;
}

/** Entries that no process has taken, of one shard. */
export function untakenEntries(
	connection: SqliteConnection,
	after: number,
	limit: number,
): readonly number[] {
	return connection
		.rows<{ local: number }>(UNTAKEN, [after, limit])
		.map(({ local }) => local);
}

/** How much is in the outbox of one shard. */
export function outboxSize(
	connection: SqliteConnection,
	limit: number,
): OutboxSize {
	const [size] = connection.rows<OutboxSize>(SIZE, [limit]);
	const { entries, oldestAt } = size as OutboxSize;
	return { entries, oldestAt };
}

export function readEntry(
	connection: SqliteConnection,
	key: OutboxKey,
): StoredEntry | null {
	const [row] = connection.rows<{ entry: string }>(ENTRY, [key.local]);
	return row === undefined
		? null
		: { ...key, entry: parseJsonObject(row.entry) };
}

/** Entries that are due, of one shard. */
export function pendingEntries(
	connection: SqliteConnection,
	shard: number,
	query: {
		/** Microseconds since 1970. */
		readonly now: number;
		readonly writtenBy: number;
		readonly limit: number;
		readonly after: OutboxPosition | undefined;
	},
): readonly PendingEntry[] {
	const { now, writtenBy, limit, after } = query;
	return connection
		.rows<EntryRow>(PENDING, [
			now,
			after?.nextAttemptAt ?? 0,
			after?.local ?? 0,
			writtenBy,
			limit,
		])
		.map((row) => outboxRow(shard, row));
}

export function deleteOutboxEntries(
	connection: SqliteConnection,
	locals: readonly number[],
	trace?: StatementTrace,
): void {
	connection.run(DELETE, [JSON.stringify(locals)], trace);
}

/** Take entries of one shard: the key of each that was taken, in their order. */
export function takeEntries(
	connection: SqliteConnection,
	entries: readonly OutboxPosition[],
	until: number,
	trace?: StatementTrace,
): readonly (OutboxKey | null)[] {
	const rows = entries.map(({ local, nextAttemptAt }) => [
		local,
		nextAttemptAt,
	]);
	const taken = new Set(
		connection
			.rows<{ local: number }>(TAKE, [until, JSON.stringify(rows)], trace)
			.map(({ local }) => local),
	);
	return entries.map(({ shard, local }) =>
		taken.has(local) ? { shard, local } : null,
	);
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

/** The next entries after a local id, due or not. */
export function walkOutbox(
	connection: SqliteConnection,
	shard: number,
	after: number,
	limit: number,
): readonly PendingEntry[] {
	return connection
		.rows<EntryRow>(WALK, [after, limit])
		.map((row) => outboxRow(shard, row));
}

interface EntryRow extends Omit<PendingEntry, "shard" | "entry"> {
	readonly entry: string;
}

function outboxRow(shard: number, row: EntryRow): PendingEntry {
	const { local, entry, writtenAt, attempts, nextAttemptAt, lastError } = row;
	return {
		shard,
		local,
		entry: parseJsonObject(entry),
		writtenAt,
		attempts,
		nextAttemptAt,
		lastError,
	};
}
