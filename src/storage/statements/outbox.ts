import type { ShardLocation } from "../driver.ts";
import type { OutboxReport } from "../hostReport.ts";
import { entryName } from "../keys.ts";
import type {
	DueEntries,
	OutboxKey,
	OutboxLook,
	OutboxSize,
	OutboxSizeQuery,
	PendingEntry,
	StoredEntry,
} from "../rows.ts";
import { parseJsonObject } from "../storedObject.ts";
import type { Dialect, Select } from "./dialect.ts";
import { entryColumns, entryOf } from "./rows.ts";

/** Entries of one outbox by their keys. */
export function entriesOf<P extends ShardLocation>(
	dialect: Dialect<P>,
	keys: readonly OutboxKey[],
): Select<StoredEntry | null> {
	const { table, shard } = dialect.outbox.of(keys.map(({ shard }) => shard));
	const { text, values } = dialect.isOneOf(
		"local_id",
		keys.map(({ local }) => local),
	);
	return {
		name: "outbox entries",
		columns: [shard, "local_id", "entry"],
		rest: `FROM ${table} WHERE ${text}`,
		values,
		read(rows) {
			const found = new Map(
				rows.map(([shard, local, entry]) => [
					entryName({ shard: Number(shard), local: Number(local) }),
					entry as string,
				]),
			);
			return keys.map(({ shard, local }) => {
				const text = found.get(entryName({ shard, local }));
				return text === undefined
					? null
					: { shard, local, entry: parseJsonObject(text) };
			});
		},
	};
}

/** The index alone answers. Its columns are those of `dueEntries`, so that both are one statement. */
export function untakenEntries<P extends ShardLocation>(
	dialect: Dialect<P>,
	shards: readonly number[],
	{ after, limit }: NonNullable<OutboxLook["untaken"]>,
): Select<OutboxKey> {
	const { table, shard, isOf } = dialect.outbox.of(shards);
	const [, , ...others] = entryColumns(dialect, shard);
	return {
		name: "untaken outbox entries",
		columns: [shard, "local_id", ...others.map(() => "NULL")],
		rest: `FROM ${table} ${dialect.index("due")}
			WHERE next_attempt_at = 0 AND local_id > ? AND ${isOf.text}
			ORDER BY local_id LIMIT ${limit}`,
		values: [after, ...isOf.values],
		read: (rows) =>
			rows.map(([shard, local]) => ({
				shard: Number(shard),
				local: Number(local),
			})),
	};
}

/** As `SeenEntries.next`. Its columns are those of the others, so that all are one statement. */
export function nextEntry<P extends ShardLocation>(
	dialect: Dialect<P>,
): Select<number> | null {
	const { next } = dialect.outbox;
	if (next === null) return null;
	const { column, rest } = next;
	const [, , ...others] = entryColumns(dialect, "");
	return {
		name: "next outbox entry",
		columns: ["NULL", column, ...others.map(() => "NULL")],
		rest,
		values: [],
		read: (rows) => rows.map(([, next]) => Number(next)),
	};
}

/** Ties are in the order of the commits, which is that of local ids: the clock may have stepped back between them. */
export function dueEntries<P extends ShardLocation>(
	dialect: Dialect<P>,
	shards: readonly number[],
	{ olderThanMs, includeDelayed = false, limit, after }: DueEntries,
): Select<PendingEntry> {
	const { table, shard, isOf } = dialect.outbox.of(shards);
	const now = Date.now() * 1_000;
	const { nextAttemptAt = 0, local = 0 } = after ?? {};
	return {
		name: "pending entries",
		columns: entryColumns(dialect, shard),
		rest: `FROM ${table} ${dialect.index("due")}
			WHERE next_attempt_at <= ? AND next_attempt_at >= ?
				AND (next_attempt_at > ? OR local_id > ?) AND ts <= ? AND ${isOf.text}
			ORDER BY next_attempt_at, local_id LIMIT ${limit}`,
		values: [
			...[includeDelayed ? Number.MAX_SAFE_INTEGER : now, nextAttemptAt],
			...[nextAttemptAt, local, now - olderThanMs * 1_000, ...isOf.values],
		],
		read: (rows) => rows.map(entryOf),
	};
}

/** Old entries have small ids. */
export function sizeOf<P extends ShardLocation>(
	dialect: Dialect<P>,
	{ outbox, limit }: OutboxSizeQuery,
): Select<OutboxSize> {
	const { table, isOf } = dialect.outbox.of(outbox.shards);
	return {
		name: "outbox sizes",
		columns: ["COUNT(*)", dialect.number("MIN(ts)")],
		rest: `FROM (SELECT ts FROM ${table} WHERE ${isOf.text}
			ORDER BY local_id LIMIT ${limit}) AS entries`,
		values: isOf.values,
		read([row = []]) {
			const [entries, oldestAt = null] = row;
			return [
				{
					entries: Number(entries),
					oldestAt: oldestAt === null ? null : Number(oldestAt),
				},
			];
		},
	};
}

/** As operators see it. */
export function outboxReport(sizes: readonly OutboxSize[]): OutboxReport {
	const oldest = sizes.flatMap(({ oldestAt }) => oldestAt ?? []);
	const age = Date.now() / 1_000 - Math.min(...oldest) / 1e6;
	return {
		pending: sizes.reduce((sum, { entries }) => sum + entries, 0),
		oldestSeconds: oldest.length === 0 ? 0 : Math.max(0, Math.round(age)),
	};
}
