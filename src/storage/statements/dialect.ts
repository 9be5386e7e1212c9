import type { Id } from "../../id/ids.ts";
import type { ShardLocation } from "../driver.ts";

/** What a statement is given for a `?`. Ids are bigints. */
export type StatementValue =
	| string
	| number
	| bigint
	| null
	| readonly (string | number)[];

/** Part of a statement, with the values of its placeholders. */
export interface Clause {
	readonly text: string;
	readonly values: readonly StatementValue[];
}

/** A value that the program made, and no client. */
export type MadeValue = bigint | number | string;

/** How a database spells columns, values and conditions, whatever the statement. */
export interface Spelling {
	/** Spells out a value that the program made; null if it is a parameter, so that the text stays the same. */
	readonly literal: ((value: MadeValue) => string) | null;
	/** A name that may be a word of the language. */
	name(name: string): string;
	/** A column with an id, which fits no JavaScript number: as text. */
	id(column: string): string;
	/** A number as one that JavaScript holds, also a damaged one. */
	number(expression: string): string;
	/** Whether the column has one of these texts. */
	isIn(column: string, values: readonly string[]): Clause;
	/** Whether the column has one of these integers or ids. */
	isOneOf(column: string, values: Iterable<number | Id>): Clause;
	/** Whether the row is an edge between two of these ends. */
	hasEnds(edges: readonly Ends[]): Clause;
	/** Whether the row comes after these values, in the order of a key of two columns. */
	isAfter(
		columns: readonly [string, string],
		values: readonly [StatementValue, StatementValue],
	): Clause;
}

/** Where a host keeps the outbox entries of its shards. */
interface OutboxLocation {
	/** The one that these shards have: its table, the shard of a row, and whether that is one of them. */
	of(shards: readonly number[]): {
		readonly table: string;
		readonly shard: string;
		readonly isOf: Clause;
	};
	/** What a row gets by its local id; that expression, if it is none of these. */
	choice(
		pairs: readonly (readonly [local: number, value: number | string])[],
		otherwise?: string,
	): Clause;
	/** Whether all shards of a host have one, whose rows have a column `shard`. */
	readonly isShared: boolean;
	/** What the server says it will number next: a column, and what follows SELECT; null if it does not. */
	readonly next: {
		readonly column: string;
		readonly rest: string;
	} | null;
}

/** What one database writes otherwise than the others. */
export interface Dialect<P extends ShardLocation> extends Spelling {
	/** Most rows or keys of one statement that writes. */
	readonly maxRows: number;
	/** Most rows of different tables that one UPDATE sets; 1 where it has one table. */
	readonly maxTables: number;
	/** What makes a SELECT lock its rows; empty if a transaction has the shard to itself. */
	readonly forUpdate: string;
	readonly outbox: OutboxLocation;
	table(location: P, name: string): string;
	/** Makes the optimizer read a table by an index; empty if it does so by itself. */
	index(name: "primary" | "edge" | "due"): string;
	/** After an INSERT, for rows whose key exists: these columns get the new values. */
	orSet(key: readonly string[], columns: readonly string[]): string;
	/** The same, but those rows stay: they are locked, and do not count as changed. `column` is any that they have. */
	orKeep(key: readonly string[], column: string): string;
}

/**
 * A SELECT of rows of one shard, and how they are read: for each key that it is
 * for a result, in their order.
 */
export interface Select<Result> {
	/** For statistics: without values. */
	readonly name: string;
	readonly columns: readonly string[];
	/** From FROM on. */
	readonly rest: string;
	readonly values: readonly StatementValue[];
	readonly read: (rows: readonly (readonly unknown[])[]) => readonly Result[];
}

/** A statement that changes rows of one shard. */
export interface Write extends Clause {
	readonly name: string;
}

/** The ends of an edge. */
export interface Ends {
	readonly from: Id;
	readonly to: Id;
}

/** The name of a statement for several, without duplicates: `edges likedBy, likePin`. */
export function namesOf(names: Iterable<string>): string {
	const unique = new Set(names);
	const [only = ""] = unique;
	if (unique.size <= 1) return only;
	const verbs = Map.groupBy(unique, (name) =>
		name.slice(0, name.lastIndexOf(" ") + 1),
	);
	return [...verbs]
		.map(
			([verb, some]) =>
				verb + some.map((name) => name.slice(verb.length)).join(", "),
		)
		.join(", ");
}

/** INSERTs of rows, as many to a statement as the database wants. Values are spelled out if the program made them all and the database wants it. */
export function insertsOf(
	{ maxRows, literal }: Pick<Dialect<ShardLocation>, "maxRows" | "literal">,
	insert: {
		readonly name: string;
		/** The table and its columns. */
		readonly into: string;
		/** For rows whose key exists. */
		readonly orElse?: string;
	} & (
		| { readonly made: readonly (readonly MadeValue[])[] }
		| { readonly rows: readonly (readonly StatementValue[])[] }
	),
): readonly Write[] {
	const { name, into, orElse = "" } = insert;
	const clauses =
		"made" in insert
			? chunks(insert.made, maxRows).map((some) => madeRows({ literal }, some))
			: chunks(insert.rows, maxRows).map(valuesOf);
	return clauses.map(({ text, values }) => ({
		name,
		text: `INSERT INTO ${into} VALUES ${text}${orElse && ` ${orElse}`}`,
		values,
	}));
}

/** Rows that the program made, spelled out if the database wants it: `(1, 2), (3, 4)`. */
export function madeRows(
	{ literal }: Pick<Spelling, "literal">,
	rows: readonly (readonly MadeValue[])[],
): Clause {
	return literal === null
		? valuesOf(rows)
		: {
				text: rows.map((row) => `(${row.map(literal).join(", ")})`).join(", "),
				values: [],
			};
}

/** The rows of an INSERT, as parameters. */
export function valuesOf(rows: readonly (readonly StatementValue[])[]): Clause {
	return {
		text: rows.map((row) => `(${row.map(() => "?").join(", ")})`).join(", "),
		values: rows.flat() as readonly StatementValue[],
	};
}

/** A condition that is true if any of these is. */
export function anyOf(conditions: readonly Clause[]): Clause {
	return {
		text: conditions.map(({ text }) => `(${text})`).join(" OR "),
		values: conditions.flatMap(({ values }) => values),
	};
}

export function chunks<Item>(
	items: readonly Item[],
	size: number,
): readonly (readonly Item[])[] {
	if (items.length > 0 && items.length <= size) return [items];
	return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
		items.slice(index * size, (index + 1) * size),
	);
}
