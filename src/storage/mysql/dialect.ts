import type { Id } from "../../id/ids.ts";
import type { ShardLocation } from "../driver.ts";
import {
	type BatchedSelect,
	batchedSelect,
	type StatementBatch,
} from "../statements/batch.ts";
import {
	type Dialect,
	type MadeValue,
	namesOf,
	type Select,
	type Write,
} from "../statements/dialect.ts";
import { HOST_DATABASE, HOST_OUTBOX, tableIn } from "./ddl.ts";
import type { Host } from "./driver/host.ts";
import type {
	Result,
	Row,
	Value,
	WriteResult,
} from "./driver/mysql2Connection.ts";
import type { Sql } from "./driver/mysqlConnection.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import type { Shard } from "./shards.ts";

export const OUTBOX = tableIn(HOST_DATABASE, HOST_OUTBOX.name);

/**
 * All shards of a host are read over one connection. Ids come as text, and all
 * other numbers as what they are. What the program made is spelled out: the
 * client searches the whole text for the place of a value, and its escaping
 * costs more than all else of a long list.
 */
export const MYSQL: Dialect<Shard> = {
	maxRows: 500,
	// The server joins 61 at most. A row takes it 35 µs of CPU with 16, 40 with 32, and 70 by a statement of its own.
	maxTables: 16,
	literal: spelled,
	forUpdate: "FOR UPDATE",
	table: ({ database }, name) => tableIn(database, name),
	outbox: {
		of: (shards) => ({
			table: OUTBOX,
			shard: "shard",
			isOf: {
				text: `(${rangesOf(shards)
					.map(([first, last]) => `shard BETWEEN ${first} AND ${last}`)
					.join(" OR ")})`,
				values: [],
			},
		}),
		choice: (pairs, otherwise = "NULL") => ({
			text: `CASE local_id ${"WHEN ? THEN ? ".repeat(pairs.length)}ELSE ${otherwise} END`,
			values: pairs.flat(),
		}),
		isShared: true,
		next: {
			column: "AUTO_INCREMENT",
			rest: `FROM information_schema.TABLES WHERE TABLE_SCHEMA = '${HOST_DATABASE}' AND TABLE_NAME = '${HOST_OUTBOX.name}'`,
		},
	},
	name: (name) => `\`${name}\``,
	index: (name) => `FORCE INDEX (${name === "primary" ? "PRIMARY" : name})`,
	// VALUES() and not a row alias, which MariaDB does not have.
	orSet: (_, columns) =>
		`ON DUPLICATE KEY UPDATE ${columns.map((column) => `${column} = VALUES(${column})`).join(", ")}`,
	orKeep: (_, column) => `ON DUPLICATE KEY UPDATE ${column} = ${column}`,
	id: (column) => column,
	number: (expression) => expression,
	isIn: (column, values) => ({ text: `${column} IN (?)`, values: [values] }),
	isOneOf: (column, values) => ({
		text: `${column} IN (${spelledList(values)})`,
		values: [],
	}),
	// Grouped by list: every server uses the index for `from = … AND to IN (…)`, but not for pairs.
	hasEnds: (edges) => ({
		text: [...Map.groupBy(edges, ({ from }) => from)]
			.map(
				([from, some]) =>
					`(from_id = ${spelledList([from])} AND to_id IN (${spelledList(some.map(({ to }) => to))}))`,
			)
			.join(" OR "),
		values: [],
	}),
	// Spelled out: the optimizer does not use the key for a comparison of row values.
	isAfter: ([first, second], [one, two]) => ({
		text: `((${first} = ? AND ${second} > ?) OR ${first} > ?)`,
		values: [one, two, one],
	}),
};

const NAME = /^[\w.]+$/;
const DIGITS = /^[0-9]{1,20}$/;

export function spelled(value: MadeValue): string {
	if (typeof value === "bigint") return value.toString();
	if (typeof value === "number" && Number.isSafeInteger(value))
		return `${value}`;
	if (typeof value === "string" && NAME.test(value)) return `'${value}'`;
	throw new TypeError(
		`A statement spells out integers, ids and names of the model, got ${JSON.stringify(value)}.`,
	);
}

/** `1, 2`: integers, and ids, which are digits already. */
export function spelledList(values: Iterable<number | Id>): string {
	const list = Array.isArray(values) ? values : [...values];
	for (const value of list) {
		const isFine =
			typeof value === "number"
				? Number.isSafeInteger(value)
				: DIGITS.test(value);
		if (!isFine) {
			throw new TypeError(
				`A list of integers and ids has ${JSON.stringify(value)}.`,
			);
		}
	}
	return list.join(", ");
}

/** The SELECTs as one statement, and what gives each its rows, by a number in the last column. One alone needs none. */
function together(questions: readonly BatchedSelect[]): {
	readonly sql: Sql;
	readonly use: (rows: readonly Row[]) => void;
} {
	const [only] = questions;
	const isAlone = questions.length === 1 && only !== undefined;
	const sql = unionAll(
		namesOf(questions.map(({ name }) => name)),
		questions.map(({ columns, rest, values }, part) => ({
			text: `SELECT ${columns.join(", ")}${isAlone ? "" : `, ${part} AS part`} ${rest}`,
			values: values as readonly Value[],
		})),
	);
	return {
		sql,
		use(rows) {
			if (isAlone) {
				only.use(rows);
				return;
			}
			const parts = questions.map((): Row[] => []);
			for (const row of rows) parts[Number(row.at(-1))]?.push(row);
			for (const [part, { use }] of questions.entries()) {
				use(parts[part] ?? []);
			}
		},
	};
}

export function sqlOf({ values, ...write }: Write): Sql {
	return { ...write, values: values as readonly Value[] };
}

/** A SELECT for a session of its own, whose caller reads the rows. */
export function sqlOfSelect({
	name,
	columns,
	rest,
	values,
}: Select<unknown>): Sql {
	return {
		name,
		text: `SELECT ${columns.join(", ")} ${rest}`,
		values: values as readonly Value[],
	};
}

/** The statements of a batch, and what uses the result of each. */
export function statementsOf({
	steps,
}: StatementBatch<ShardLocation>): readonly {
	readonly sql: Sql;
	readonly use: (result: Result) => void;
	readonly reads: boolean;
}[] {
	// Statements of one shard need no number: it is that of the transaction.
	const namesShards = new Set(steps.map(({ location }) => location)).size > 1;
	return steps.map((step) => {
		const shard = namesShards ? { shard: step.location.number } : {};
		if ("write" in step) {
			const { write, use } = step;
			return {
				reads: false,
				sql: { ...sqlOf(write), ...shard },
				use(result) {
					const { affectedRows, insertId } = result as WriteResult;
					use({ affected: affectedRows, firstId: Number(insertId) });
				},
			};
		}
		const { sql, use } = together(step.questions);
		return {
			reads: true,
			sql: { ...sql, ...shard },
			use: (result) => use(result as readonly Row[]),
		};
	});
}

/** The first and the last of those that follow each other: they are few, however many the shards. */
function rangesOf(shards: readonly number[]): readonly [number, number][] {
	const ranges: [number, number][] = [];
	for (const shard of shards.toSorted((a, b) => a - b)) {
		const last = ranges.at(-1);
		if (last !== undefined && shard <= last[1] + 1) last[1] = shard;
		else ranges.push([shard, shard]);
	}
	return ranges;
}

/** The rows of several SELECTs of one host, in one statement. */
export async function selectAll<Result>(
	host: Host,
	selects: readonly Select<Result>[],
	options: QueryOptions,
): Promise<readonly (readonly Result[])[]> {
	const results = selects.map((): readonly Result[] => []);
	const { sql, use } = together(
		selects.map((select, part) =>
			batchedSelect(select, (some) => {
				results[part] = some;
			}),
		),
	);
	use(await host.rows(sql, options));
	return results;
}

/** Executes statements that need no transaction: each commits by itself. */
export async function runEach(
	host: Host,
	batch: StatementBatch<Shard>,
	options: QueryOptions,
): Promise<void> {
	for (const { sql, use, reads } of statementsOf(batch)) {
		use(
			reads
				? await host.rows(sql, { ...options, decides: true })
				: await host.run(sql, options),
		);
	}
}

/** Part of a statement, with the values of its placeholders. */
export interface Fragment {
	readonly text: string;
	readonly values: readonly Value[];
}

/** Many SELECTs with the same columns as one statement. */
export function unionAll(name: string, parts: readonly Fragment[]): Sql {
	const [only] = parts;
	return {
		name,
		text:
			parts.length === 1 && only !== undefined
				? only.text
				: parts.map(({ text }) => `(${text})`).join("\nUNION ALL\n"),
		values: parts.flatMap(({ values }) => values),
	};
}
