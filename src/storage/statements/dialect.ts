import type { Place } from "../driver.ts";

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

/** What one database writes otherwise than the others. */
export interface Dialect<P extends Place> {
	table(place: P, name: string): string;
	/** A name that may be a word of the language. */
	name(name: string): string;
	/** Makes the optimizer read a table by an index; empty where it does so by itself. */
	index(name: "primary" | "edge" | "due"): string;
	/** A column with an id, which fits no JavaScript number: as text. */
	id(column: string): string;
	/** A number as one that JavaScript holds, also a damaged one. */
	number(expression: string): string;
	/** Whether the column has one of these values. */
	isIn(column: string, values: readonly (string | number)[]): Clause;
	/** Whether the row comes after these values, in the order of a key of two columns. */
	isAfter(
		columns: readonly [string, string],
		values: readonly [StatementValue, StatementValue],
	): Clause;
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

/** For the names of statements of several SELECTs: without duplicates. */
export function namesOf(names: Iterable<string>): string {
	return [...new Set(names)].join(", ");
}
