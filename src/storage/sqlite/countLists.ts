import { NO_SHIFT, type Recount, recounted } from "../renumbering.ts";
import type { ListKey, ListRow } from "../storage.ts";
import type { SqliteConnection } from "./driver/sqliteConnection.ts";
import { readLists, writeList } from "./lists.ts";
import { type MappingStatements, statementsOf } from "./mappings.ts";
import { addRenumbering } from "./renumberings.ts";

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
