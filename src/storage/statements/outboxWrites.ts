import type { ShardLocation } from "../driver.ts";
import { storedError } from "../order.ts";
import type { FailedDelivery, OutboxKey, OutboxPosition } from "../rows.ts";
import {
	type Clause,
	chunks,
	type Dialect,
	madeRows,
	type Select,
	type Write,
} from "./dialect.ts";

/** Entries of one statement. */
export const ENTRIES = 500;

/** Entries of one outbox: of any shards that have it, here and below. */
export function deleteEntries<P extends ShardLocation>(
	dialect: Dialect<P>,
	keys: readonly OutboxKey[],
): readonly Write[] {
	return chunks(keys, ENTRIES).map((some) => {
		const { table, text, values } = entriesOf(dialect, some);
		return {
			name: "delete outbox",
			text: `DELETE FROM ${table} WHERE ${text}`,
			values,
		};
	});
}

/** By primary key, so that all processes lock rows in one order. */
export function takeEntries<P extends ShardLocation>(
	dialect: Dialect<P>,
	entries: readonly OutboxPosition[],
	until: number,
): Write {
	const { table, text, values } = entriesOf(dialect, entries);
	const due = dialect.outbox.choice(
		entries.map(({ local, nextAttemptAt }) => [local, nextAttemptAt]),
	);
	return {
		name: "take outbox",
		text: `UPDATE ${table} ${dialect.index("primary")} SET next_attempt_at = ?
			WHERE ${text} AND next_attempt_at = ${due.text}`,
		values: [until, ...values, ...due.values],
	};
}

/** Those of the entries that were taken until then. */
export function takenEntries<P extends ShardLocation>(
	dialect: Dialect<P>,
	entries: readonly OutboxPosition[],
	until: number,
): Select<OutboxKey> {
	const { table, shard, text, values } = entriesOf(dialect, entries);
	return {
		name: "taken outbox",
		columns: [shard, "local_id"],
		rest: `FROM ${table} WHERE ${text} AND next_attempt_at = ?`,
		values: [...values, until],
		read: (rows) =>
			rows.map(([shard, local]) => ({
				shard: Number(shard),
				local: Number(local),
			})),
	};
}

/** A repeat changes nothing: the entries are not taken until then any more. */
export function postponeEntries<P extends ShardLocation>(
	dialect: Dialect<P>,
	failures: readonly FailedDelivery[],
): readonly Write[] {
	const { choice } = dialect.outbox;
	return chunks(failures, ENTRIES).map((some) => {
		const { table, text, values } = entriesOf(dialect, some);
		const sets: Clause[] = [];
		const set = (column: string, { text, values }: Clause) =>
			sets.push({ text: `${column} = ${text}`, values });
		const attempted = some
			.filter(({ isGivenBack }) => !isGivenBack)
			.map(({ local }) => local);
		if (attempted.length > 0) {
			const { text, values } = dialect.isOneOf("local_id", attempted);
			const added = `attempts + CASE WHEN ${text} THEN 1 ELSE 0 END`;
			set("attempts", { text: added, values });
		}
		const reduced = some.flatMap(({ local, remaining }) =>
			remaining === undefined
				? []
				: [[local, JSON.stringify(remaining)] as const],
		);
		if (reduced.length > 0) set("entry", choice(reduced, "entry"));
		set(
			"last_error",
			choice(some.map(({ local, error }) => [local, storedError(error)])),
		);
		set(
			"next_attempt_at",
			choice(some.map(({ local, nextAttemptAt }) => [local, nextAttemptAt])),
		);
		const taken = choice(
			some.map(({ local, takenUntil }) => [local, takenUntil]),
		);
		return {
			name: "postpone outbox",
			text: `UPDATE ${table} SET ${sets.map(({ text }) => text).join(", ")}
				WHERE ${text} AND next_attempt_at = ${taken.text}`,
			values: [
				...sets.flatMap(({ values }) => values),
				...[...values, ...taken.values],
			],
		};
	});
}

/** The table, and whether a row is one of these. A local id by itself may be that of another shard, if a key is of another host. */
function entriesOf<P extends ShardLocation>(
	dialect: Dialect<P>,
	keys: readonly OutboxKey[],
): Clause & { readonly table: string; readonly shard: string } {
	const { outbox } = dialect;
	const { table, shard } = outbox.of(keys.map(({ shard }) => shard));
	const locals = dialect.isOneOf(
		"local_id",
		keys.map(({ local }) => local),
	);
	if (!outbox.isShared) return { table, shard, ...locals };
	const rows = madeRows(
		dialect,
		keys.map(({ local, shard }) => [local, shard]),
	);
	return {
		table,
		shard,
		text: `${locals.text} AND (local_id, shard) IN (${rows.text})`,
		values: [...locals.values, ...rows.values],
	};
}
