import {
	FIRST_EDGES,
	isShifted,
	KEPT_RENUMBERINGS,
	shiftFrom,
} from "../renumbering.ts";
import type {
	EdgePosition,
	ListKey,
	ListRow,
	Renumbering,
	Shift,
} from "../storage.ts";
import { tableIn } from "./ddl.ts";
import type { MysqlTransaction } from "./driver/host.ts";
import { writeLists } from "./lists.ts";
import { presentEdgesFrom, writeEdges } from "./mappings.ts";
import type { Shard } from "./shards.ts";
import { StatementBatch } from "./statementBatch.ts";

const COLUMNS =
	"epoch, low_sequence, low_to, high_sequence, high_to, shift, from_id, mapping";

/**
 * Makes room below an edge of a locked list and returns the list's new row.
 * Versions stay, so that pending outbox entries from before the renumbering
 * still apply.
 */
export async function renumberList(
	statements: MysqlTransaction,
	shard: Shard,
	{ mapping, from, at }: EdgePosition,
	row: ListRow,
): Promise<ListRow> {
	const read = (limit?: number) =>
		presentEdgesFrom(statements, shard, { mapping, from }, at, limit);
	let edges = await read(FIRST_EDGES);
	let shift = shiftFrom(at, edges, edges.length === FIRST_EDGES);
	if (shift === null) {
		edges = await read();
		shift = shiftFrom(at, edges, false) as Shift;
	}
	const { low, high, by } = shift;
	const shifted = edges
		.filter((edge) => isShifted(edge, { low, high, by }))
		.map((edge) => ({
			...edge,
			sequence: edge.sequence + by,
			mapping,
			exists: true,
		}));
	const batch = new StatementBatch(statements);
	writeEdges(batch, shard, shifted);
	const next = {
		...row,
		lastSequence: Math.max(row.lastSequence, shifted.at(-1)?.sequence ?? 0),
		epoch: row.epoch + 1,
	};
	writeLists(batch, shard, [{ ...next, mapping }]);
	const { epoch } = next;
	const table = tableIn(shard.database, "renumberings");
	// Those of the future are left from an epoch that somebody set back.
	batch.run({
		name: "delete renumberings",
		text: `DELETE FROM ${table} WHERE from_id = ? AND mapping = ? AND (epoch <= ? OR epoch >= ?)`,
		values: [
			BigInt(from),
			mapping.name,
			Math.max(0, epoch - KEPT_RENUMBERINGS),
			epoch,
		],
	});
	const list = { mapping, from };
	addRenumbering(batch, shard, list, { low, high, by, epoch });
	await batch.send();
	return next;
}

export function addRenumbering(
	batch: StatementBatch,
	{ database }: Shard,
	{ mapping, from }: ListKey,
	{ epoch, low, high, by }: Renumbering,
): void {
	batch.run({
		name: "add renumbering",
		text: `INSERT INTO ${tableIn(database, "renumberings")} (${COLUMNS})
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		values: [
			epoch,
			low.sequence,
			BigInt(low.to),
			high.sequence,
			BigInt(high.to),
			by,
			BigInt(from),
			mapping.name,
		],
	});
}
