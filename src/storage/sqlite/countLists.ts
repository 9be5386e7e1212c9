import type { StatementTrace } from "../../diagnostics.ts";
import { NO_SHIFT, type Recount, recounted } from "../renumbering.ts";
import type { ListCount, ListKey, ListRow } from "../storage.ts";
import type { SqliteConnection } from "./driver/sqliteConnection.ts";
import { readLists, writeList } from "./lists.ts";
import { type MappingStatements, statementsOf } from "./mappings.ts";
import { addRenumbering } from "./renumberings.ts";

/** Each list's row and its edges in one statement, which sees one state of the file. */
export function countLists(
	connection: SqliteConnection,
	statements: MappingStatements,
	keys: readonly ListKey[],
	trace?: StatementTrace,
): readonly ListCount[] {
	return keys.map(({ mapping, from }) => {
		const [row] = connection.rows<Omit<ListCount, "from">>(
			statementsOf(statements, mapping).countList,
			[BigInt(from), mapping.name],
			trace,
		);
		return {
			from,
			count: row?.count ?? 0,
			lastSequence: row?.lastSequence ?? 0,
			epoch: row?.epoch ?? 0,
			edges: row?.edges ?? 0,
			highest: row?.highest ?? 0,
			newestEpoch: row?.newestEpoch ?? 0,
		};
	});
}

/** Counts a list's edges and updates its row. */
export function recountList(
	connection: SqliteConnection,
	statements: MappingStatements,
	{ mapping, from }: ListKey,
): void {
	const [counted = { count: 0, last: 0, newestEpoch: 0 }] =
		connection.rows<Recount>(statementsOf(statements, mapping).recount, [
			BigInt(from),
			mapping.name,
		]);
	const [row] = readLists(connection, [{ mapping, from }]) as [ListRow];
	const next = recounted(row, counted);
	writeList(connection, mapping, next);
	const { epoch } = next;
	if (epoch === counted.newestEpoch) return;
	addRenumbering(connection, { mapping, from }, { ...NO_SHIFT, epoch });
}
