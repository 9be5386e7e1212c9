import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type {
	KeyResult,
	LookupChange,
	LookupKey,
	LookupRow,
} from "../storage.ts";
import { StorageFailure, toStorageError } from "../storageFailure.ts";
import { tableIn } from "./ddl.ts";
import type { Host, QueryOptions } from "./driver/host.ts";
import type { Row, Scalar } from "./driver/mysql2Connection.ts";
import type { Sql } from "./driver/mysqlConnection.ts";
import { chunks, type KeyOnShard, readByHost, type Shard } from "./shards.ts";
import { anyOf, unionAll, valuesOf } from "./sqlFragment.ts";

/** Rows of one statement. */
const ROWS = 500;

const COLUMNS = "name, `key`, id, token";

/** Keys of a call, each on its mod shard. */
export interface LookupCall {
	readonly shardOf: (key: string) => Shard | undefined;
	readonly asked: (shard: Shard) => QueryOptions;
}

export function readLookups(
	keys: readonly LookupKey[],
	{ shardOf, asked }: LookupCall,
): Promise<readonly KeyResult<LookupRow | null>[]> {
	return readByHost<LookupKey, LookupRow | null>(keys, {
		shardOf: ({ key }) => shardOf(key),
		absent: () => null,
		maxKeys: ROWS,
		read: (host, some) =>
			selectLookups(
				host,
				some,
				asked((some[0] as KeyOnShard<LookupKey>).shard),
			),
	});
}

/** Changes in order, as far as they are of one key: the first of each, then the second of each, and so on. */
export async function compareAndSetLookups(
	changes: readonly LookupChange[],
	call: LookupCall,
): Promise<readonly KeyResult<LookupRow | null>[]> {
	const answers = new Array<KeyResult<LookupRow | null>>(changes.length);
	const met = new Map<string, number>();
	const waves = Map.groupBy(changes.keys(), (index) => {
		const name = nameOf(changes[index] as LookupChange);
		const wave = met.get(name) ?? 0;
		met.set(name, wave + 1);
		return wave;
	});
	for (const indexes of waves.values()) {
		const some = indexes.map((index) => changes[index] as LookupChange);
		const outcomes = await changeOnShards(some, call);
		const outcomeOf = ({ key }: LookupKey) => outcomes.get(call.shardOf(key));
		const unsure = indexes.filter(
			(index) => outcomeOf(changes[index] as LookupChange) === "some",
		);
		const rows = await readLookups(
			unsure.map((index) => changes[index] as LookupChange),
			call,
		);
		for (const index of indexes) {
			const change = changes[index] as LookupChange;
			const outcome = outcomeOf(change);
			if (outcome === "all") answers[index] = standing(change);
			else answers[index] = outcome instanceof CorkboardError ? outcome : null;
		}
		unsure.forEach((index, at) => {
			answers[index] = rows[at] as KeyResult<LookupRow | null>;
		});
	}
	return answers;
}

/** The row after a change that took effect. */
function standing({ name, key, next }: LookupChange): LookupRow | null {
	return next === null ? null : { name, key, ...next };
}

/** What became of the changes of a shard. What stands after some that had no effect has to be read. */
type ChangeOutcome = "all" | "some" | CorkboardError;

async function changeOnShards(
	changes: readonly LookupChange[],
	{ shardOf, asked }: LookupCall,
): Promise<ReadonlyMap<Shard | undefined, ChangeOutcome>> {
	const outcomes = new Map<Shard | undefined, ChangeOutcome>();
	await Promise.all(
		[...Map.groupBy(changes, ({ key }) => shardOf(key))].map(
			async ([shard, some]) => {
				if (shard === undefined) return;
				try {
					const affected = await changeLookups(shard, some, asked(shard));
					outcomes.set(shard, affected === some.length ? "all" : "some");
				} catch (thrown) {
					if (!(thrown instanceof StorageFailure)) throw thrown;
					outcomes.set(shard, toStorageError(thrown, shard.number));
				}
			},
		),
	);
	return outcomes;
}

/** Keys of one host in one statement. */
async function selectLookups(
	host: Host,
	keys: readonly KeyOnShard<LookupKey>[],
	asked: QueryOptions,
): Promise<readonly (LookupRow | null)[]> {
	const shards = Map.groupBy(keys, ({ shard }) => shard);
	const rows = await host.rows(
		unionAll(
			"lookups",
			[...shards].map(([{ database }, some]) => {
				const condition = anyOf(
					[...Map.groupBy(some, ({ key }) => key.name)].map(
						([name, named]) => ({
							text: "name = ? AND `key` IN (?)",
							values: [name, named.map(({ key }) => key.key)],
						}),
					),
				);
				return {
					text: `SELECT ${COLUMNS} FROM ${tableIn(database, "lookups")}
						WHERE ${condition.text}`,
					values: condition.values,
				};
			}),
		),
		asked,
	);
	const found = new Map(rows.map(rowOf).map((row) => [nameOf(row), row]));
	return keys.map(({ key }) => found.get(nameOf(key)) ?? null);
}

/** Columns of bytes come as such. */
function rowOf([name, key, id, token]: Row): LookupRow {
	return {
		name: String(name),
		key: String(key),
		id: id as Id,
		token: String(token),
	};
}

function nameOf({ name, key }: LookupKey): string {
	return JSON.stringify([name, key]);
}

/**
 * Changes of one mod shard, each by compare-and-set on its own row: one whose
 * expectation does not hold changes nothing. No two are of the same key. Each
 * may be repeated without harm, because a claim's token is its own. Claims and
 * releases are a statement for many, in the order of the keys, so that two
 * processes do not wait for each other's. Answers how many took effect.
 */
async function changeLookups(
	{ host, database }: Shard,
	changes: readonly LookupChange[],
	asked: QueryOptions,
): Promise<number> {
	const table = tableIn(database, "lookups");
	const statements: Sql[] = [];
	const claims: Scalar[][] = [];
	const releases: Scalar[][] = [];
	const ordered = changes.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
	for (const { name, key, expect, next } of ordered) {
		if (expect === null) {
			if (next !== null) claims.push([name, key, BigInt(next.id), next.token]);
		} else if (next === null) {
			releases.push([name, key, BigInt(expect.id), expect.token]);
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
	for (const some of chunks(claims, ROWS)) {
		const { text, values } = valuesOf(some);
		statements.push({
			name: "insert lookup",
			text: `INSERT INTO ${table} (${COLUMNS}) VALUES ${text}
				ON DUPLICATE KEY UPDATE id = ${table}.id`,
			values,
		});
	}
	for (const some of chunks(releases, ROWS)) {
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
		affected += (await host.run(statement, asked)).affectedRows;
	}
	return affected;
}

export async function walkLookups(
	{ host, database }: Shard,
	after: LookupKey | null,
	limit: number,
	asked: QueryOptions,
): Promise<readonly LookupRow[]> {
	const rows = await host.rows(
		{
			name: "walk lookups",
			text: `SELECT ${COLUMNS} FROM ${tableIn(database, "lookups")}
				WHERE (name = ? AND \`key\` > ?) OR name > ?
				ORDER BY name, \`key\` LIMIT ${limit}`,
			values: [after?.name ?? "", after?.key ?? "", after?.name ?? ""],
		},
		asked,
	);
	return rows.map(rowOf);
}
