import type { ShardLocation } from "../../storage/driver.ts";
import type {
	Clause,
	Dialect,
	Select,
	StatementValue,
} from "../../storage/statements/dialect.ts";
import type { LocalId } from "../jobId.ts";

/** What one database writes otherwise than the others, in statements on jobs. */
export interface QueueDialect
	extends Pick<
		Dialect<ShardLocation>,
		"maxRows" | "literal" | "isIn" | "forUpdate" | "orKeep"
	> {
	/** What makes a SELECT lock its rows, without those that another has locked; empty if a transaction has the shard to itself. */
	readonly skipLocked: string;
	/** A job's id as a value. */
	id(local: LocalId): Clause;
	/** Whether a job has one of these ids. */
	hasId(locals: readonly LocalId[]): Clause;
	/** Whether a job is in one of the buckets from the first to the last. Always, if the index has no partitions. */
	isInBucket(first: number, last?: number): Clause;
	/** After an INSERT of a queue, if it is there: takes the settings of a newer version. */
	readonly orNewer: string;
}

/** The tables of one queue on one shard, in the language of their database. */
export interface QueueTables {
	readonly dialect: QueueDialect;
	readonly shard: ShardLocation;
	readonly queue: string;
	readonly jobs: Clause;
	/** The jobs, read by their ids. */
	readonly jobsById: Clause;
	/** The jobs as `job`, read by the index on state, priority, time and id: the order in which they are claimed. */
	readonly jobsInOrder: Clause;
	/** The keys of pending jobs. */
	readonly keys: Clause;
	/** A row for each queue of the shard. */
	readonly queues: Clause;
}

/** SQL that stands in the program. */
export function part(text: string): Clause {
	return { text, values: [] };
}

export function joined(parts: readonly Clause[], by = ", "): Clause {
	return {
		text: parts.map(({ text }) => text).join(by),
		values: parts.flatMap(({ values }) => values),
	};
}

/**
 * Makes a clause of a template. What stands in it is a clause itself, or a value.
 * A text is always a parameter. So is an integer if the database wants one
 * text for all values; MySQL chooses partitions by literals.
 */
export function clauseOf({ literal }: Pick<QueueDialect, "literal">) {
	return (
		texts: TemplateStringsArray,
		...filled: readonly (Clause | string | number | null)[]
	): Clause => {
		let text = texts[0] ?? "";
		const values: StatementValue[] = [];
		for (const [at, one] of filled.entries()) {
			if (one === null) text += "NULL";
			else if (typeof one === "object") {
				text += one.text;
				values.push(...one.values);
			} else if (literal !== null && Number.isSafeInteger(one)) {
				text += literal(one);
			} else {
				text += "?";
				values.push(one);
			}
			text += texts[at + 1];
		}
		return { text, values };
	};
}

export function selectOf<Result>(
	name: string,
	columns: readonly (string | Clause)[],
	from: Clause,
	read: Select<Result>["read"],
): Select<Result> {
	const clauses = columns.map((column) =>
		typeof column === "string" ? part(column) : column,
	);
	return {
		name,
		columns: clauses.map(({ text }) => text),
		rest: from.text,
		values: joined([...clauses, from]).values,
		read,
	};
}
