import type { Model } from "../../model/types.ts";
import type { ShardLocation } from "../driver.ts";
import type { LookupChange, LookupKey, LookupRow } from "../rows.ts";
import { batchedSelect, type Procedure, StatementBatch } from "./batch.ts";
import {
	anyOf,
	chunks,
	type Dialect,
	insertsOf,
	type StatementValue,
	type Write,
} from "./dialect.ts";
import { READS } from "./reads.ts";

/**
 * Changes of one mod shard, each by compare-and-set on its own row, and the rows
 * after them. Each can be repeated without harm, because each reservation has a
 * token of its own. Changes of one key take effect in order: the first change of
 * every key, then the second, and so on.
 */
export function* changeLookups<P extends ShardLocation>(
	dialect: Dialect<P>,
	model: Model,
	location: P,
	changes: readonly LookupChange[],
): Procedure<P, readonly (LookupRow | null)[]> {
	const rows = new Map<LookupChange, LookupRow | null>();
	const met = new Map<string, number>();
	const rounds = Map.groupBy(changes, (change) => {
		const name = nameOf(change);
		const round = met.get(name) ?? 0;
		met.set(name, round + 1);
		return round;
	});
	for (const some of rounds.values()) {
		let affected = 0;
		const batch = new StatementBatch<P>();
		for (const write of writesOf(dialect, location, some)) {
			batch.write(location, write, (written) => {
				affected += written.affected;
			});
		}
		yield batch;
		for (const change of some) {
			const { name, key, next } = change;
			rows.set(change, next === null ? null : { name, key, ...next });
		}
		if (affected === some.length) continue;
		// The rows say whose the keys are.
		const read = new StatementBatch<P>();
		for (const keys of chunks(some, MAX_KEYS)) {
			const [first, ...others] = keys as [LookupChange];
			const select = READS.lookups.select(dialect, model, location, [
				first,
				...others,
			]);
			read.ask(
				location,
				batchedSelect(select, (found) => {
					for (const [at, change] of keys.entries()) {
						rows.set(change, found[at] ?? null);
					}
				}),
			);
		}
		yield read;
	}
	return changes.map((change) => rows.get(change) ?? null);
}

const MAX_KEYS = 500;

function nameOf({ name, key }: LookupKey): string {
	return JSON.stringify([name, key]);
}

/**
 * Applies changes, no two of which have the same key. One statement inserts many rows
 * or deletes many, in key order, so that two processes do not deadlock.
 */
function writesOf<P extends ShardLocation>(
	dialect: Dialect<P>,
	location: P,
	changes: readonly LookupChange[],
): readonly Write[] {
	const table = dialect.table(location, "lookups");
	const keyColumn = dialect.name("key");
	const own = `name = ? AND ${keyColumn} = ? AND id = ? AND token = ?`;
	const writes: Write[] = [];
	const inserts: StatementValue[][] = [];
	const deletes: StatementValue[][] = [];
	const ordered = changes.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
	for (const { name, key, expect, next } of ordered) {
		const row = ({ id, token }: NonNullable<typeof next>) => [
			name,
			key,
			BigInt(id),
			token,
		];
		if (expect === null) {
			if (next !== null) inserts.push(row(next));
		} else if (next === null) {
			deletes.push(row(expect));
		} else {
			writes.push({
				name: "replace lookup",
				text: `UPDATE ${table} SET id = ?, token = ?
					WHERE ${own}`,
				values: [BigInt(next.id), next.token, ...row(expect)],
			});
		}
	}
	writes.push(
		...insertsOf(dialect, {
			name: "insert lookup",
			into: `${table} (name, ${keyColumn}, id, token)`,
			rows: inserts,
			orElse: dialect.orKeep(["name", keyColumn], "id"),
		}),
	);
	for (const some of chunks(deletes, dialect.maxRows)) {
		const { text, values } = anyOf(
			some.map((values) => ({ text: own, values })),
		);
		writes.push({
			name: "delete lookup",
			text: `DELETE FROM ${table} WHERE ${text}`,
			values,
		});
	}
	return writes;
}
