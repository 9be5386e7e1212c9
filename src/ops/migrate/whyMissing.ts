import type { Missing } from "../import/lineReader.ts";
import type { BadRow } from "./badRows.ts";
import { partsOfKey } from "./keys.ts";
import type { RowLine, TablePlan } from "./plan.ts";
import type { Source } from "./sources/source.ts";

/** Says of rows that refer to what is not here why it is not here: asks the old database. The others stay as they are. */
export async function explainMissing(
	rows: readonly BadRow[],
	{
		plans,
		source,
		refused,
	}: {
		readonly plans: readonly TablePlan[];
		readonly source: Pick<Source, "rowsOf">;
		/** A bad row that is not one of `rows`. */
		readonly refused: (key: string) => BadRow | undefined;
	},
): Promise<readonly BadRow[]> {
	const keys = rows.flatMap(({ missing }) => missing?.key ?? []);
	const there = await linesThere(plans, source, keys);
	const own = new Map(rows.map((row) => [row.key, row]));
	const done = new Map<string, BadRow>();
	for (const row of rows) {
		// What it hangs on first. Rows may hang on each other.
		const chain = new Map<string, BadRow>();
		let at: BadRow | undefined = row;
		while (at !== undefined && !done.has(at.key) && !chain.has(at.key)) {
			chain.set(at.key, at);
			at = own.get(at.missing?.key ?? "");
		}
		for (const one of [...chain.values()].reverse()) {
			const { missing } = one;
			if (missing === undefined) {
				done.set(one.key, one);
				continue;
			}
			const { key } = missing;
			const root = done.get(key) ?? (own.has(key) ? undefined : refused(key));
			const { hangsOn: _, ...rest } = one;
			const why = whyMissing(missing, there.get(key), root);
			done.set(one.key, { ...rest, ...why });
		}
	}
	return rows.map((row) => done.get(row.key) ?? row);
}

/** A row whose line an import refused. What that says of lines before it is not known in a migration. */
export function refusalOf(
	key: string,
	reason: string,
	missing: Missing | undefined,
): BadRow {
	if (missing === undefined) return { key, reason };
	return { key, reason: notHereYet(missing), missing };
}

function notHereYet({ field, key }: Missing): string {
	return `${field}: ${JSON.stringify(key)} is not here yet. The next pass tries again.`;
}

/** Why an object is not here, whose row of the old database says this, or was refused. */
export function whyMissing(
	missing: Missing,
	there: RowLine | undefined,
	refused: BadRow | undefined,
): Pick<BadRow, "reason" | "hangsOn"> {
	const { field, key, isWhole } = missing;
	const name = JSON.stringify(key);
	// A row that lives on without what it refers to is lost if nobody looks at it.
	const deleted = isWhole ? ({ hangsOn: "deleted" } as const) : {};
	if (there === undefined) {
		return { reason: `${field}: no row of the mapping has the key ${name}.` };
	}
	if (there.isDeleted) {
		return { reason: `${field}: ${name} is deleted there.`, ...deleted };
	}
	if (refused?.hangsOn === "deleted") {
		const reason = `${field}: ${name} belongs to what is deleted there.`;
		return { reason, ...deleted };
	}
	return refused === undefined
		? { reason: notHereYet(missing) }
		: { reason: `${field}: ${name} was refused.`, hangsOn: "refused" };
}

/** What the rows of objects say that are there, by their keys. */
export async function linesThere(
	plans: readonly TablePlan[],
	source: Pick<Source, "rowsOf">,
	keys: readonly string[],
): Promise<ReadonlyMap<string, RowLine>> {
	const there = new Map<string, RowLine>();
	for (const plan of plans) {
		if (plan.kind === "edge") continue;
		const own = new Set(keys.filter((key) => key.startsWith(`${plan.name}:`)));
		if (own.size === 0) continue;
		const parts = [...own].map((key) => partsOfKey(plan.key, key));
		for (const row of await source.rowsOf(plan, parts)) {
			const line = plan.lineOf(row);
			if (line !== null) there.set(line.key, line);
		}
	}
	return there;
}
