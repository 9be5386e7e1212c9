import type { Table } from "../../storage/statements/tables.ts";
import { isText, keyOf } from "../databases.ts";
import type { StoredRow } from "./dumpSource.ts";

/** How a database writes what differs. */
export interface RowSpelling {
	name(column: string): string;
	/** A column as it is selected. */
	selected(column: string, isText: boolean): string;
}

/** A condition, and the texts of its placeholders. */
interface Condition {
	readonly text: string;
	readonly values: readonly string[];
}

/** Rows after this one, in the order of the key. Spelled out, because optimizers use no index to compare row values. */
export function isAfter(
	table: Table,
	after: StoredRow | null,
	{ name }: Pick<RowSpelling, "name">,
): Condition {
	if (after === null) return { text: "1 = 1", values: [] };
	const columns = Object.keys(table.columns);
	const cells = keyOf(table).map((column) => {
		const cell = after[columns.indexOf(column)] ?? "";
		return {
			column: name(column),
			...(isText(table, column)
				? { text: "?", values: [cell] }
				: { text: digits(column, cell), values: [] }),
		};
	});
	const terms = cells.map(({ column, text, values }, at) => {
		const equal = cells.slice(0, at);
		return {
			text: `(${[
				...equal.map((each) => `${each.column} = ${each.text}`),
				`${column} > ${text}`,
			].join(" AND ")})`,
			values: [...equal.flatMap((each) => each.values), ...values],
		};
	});
	return {
		text: `(${terms.map(({ text }) => text).join(" OR ")})`,
		values: terms.flatMap(({ values }) => values),
	};
}

export function selectList(
	table: Table,
	{ name, selected }: RowSpelling,
): string {
	return Object.keys(table.columns)
		.map((column) => selected(name(column), isText(table, column)))
		.join(", ");
}

export function orderOf(
	table: Table,
	{ name }: Pick<RowSpelling, "name">,
): string {
	return keyOf(table).map(name).join(", ");
}

/** Throws for what is no whole number: nothing else is spelled out in a statement. */
export function digits(column: string, cell: string | null): string {
	if (cell !== null && /^-?\d{1,20}$/.test(cell)) return cell;
	throw new TypeError(
		`${column} is a whole number, got ${JSON.stringify(cell)}.`,
	);
}
