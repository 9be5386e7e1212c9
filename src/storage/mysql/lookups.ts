import { CorkboardError } from "../../errors.ts";
import type { Model } from "../../model/types.ts";
import type {
	KeyResult,
	LookupChange,
	LookupKey,
	LookupRow,
} from "../storage.ts";
import { StorageFailure, toStorageError } from "../storageFailure.ts";
import { tableIn } from "./ddl.ts";
import { readCommon } from "./dialect.ts";
import type { Host } from "./driver/host.ts";
import type { Scalar } from "./driver/mysql2Connection.ts";
import type { Sql } from "./driver/mysqlConnection.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import { chunks, type KeyOnShard, type Shard } from "./shards.ts";
import { anyOf, valuesOf } from "./sqlFragment.ts";

/** Rows of one statement. */
export const LOOKUPS = 500;

const COLUMNS = "name, `key`, id, token";

/** Changes of one key take effect in order: the first change of every key, then the second, and so on. */
export async function compareAndSetLookups(
	model: Model,
	host: Host,
	changes: readonly KeyOnShard<LookupChange>[],
	optionsOf: (shard: Shard) => QueryOptions,
): Promise<readonly KeyResult<LookupRow | null>[]> {
	const rowsAfter = new Map<
		KeyOnShard<LookupChange>,
		KeyResult<LookupRow | null>
	>();
	const met = new Map<string, number>();
	const rounds = Map.groupBy(changes, ({ key }) => {
		const name = nameOf(key);
		const round = met.get(name) ?? 0;
		met.set(name, round + 1);
		return round;
	});
	for (const some of rounds.values()) {
		const results = await changeOnShards(some, optionsOf);
		const unsure = some.filter(({ shard }) => results.get(shard) === "some");
		for (const one of some) {
			const result = results.get(one.shard);
			rowsAfter.set(
				one,
				result instanceof CorkboardError ? result : rowAfter(one.key),
			);
		}
		for (const [at, row] of (
			await readRows(model, host, unsure, optionsOf)
		).entries()) {
			rowsAfter.set(unsure[at] as KeyOnShard<LookupChange>, row);
		}
	}
	return changes.map((one) => rowsAfter.get(one) ?? null);
}

/** Rows that say whose the keys are. */
async function readRows(
	model: Model,
	host: Host,
	keys: readonly KeyOnShard<LookupKey>[],
	optionsOf: (shard: Shard) => QueryOptions,
): Promise<readonly KeyResult<LookupRow | null>[]> {
	const rows: KeyResult<LookupRow | null>[] = [];
	for (const some of chunks(keys, LOOKUPS)) {
		const [{ shard }] = some as [KeyOnShard<LookupKey>];
		const options = { ...optionsOf(shard), decides: true };
		try {
			rows.push(...(await readCommon("lookups", model, host, some, options)));
		} catch (thrown) {
			if (!(thrown instanceof StorageFailure)) throw thrown;
			rows.push(
				...some.map(({ shard }) => toStorageError(thrown, shard.number)),
			);
		}
	}
	return rows;
}

/** The row after a change that succeeded. */
function rowAfter({ name, key, next }: LookupChange): LookupRow | null {
	return next === null ? null : { name, key, ...next };
}

/** How many changes of a shard succeeded. After `some`, the rows have to be read. */
type ShardResult = "all" | "some" | CorkboardError;

async function changeOnShards(
	changes: readonly KeyOnShard<LookupChange>[],
	optionsOf: (shard: Shard) => QueryOptions,
): Promise<ReadonlyMap<Shard, ShardResult>> {
	const results = new Map<Shard, ShardResult>();
	await Promise.all(
		[...Map.groupBy(changes, ({ shard }) => shard)].map(
			async ([shard, some]) => {
				try {
					const affected = await changeLookups(
						shard,
						some.map(({ key }) => key),
						optionsOf(shard),
					);
					results.set(shard, affected === some.length ? "all" : "some");
				} catch (thrown) {
					if (!(thrown instanceof StorageFailure)) throw thrown;
					results.set(shard, toStorageError(thrown, shard.number));
				}
			},
		),
	);
	return results;
}

function nameOf({ name, key }: LookupKey): string {
	return JSON.stringify([name, key]);
}

/**
 * Changes of one mod shard, each by compare-and-set on its own row, no two of the
 * same key. Each can be repeated without harm, because each reservation has a
 * token of its own. One statement inserts many rows or deletes many, in key
 * order, so that two processes do not deadlock. Returns how many succeeded.
 */
async function changeLookups(
	{ host, database }: Shard,
	changes: readonly LookupChange[],
	options: QueryOptions,
): Promise<number> {
	const table = tableIn(database, "lookups");
	const statements: Sql[] = [];
	const inserts: Scalar[][] = [];
	const deletes: Scalar[][] = [];
	const ordered = changes.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
	for (const { name, key, expect, next } of ordered) {
		if (expect === null) {
			if (next !== null) inserts.push([name, key, BigInt(next.id), next.token]);
		} else if (next === null) {
			deletes.push([name, key, BigInt(expect.id), expect.token]);
		} else {
			statements.push({
				name: "replace lookup",
				text: `UPDATE ${table} SET id = ?, token = ?
					WHERE name = ? AND \`key\` = ? AND id = ? AND token = ?`,
				values: [
					BigInt(next.id),
					next.token,
					name,
					key,
					BigInt(expect.id),
					expect.token,
				],
			});
		}
	}
	for (const some of chunks(inserts, LOOKUPS)) {
		const { text, values } = valuesOf(some);
		statements.push({
			name: "insert lookup",
			text: `INSERT INTO ${table} (${COLUMNS}) VALUES ${text}
				ON DUPLICATE KEY UPDATE id = ${table}.id`,
			values,
		});
	}
	for (const some of chunks(deletes, LOOKUPS)) {
		const condition = anyOf(
			some.map((values) => ({
				text: "name = ? AND `key` = ? AND id = ? AND token = ?",
				values,
			})),
		);
		statements.push({
			name: "delete lookup",
			text: `DELETE FROM ${table} WHERE ${condition.text}`,
			values: condition.values,
		});
	}
	let affected = 0;
	for (const statement of statements) {
		affected += (await host.run(statement, options)).affectedRows;
	}
	return affected;
}
