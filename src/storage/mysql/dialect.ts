import type { Model } from "../../model/types.ts";
import {
	type Dialect,
	namesOf,
	type Select,
	type StatementValue,
} from "../statements/dialect.ts";
import { type CommonKind, selectsOf } from "../statements/reads.ts";
import type { ReadKey, ReadResult } from "../storage.ts";
import { tableIn } from "./ddl.ts";
import type { Host } from "./driver/host.ts";
import type { Value } from "./driver/mysql2Connection.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import type { KeyOnShard, Shard } from "./shards.ts";
import { unionAll } from "./sqlFragment.ts";

/** All shards of a host are read over one connection. Ids come as text, and all other numbers as what they are. */
export const MYSQL: Dialect<Shard> = {
	table: ({ database }, name) => tableIn(database, name),
	name: (name) => `\`${name}\``,
	index: (name) => `FORCE INDEX (${name === "primary" ? "PRIMARY" : name})`,
	id: (column) => column,
	number: (expression) => expression,
	isIn: (column, values) => ({ text: `${column} IN (?)`, values: [values] }),
	// Spelled out: the optimizer does not use the key for a comparison of row values.
	isAfter: ([first, second], [one, two]) => ({
		text: `((${first} = ? AND ${second} > ?) OR ${first} > ?)`,
		values: [one, two, one],
	}),
};

/** The rows of several shards of one host, in one statement. */
export async function selectAll<Result>(
	host: Host,
	selects: readonly Select<Result>[],
	options: QueryOptions,
): Promise<readonly (readonly Result[])[]> {
	const rows = await host.rows(
		unionAll(
			namesOf(selects.map(({ name }) => name)),
			selects.map(({ columns, rest, values }, part) => ({
				text: `SELECT ${part} AS part, ${columns.join(", ")} ${rest}`,
				values: values as readonly Value[],
			})),
		),
		options,
	);
	const parts = selects.map((): (readonly StatementValue[])[] => []);
	for (const [part, ...row] of rows) {
		parts[Number(part)]?.push(row as StatementValue[]);
	}
	return selects.map(({ read }, part) => read(parts[part] ?? []));
}

/** Keys of one host in one statement. */
export async function readCommon<K extends CommonKind>(
	kind: K,
	model: Model,
	host: Host,
	keys: readonly KeyOnShard<ReadKey<K>>[],
	options: QueryOptions,
): Promise<readonly ReadResult<K>[]> {
	const parts = selectsOf(kind, MYSQL, model, keys);
	const selects = parts.map(({ select }) => select);
	const read = await selectAll(host, selects, options);
	const results = new Array<ReadResult<K>>(keys.length);
	for (const [part, { at }] of parts.entries()) {
		for (const [nth, index] of at.entries()) {
			results[index] = read[part]?.[nth] as ReadResult<K>;
		}
	}
	return results;
}
