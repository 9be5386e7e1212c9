import type { JsonObject } from "../../util/json.ts";
import type { PendingQuery } from "../driver.ts";
import { entryName } from "../keys.ts";
import { storedError } from "../outboxOrder.ts";
import type {
	FailedDelivery,
	OutboxKey,
	OutboxPosition,
	OutboxSize,
	OutboxSizeQuery,
	PendingEntry,
	StoredEntry,
	UntakenQuery,
} from "../storage.ts";
import { parseJsonObject } from "../storedObject.ts";
import { tableIn } from "./ddl.ts";
import type { Host } from "./driver/host.ts";
import type { Row } from "./driver/mysql2Connection.ts";
import type { Sql } from "./driver/mysqlConnection.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import { chunks, type KeyOnShard, type Shard } from "./shards.ts";
import { unionAll, valuesOf } from "./sqlFragment.ts";
import type { StatementBatch } from "./statementBatch.ts";

/** Entries of one statement. */
const ENTRIES = 500;

const COLUMNS =
	"local_id, entry, ts, attempts, next_attempt_at, last_error" as const;

/** `inserted` gets the rows' local ids, in the order of the entries. */
export function insertOutboxEntries(
	batch: StatementBatch,
	{ database }: Shard,
	entries: readonly JsonObject[],
	now: number,
	inserted: (locals: readonly number[]) => void,
): void {
	if (entries.length === 0) return;
	const { text, values } = valuesOf(
		entries.map((entry) => [JSON.stringify(entry), now]),
	);
	batch.run(
		{
			name: "insert outbox",
			text: `INSERT INTO ${tableIn(database, "outbox")} (entry, ts) VALUES ${text}`,
			values,
		},
		({ insertId }) => inserted(entries.map((_, at) => Number(insertId) + at)),
	);
}

/** Entries that are due, of some shards of one host: up to `limit` of each. */
export async function pendingEntries(
	host: Host,
	shards: readonly Shard[],
	query: PendingQuery,
	options: QueryOptions,
): Promise<readonly PendingEntry[]> {
	const { now, writtenBy, limit, after } = query;
	const rows = await host.rows(
		unionAll(
			"pending entries",
			shards.map(({ number, database }) => {
				const { nextAttemptAt, local } = after.get(number) ?? START;
				return {
					text: `SELECT ${number} AS shard, ${COLUMNS}
						FROM ${tableIn(database, "outbox")} FORCE INDEX (due)
						WHERE next_attempt_at <= ? AND next_attempt_at >= ?
							AND (next_attempt_at > ? OR local_id > ?) AND ts <= ?
						ORDER BY next_attempt_at, local_id LIMIT ${limit}`,
					values: [now, nextAttemptAt, nextAttemptAt, local, writtenBy],
				};
			}),
		),
		options,
	);
	return rows.map(([shard, ...row]) => outboxRow(Number(shard), row));
}

/** Entries that no process has taken, of some shards of one host, in the order of the shards: up to `limit` of each. The index alone answers. */
export async function untakenEntries(
	host: Host,
	keys: readonly KeyOnShard<UntakenQuery>[],
	options: QueryOptions,
): Promise<readonly (readonly number[])[]> {
	const rows = await host.rows(
		unionAll(
			"untaken outbox entries",
			keys.map(({ shard: { number, database }, key: { after, limit } }) => ({
				text: `SELECT ${number} AS shard, local_id
					FROM ${tableIn(database, "outbox")} FORCE INDEX (due)
					WHERE next_attempt_at = 0 AND local_id > ?
					ORDER BY local_id LIMIT ${limit}`,
				values: [after],
			})),
		),
		options,
	);
	const byShard = Map.groupBy(rows, ([shard]) => Number(shard));
	return keys.map(({ shard: { number } }) =>
		(byShard.get(number) ?? []).map(([, local]) => Number(local)),
	);
}

/** How much is in the outboxes of some shards of one host, in their order. Old entries have small ids. */
export async function outboxSizes(
	host: Host,
	keys: readonly KeyOnShard<OutboxSizeQuery>[],
	options: QueryOptions,
): Promise<readonly OutboxSize[]> {
	const rows = await host.rows(
		unionAll(
			"outbox sizes",
			keys.map(({ shard: { number, database }, key: { limit } }) => ({
				text: `SELECT ${number} AS shard, COUNT(*), MIN(ts)
					FROM (SELECT ts FROM ${tableIn(database, "outbox")}
						ORDER BY local_id LIMIT ${limit}) AS entries`,
				values: [],
			})),
		),
		options,
	);
	const byShard = new Map(
		rows.map(([shard, ...size]) => [Number(shard), size]),
	);
	return keys.map(({ shard: { number } }) => {
		const [entries, oldestAt] = byShard.get(number) ?? [];
		return {
			entries: Number(entries),
			oldestAt: oldestAt === null ? null : Number(oldestAt),
		};
	});
}

/** Entries of one host, in the order of the keys; null for one that is gone. */
export async function readEntries(
	host: Host,
	keys: readonly KeyOnShard<OutboxKey>[],
	options: QueryOptions,
): Promise<readonly (StoredEntry | null)[]> {
	const byShard = Map.groupBy(keys, ({ shard }) => shard);
	const rows = await host.rows(
		unionAll(
			"outbox entries",
			[...byShard].map(([{ number, database }, some]) => ({
				text: `SELECT ${number} AS shard, local_id, entry
					FROM ${tableIn(database, "outbox")} WHERE local_id IN (?)`,
				values: [some.map(({ key: { local } }) => local)],
			})),
		),
		options,
	);
	const entries = new Map<string, StoredEntry>();
	for (const [shard, local, entry] of rows) {
		const key = { shard: Number(shard), local: Number(local) };
		const parsed = parseJsonObject(entry as string);
		entries.set(entryName(key), { ...key, entry: parsed });
	}
	return keys.map(({ key }) => entries.get(entryName(key)) ?? null);
}

const START = { nextAttemptAt: 0, local: 0 } as const;

/** Of some shards of one host, in one round trip. */
export async function deleteOutboxEntries(
	host: Host,
	shards: ReadonlyMap<Shard, readonly number[]>,
	options: QueryOptions,
): Promise<void> {
	const statements = [...shards].flatMap(([{ number, database }, locals]) =>
		chunks(locals, ENTRIES).map(
			(some): Sql => ({
				name: "delete outbox",
				text: `DELETE FROM ${tableIn(database, "outbox")} WHERE local_id IN (?)`,
				values: [some],
				shard: number,
			}),
		),
	);
	const [only] = statements;
	if (statements.length === 1 && only !== undefined) {
		await host.run(only, options);
	} else await host.runTogether(statements, options);
}

/**
 * Take entries of one shard. One statement, as a rule; a second one reads which
 * of them it took where others were faster. `until` is therefore a value that no
 * other process uses. By primary key, so that all processes lock rows in one order.
 */
export async function takeEntries(
	{ number: shard, host, database }: Shard,
	entries: readonly OutboxPosition[],
	until: number,
	options: QueryOptions,
): Promise<readonly OutboxKey[]> {
	const taken: OutboxKey[] = [];
	for (const some of chunks(entries, ENTRIES)) {
		const locals = some.map(({ local }) => local);
		const { affectedRows } = await host.run(
			{
				name: "take outbox",
				text: `UPDATE ${tableIn(database, "outbox")} FORCE INDEX (PRIMARY)
					SET next_attempt_at = ?
					WHERE local_id IN (?) AND next_attempt_at = ${caseOf(some.length)}`,
				values: [
					until,
					locals,
					...some.flatMap(({ local, nextAttemptAt }) => [local, nextAttemptAt]),
				],
			},
			options,
		);
		if (affectedRows === 0) continue;
		if (affectedRows === some.length) {
			taken.push(...locals.map((local) => ({ shard, local })));
			continue;
		}
		const rows = await host.rows(
			{
				name: "taken outbox",
				text: `SELECT local_id FROM ${tableIn(database, "outbox")}
					WHERE local_id IN (?) AND next_attempt_at = ?`,
				values: [locals, until],
			},
			options,
		);
		taken.push(...rows.map(([local]) => ({ shard, local: Number(local) })));
	}
	return taken;
}

/** A value for each row: `CASE local_id WHEN ? THEN ? … END`. */
function caseOf(rows: number, otherwise = "NULL"): string {
	return `CASE local_id ${"WHEN ? THEN ? ".repeat(rows)}ELSE ${otherwise} END`;
}

/** Failures of one shard. */
export async function recordFailedDeliveries(
	{ host, database }: Shard,
	failures: readonly FailedDelivery[],
	options: QueryOptions,
): Promise<void> {
	for (const some of chunks(failures, ENTRIES)) {
		const reduced = some.flatMap(({ local, remaining }) =>
			remaining === undefined ? [] : [[local, JSON.stringify(remaining)]],
		);
		const attempted = some.filter(({ isGivenBack }) => !isGivenBack);
		const attempts =
			attempted.length === 0 ? "" : "attempts = attempts + (local_id IN (?)),";
		const entry =
			reduced.length === 0 ? "" : `entry = ${caseOf(reduced.length, "entry")},`;
		await host.run(
			{
				name: "postpone outbox",
				text: `UPDATE ${tableIn(database, "outbox")}
					SET ${attempts} ${entry}
						last_error = ${caseOf(some.length)},
						next_attempt_at = ${caseOf(some.length)}
					WHERE local_id IN (?) AND next_attempt_at = ${caseOf(some.length)}`,
				values: [
					...(attempted.length === 0
						? []
						: [attempted.map(({ local }) => local)]),
					...reduced.flat(),
					...some.flatMap(({ local, error }) => [local, storedError(error)]),
					...some.flatMap(({ local, nextAttemptAt }) => [local, nextAttemptAt]),
					some.map(({ local }) => local),
					...some.flatMap(({ local, takenUntil }) => [local, takenUntil]),
				],
			},
			options,
		);
	}
}

/** The next entries after a local id, due or not. */
export async function walkOutbox(
	{ number, host, database }: Shard,
	after: number,
	limit: number,
	options: QueryOptions,
): Promise<readonly PendingEntry[]> {
	const rows = await host.rows(
		{
			name: "walk outbox",
			text: `SELECT ${COLUMNS} FROM ${tableIn(database, "outbox")}
				WHERE local_id > ? ORDER BY local_id LIMIT ${limit}`,
			values: [after],
		},
		options,
	);
	return rows.map((row) => outboxRow(number, row));
}

function outboxRow(
	shard: number,
	[local, entry, ts, attempts, nextAttemptAt, lastError]: Row,
): PendingEntry {
	return {
		shard,
		local: Number(local),
		entry: parseJsonObject(entry as string),
		writtenAt: Number(ts),
		attempts: Number(attempts),
		nextAttemptAt: Number(nextAttemptAt),
		lastError: lastError as string | null,
	};
}
