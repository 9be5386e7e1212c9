import { type Id, rowIds } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import { ownerOf } from "../portCall.ts";
import type { ListLength, LongestKey } from "../storage.ts";
import { tableIn } from "./ddl.ts";
import type { Host } from "./driver/host.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import type { KeyOnShard } from "./shards.ts";
import { namesOf, unionAll } from "./sqlFragment.ts";

/**
 * The longest lists of some shards of one host, in the order of the shards. One
 * range of the primary key of `lists`: the rows of the objects that own lists of
 * this mapping. An index by count would have to be written with each change of
 * any count.
 */
export async function longestLists(
	host: Host,
	model: Model,
	keys: readonly KeyOnShard<LongestKey>[],
	options: QueryOptions,
): Promise<readonly (readonly ListLength[])[]> {
	const rows = await host.rows(
		unionAll(
			`longest lists of ${namesOf(keys.map(({ key }) => key.mapping.name))}`,
			keys.map(
				({ key: { mapping, limit }, shard: { number, database } }, part) => ({
					text: `SELECT ${part} AS part, from_id, count
					FROM ${tableIn(database, "lists")} FORCE INDEX (PRIMARY)
					WHERE from_id BETWEEN ? AND ? AND mapping = ? AND count > 0
					ORDER BY count DESC, from_id LIMIT ${limit}`,
					values: [...rowIds(number, ownerOf(model, mapping)), mapping.name],
				}),
			),
		),
		options,
	);
	const byPart = Map.groupBy(rows, ([part]) => Number(part));
	return keys.map((_, part) =>
		(byPart.get(part) ?? []).map(([, from, count]) => ({
			from: from as Id,
			count: Number(count),
		})),
	);
}
