import { storedError } from "../order.ts";
import { chunks } from "../statements/dialect.ts";
import type { FailedDelivery, OutboxKey, OutboxPosition } from "../storage.ts";
import { tableIn } from "./ddl.ts";
import type { Host } from "./driver/host.ts";
import type { Sql } from "./driver/mysqlConnection.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import type { Shard } from "./shards.ts";

/** Entries of one statement. */
const ENTRIES = 500;

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
