import { NO_SHIFT, recounted } from "../renumbering.ts";
import type { ListKey, ListRow } from "../storage.ts";
import { tableIn } from "./ddl.ts";
import type { MysqlTransaction } from "./driver/host.ts";
import { writeLists } from "./lists.ts";
import { countEdges } from "./mappings.ts";
import { addRenumbering } from "./renumberings.ts";
import type { Shard } from "./shards.ts";
import { StatementBatch } from "./statementBatch.ts";

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
