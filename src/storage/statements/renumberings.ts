import type { ShardLocation } from "../driver.ts";
import {
	FIRST_EDGES,
	isShifted,
	KEPT_RENUMBERINGS,
	NO_SHIFT,
	recounted,
	shiftFrom,
} from "../renumbering.ts";
import type {
	Edge,
	EdgePosition,
	ListKey,
	ListRow,
	Renumbering,
	Shift,
} from "../rows.ts";
import { batchedSelect, type Procedure, StatementBatch } from "./batch.ts";
import type { Dialect, Select, Write } from "./dialect.ts";
import { countEdges, presentEdgesFrom, writeEdges } from "./edges.ts";
import { writeLists } from "./lists.ts";

/**
 * Makes room below an edge of a locked list and returns the list's new row.
 * Versions stay, so that pending outbox entries from before the renumbering
 * still apply.
 */
export function* renumberList<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	{ mapping, from, at }: EdgePosition,
	row: ListRow,
): Procedure<P, ListRow> {
	const list = { mapping, from };
	let edges: readonly Edge[] = [];
	function* read(limit: number | null): Procedure<P, void> {
		const select = presentEdgesFrom(dialect, location, list, at, limit);
		const batch = new StatementBatch<P>();
		batch.ask(
			location,
			batchedSelect(select, (found) => {
				edges = found;
			}),
		);
		yield batch;
	}
	yield* read(FIRST_EDGES);
	let shift = shiftFrom(at, edges, edges.length === FIRST_EDGES);
	if (shift === null) {
		yield* read(null);
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
	const epoch = row.epoch + 1;
	const next = {
		...row,
		lastSequence: Math.max(row.lastSequence, shifted.at(-1)?.sequence ?? 0),
		epoch,
	};
	const batch = new StatementBatch<P>();
	batch.writeAll(location, [
		...writeEdges(dialect, location, shifted),
		...writeLists(dialect, location, [{ ...next, mapping }]),
		{
			// Those of the future are left from an epoch that somebody set back.
			name: "delete renumberings",
			text: `DELETE FROM ${dialect.table(location, "renumberings")}
				WHERE from_id = ? AND mapping = ? AND (epoch <= ? OR epoch >= ?)`,
			values: [
				BigInt(from),
				mapping.name,
				Math.max(0, epoch - KEPT_RENUMBERINGS),
				epoch,
			],
		},
		addRenumbering(dialect, location, list, { low, high, by, epoch }),
	]);
	yield batch;
	return next;
}

/** Counts a locked list's edges and updates its row. */
export function* recountList<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	list: ListKey,
	row: ListRow,
): Procedure<P, void> {
	const { mapping } = list;
	let counted = { count: 0, last: 0 };
	let newestEpoch = 0;
	const read = new StatementBatch<P>();
	read.ask(
		location,
		batchedSelect(countEdges(dialect, location, list), ([found = counted]) => {
			counted = found;
		}),
	);
	read.ask(
		location,
		batchedSelect(
			newestRenumbering(dialect, location, list),
			([newest = 0]) => {
				newestEpoch = newest;
			},
		),
	);
	yield read;
	const next = recounted(row, { ...counted, newestEpoch });
	const { epoch } = next;
	const batch = new StatementBatch<P>();
	batch.writeAll(
		location,
		writeLists(dialect, location, [{ ...next, mapping }]),
	);
	if (epoch !== newestEpoch) {
		batch.write(
			location,
			addRenumbering(dialect, location, list, { ...NO_SHIFT, epoch }),
		);
	}
	yield batch;
}

function newestRenumbering<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	{ mapping, from }: ListKey,
): Select<number> {
	return {
		name: "newest renumbering",
		columns: [dialect.number("COALESCE(MAX(epoch), 0)")],
		rest: `FROM ${dialect.table(location, "renumberings")}
			WHERE from_id = ? AND mapping = ?`,
		values: [BigInt(from), mapping.name],
		read: (rows) => rows.map(([newest]) => Number(newest)),
	};
}

function addRenumbering<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	{ mapping, from }: ListKey,
	{ epoch, low, high, by }: Renumbering,
): Write {
	return {
		name: "add renumbering",
		text: `INSERT INTO ${dialect.table(location, "renumberings")} (epoch, low_sequence, low_to, high_sequence, high_to, shift, from_id, mapping)
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
	};
}
