import { type Id, rowIds } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { ListLength } from "../storage.ts";
import { tableIn } from "./ddl.ts";
import type { Host } from "./driver/host.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import type { Shard } from "./shards.ts";
import { unionAll } from "./sqlFragment.ts";

/**
 * The longest lists of some shards of one host, in the order of the shards. One
 * range of the primary key of `lists`: the rows of the objects that own lists of
 * this mapping. An index by count would have to be written with each change of
 * any count.
 */
export async function longestLists(
	host: Host,
	mapping: Mapping,
	/** The number of the type that owns the lists. */
	owner: number,
	shards: readonly Shard[],
	limit: number,
	options: QueryOptions,
): Promise<readonly (readonly ListLength[])[]> {
	const rows = await host.rows(
		unionAll(
			`longest lists of ${mapping.name}`,
			shards.map(({ number, database }) => ({
				text: `SELECT ${number} AS shard, from_id, count
					FROM ${tableIn(database, "lists")} FORCE INDEX (PRIMARY)
					WHERE from_id BETWEEN ? AND ? AND mapping = ? AND count > 0
					ORDER BY count DESC, from_id LIMIT ${limit}`,
				values: [...rowIds(number, owner), mapping.name],
			})),
		),
		options,
	);
	const byShard = Map.groupBy(rows, ([shard]) => Number(shard));
	return shards.map(({ number }) =>
		(byShard.get(number) ?? []).map(([, from, count]) => ({
			from: from as Id,
			count: Number(count),
		})),
	);
}
