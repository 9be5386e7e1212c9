import { storedError } from "../order.ts";
import type { FailedDelivery, OutboxKey, OutboxPosition } from "../rows.ts";
import { chunks } from "../statements/dialect.ts";
import { OUTBOX, spelledList } from "./dialect.ts";
import type { Host } from "./driver/host.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";

/** Entries of one statement. */
const ENTRIES = 500;

/** A local id by itself may be that of another shard, where a key is of another host. */
function isOneOf(keys: readonly OutboxKey[]): string {
	const locals = spelledList(keys.map(({ local }) => local));
	const rows = keys.map(
		({ local, shard }) => `(${spelledList([local, shard])})`,
	);
	return `local_id IN (${locals}) AND (local_id, shard) IN (${rows.join(", ")})`;
}

/** Of any shards of a host, in one round trip. */
export async function deleteOutboxEntries(
	host: Host,
	keys: readonly OutboxKey[],
	options: QueryOptions,
): Promise<void> {
	const statements = chunks(keys, ENTRIES).map((some) => ({
		name: "delete outbox",
		text: `DELETE FROM ${OUTBOX} WHERE ${isOneOf(some)}`,
		values: [],
	}));
	const [only] = statements;
	if (statements.length === 1 && only !== undefined) {
		await host.run(only, options);
	} else await host.runTogether(statements, options);
}

/**
 * Take entries. One statement, as a rule; a second one reads which
 * of them it took where others were faster. `until` is therefore a value that no
 * other process uses. By primary key, so that all processes lock rows in one order.
 */
export async function takeEntries(
	host: Host,
	entries: readonly OutboxPosition[],
	until: number,
	options: QueryOptions,
): Promise<readonly OutboxKey[]> {
	const taken: OutboxKey[] = [];
	for (const some of chunks(entries, ENTRIES)) {
		const keys = some.map(({ shard, local }) => ({ shard, local }));
		const { affectedRows } = await host.run(
			{
				name: "take outbox",
				text: `UPDATE ${OUTBOX} FORCE INDEX (PRIMARY)
					SET next_attempt_at = ?
					WHERE ${isOneOf(keys)} AND next_attempt_at = ${caseOf(some.length)}`,
				values: [
					until,
					...some.flatMap(({ local, nextAttemptAt }) => [local, nextAttemptAt]),
				],
			},
			options,
		);
		if (affectedRows === 0) continue;
		if (affectedRows === some.length) {
			taken.push(...keys);
			continue;
		}
		const rows = await host.rows(
			{
				name: "taken outbox",
				text: `SELECT shard, local_id FROM ${OUTBOX}
					WHERE ${isOneOf(keys)} AND next_attempt_at = ?`,
				values: [until],
			},
			options,
		);
		taken.push(
			...rows.map(([shard, local]) => ({
				shard: Number(shard),
				local: Number(local),
			})),
		);
	}
	return taken;
}

/** A value for each row: `CASE local_id WHEN ? THEN ? … END`. */
function caseOf(rows: number, otherwise = "NULL"): string {
	return `CASE local_id ${"WHEN ? THEN ? ".repeat(rows)}ELSE ${otherwise} END`;
}

export async function recordFailedDeliveries(
	host: Host,
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
				text: `UPDATE ${OUTBOX}
					SET ${attempts} ${entry}
						last_error = ${caseOf(some.length)},
						next_attempt_at = ${caseOf(some.length)}
					WHERE ${isOneOf(some)} AND next_attempt_at = ${caseOf(some.length)}`,
				values: [
					...(attempted.length === 0
						? []
						: [attempted.map(({ local }) => local)]),
					...reduced.flat(),
					...some.flatMap(({ local, error }) => [local, storedError(error)]),
					...some.flatMap(({ local, nextAttemptAt }) => [local, nextAttemptAt]),
					...some.flatMap(({ local, takenUntil }) => [local, takenUntil]),
				],
			},
			options,
		);
	}
}
