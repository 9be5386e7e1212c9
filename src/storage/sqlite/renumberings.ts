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
	Position,
	Renumbering,
	Shift,
} from "../storage.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";
import { readLists, writeList } from "./lists.ts";
import { type MappingStatements, statementsOf } from "./mappings.ts";

const ADD: Sql = {
	name: "add renumbering",
	text: `INSERT INTO renumberings (from_id, mapping, epoch, low_sequence, low_to,
			high_sequence, high_to, shift)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
};

const DELETE: Sql = {
	name: "delete renumberings",
	text: `DELETE FROM renumberings
		WHERE from_id = ? AND mapping = ? AND (epoch <= ? OR epoch >= ?)`,
};

/**
 * Makes room below an edge. Versions stay, so that pending outbox entries from
 * before the renumbering still apply.
 */
export function renumberList(
	connection: SqliteConnection,
	statements: MappingStatements,
	{ mapping, from, at }: EdgePosition,
): void {
	const { presentFrom, setSequence } = statementsOf(statements, mapping);
	const read = (limit: number) =>
		connection.rows<Position>(presentFrom, [
			BigInt(from),
			at.sequence,
			BigInt(at.to),
			limit,
		]);
	let edges = read(FIRST_EDGES);
	let shift = shiftFrom(at, edges, edges.length === FIRST_EDGES);
	if (shift === null) {
		// Less than 0 is no limit.
		edges = read(-1);
		shift = shiftFrom(at, edges, false) as Shift;
	}
	const { low, high, by } = shift;
	let last = 0;
	for (const edge of edges.filter((edge) =>
		isShifted(edge, { low, high, by }),
	)) {
		last = edge.sequence + by;
		connection.run(setSequence, [last, BigInt(from), BigInt(edge.to)]);
	}
	const [row] = readLists(connection, [{ mapping, from }]) as [ListRow];
	const epoch = row.epoch + 1;
	const lastSequence = Math.max(row.lastSequence, last);
	writeList(connection, mapping, { ...row, lastSequence, epoch });
	// Those of the future are left from an epoch that somebody set back.
	connection.run(DELETE, [
		BigInt(from),
		mapping.name,
		epoch - KEPT_RENUMBERINGS,
		epoch,
	]);
	const list = { mapping, from };
	addRenumbering(connection, list, { low, high, by, epoch });
}

export function addRenumbering(
	connection: SqliteConnection,
	{ mapping, from }: ListKey,
	{ epoch, low, high, by }: Renumbering,
): void {
	connection.run(ADD, [
		BigInt(from),
		mapping.name,
		epoch,
		low.sequence,
		BigInt(low.to),
		high.sequence,
		BigInt(high.to),
		by,
	]);
}
