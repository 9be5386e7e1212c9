import { NO_SHIFT, recounted } from "../renumbering.ts";
import {
	type ListCount,
	type ListKey,
	type ListRow,
	PRESENT,
} from "../storage.ts";
import { tableIn } from "./ddl.ts";
import type { Host, MysqlTransaction } from "./driver/host.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import { writeLists } from "./lists.ts";
import { countEdges } from "./mappings.ts";
import { addRenumbering } from "./renumberings.ts";
import type { KeyOnShard, Shard } from "./shards.ts";
import { namesOf, unionAll } from "./sqlFragment.ts";
import { StatementBatch } from "./statementBatch.ts";

/** Rows and edges of lists of one host in one statement, which has one read view. */
export async function countLists(
	host: Host,
	keys: readonly KeyOnShard<ListKey>[],
	options: QueryOptions,
): Promise<readonly ListCount[]> {
	const rows = await host.rows(
		unionAll(
			`count ${namesOf(keys.map(({ key }) => key.mapping.name))}`,
			keys.map(({ key: { mapping, from }, shard: { database } }, part) => ({
				text: `SELECT ${part} AS part, COALESCE(list.count, 0),
						COALESCE(list.last_sequence, 0), COALESCE(list.epoch, 0),
						counted.edges, counted.highest, renumbered.newest
					FROM (SELECT COUNT(*) AS edges, COALESCE(MAX(sequence), 0) AS highest
						FROM ${tableIn(database, mapping.table)} FORCE INDEX (PRIMARY)
						WHERE from_id = ? AND state = ${PRESENT}) AS counted
					CROSS JOIN (SELECT COALESCE(MAX(epoch), 0) AS newest
						FROM ${tableIn(database, "renumberings")}
						WHERE from_id = ? AND mapping = ?) AS renumbered
					LEFT JOIN ${tableIn(database, "lists")} AS list
						ON list.from_id = ? AND list.mapping = ?`,
				values: [
					BigInt(from),
					BigInt(from),
					mapping.name,
					BigInt(from),
					mapping.name,
				],
			})),
		),
		options,
	);
	const counts = new Map(
		rows.map(([part, ...numbers]) => [Number(part), numbers.map(Number)]),
	);
	return keys.map(({ key: { from } }, part) => {
		const [count = 0, lastSequence = 0, epoch = 0, ...others] =
			counts.get(part) ?? [];
		const [edges = 0, highest = 0, newestEpoch = 0] = others;
		return { from, count, lastSequence, epoch, edges, highest, newestEpoch };
	});
}

/** Counts a list's edges and updates its row. */
export async function recountList(
	statements: MysqlTransaction,
	shard: Shard,
	{ mapping, from }: ListKey,
	row: ListRow,
): Promise<void> {
	const counted = await countEdges(statements, shard, mapping, from);
	const [[newest] = []] = await statements.rows({
		name: "newest renumbering",
		text: `SELECT COALESCE(MAX(epoch), 0) FROM ${tableIn(shard.database, "renumberings")}
			WHERE from_id = ? AND mapping = ?`,
		values: [BigInt(from), mapping.name],
	});
	const newestEpoch = Number(newest);
	const next = recounted(row, { ...counted, newestEpoch });
	const batch = new StatementBatch(statements);
	writeLists(batch, shard, [{ ...next, mapping }]);
	const { epoch } = next;
	if (epoch !== newestEpoch) {
		addRenumbering(batch, shard, { mapping, from }, { ...NO_SHIFT, epoch });
	}
	await batch.send();
}
