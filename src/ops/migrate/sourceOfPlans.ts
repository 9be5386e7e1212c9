import { markAbsent, type Row } from "./mapping.ts";
import type { TablePlan } from "./plan.ts";
import type { Source } from "./sources/source.ts";
import { linesThere } from "./whyMissing.ts";

/**
 * A source whose rows know which of the objects are not there that they refer to
 * and may do without. It is asked about these with each page.
 */
export function sourceOfPlans(
	source: Source,
	plans: readonly TablePlan[],
): Source {
	const byTable = Map.groupBy(
		plans.filter(({ optional }) => optional.length > 0),
		({ table }) => table,
	);
	if (byTable.size === 0) return source;
	async function mark(table: string, rows: readonly Row[]): Promise<void> {
		const optional = (byTable.get(table) ?? []).flatMap(
			({ optional }) => optional,
		);
		const keysOf = (row: Row) =>
			optional.flatMap((reference) => {
				const key = reference.read(row);
				return typeof key === "string" ? [key] : [];
			});
		const keys = new Set(rows.flatMap(keysOf));
		if (keys.size === 0) return;
		const there = await linesThere(plans, source, [...keys]);
		for (const row of rows) {
			const gone = keysOf(row).filter(
				(key) => there.get(key)?.isDeleted !== false,
			);
			if (gone.length > 0) markAbsent(row, new Set(gone));
		}
	}
	return {
		...source,
		async *scan(table, options) {
			for await (const page of source.scan(table, options)) {
				await mark(
					table.table,
					page.map(({ row }) => row),
				);
				yield page;
			}
		},
		async rowsOf(table, keys) {
			const rows = await source.rowsOf(table, keys);
			await mark(table.table, rows);
			return rows;
		},
	};
}
