import { setTimeout as sleep } from "node:timers/promises";
import type { Pace } from "../../util/pace.ts";
import type { FleetServer } from "../server/fleetServer.ts";
import type { MovedTable } from "./movedTables.ts";
import type { Patiently } from "./patience.ts";
import {
	cellsOf,
	hashOf,
	inGroups,
	isBetween,
	isOneOf,
	type Key,
	keyOf,
	listOf,
	rowLiteral,
	tableIn,
} from "./rowSql.ts";
import type { TouchedKey, TouchedKeys } from "./touchedKeys.ts";

/** A row that is not the same on both servers, though no change of it is under way. */
export interface Difference {
	/** `db00256.pins`, as on the source. */
	readonly table: string;
	/** `local_id 7` */
	readonly key: string;
	readonly kind: "missing on the target" | "only on the target" | "differs";
}

export interface CompareOptions {
	/** The primary: what clients see. */
	readonly source: FleetServer;
	readonly target: FleetServer;
	readonly databaseOf: (table: MovedTable) => string;
	readonly touched: TouchedKeys;
	/** Waits so long for the target to have all of a set. Returns whether it has. */
	readonly caughtUp: (gtids: string, ms: number) => Promise<boolean>;
	readonly pace: Pace;
	readonly patiently: Patiently;
	readonly signal: AbortSignal;
	readonly onRows: (rows: number) => void;
	readonly onDifference: (difference: Difference) => void;
}

/** Rows of one hash. */
const CHUNK_ROWS = 5_000;
/** Keys that are read again together. */
const KEYS = 2_000;
/** How often a row has to differ, with nothing under way, to be a difference: the log is sent before its transaction shows. */
const LOOKS = 3;
const LOOK_MS = 100;

/**
 * Compares a table chunk by chunk. The servers need not stand at one point: rows
 * of a chunk that has not the same hash on both are only noted, to be read again.
 */
export async function compareTable(
	options: CompareOptions,
	table: MovedTable,
): Promise<void> {
	const { pace, patiently, signal, onRows } = options;
	let after: Key | null = null;
	do {
		const from: Key | null = after;
		const done: Chunk = await patiently(() =>
			compareChunk(options, table, from),
		);
		onRows(done.rows);
		await pace.take(done.rows, 0, signal);
		after = done.upTo;
	} while (after !== null);
}

interface Chunk {
	readonly rows: number;
	/** Its last row; null: it is the last chunk. */
	readonly upTo: Key | null;
}

async function compareChunk(
	options: CompareOptions,
	table: MovedTable,
	after: Key | null,
): Promise<Chunk> {
	const { source, target, databaseOf, touched } = options;
	const hash = hashOf(table);
	// The target says where it ends: the source serves clients.
	const upTo = await endOfChunk(target, databaseOf(table), table, after);
	const range = isBetween(table.order, after, upTo);
	const [own, other] = await Promise.all([
		hashOfRange(source, table.database, table, hash, range),
		hashOfRange(target, databaseOf(table), table, hash, range),
	]);
	if (own.count !== other.count || own.hash !== other.hash) {
		const [own, other] = await Promise.all([
			hashesOfRows(source, table.database, table, hash, range),
			hashesOfRows(target, databaseOf(table), table, hash, range),
		]);
		for (const [id, { key, hash }] of new Map([...other, ...own])) {
			const isSame = other.get(id)?.hash === hash && own.has(id);
			if (!isSame) touched.touch(table, key, true);
		}
	}
	return { rows: own.count, upTo };
}

/** The last key of the next chunk of a server; null: it is the last chunk. */
async function endOfChunk(
	server: FleetServer,
	database: string,
	table: MovedTable,
	after: Key | null,
): Promise<Key | null> {
	const { order } = table;
	const [row] = await server.rows(
		"end of chunk",
		`SELECT ${listOf(order)} FROM ${tableIn(database, table)} FORCE INDEX (PRIMARY)
			WHERE ${isBetween(order, after, null)}
			ORDER BY ${listOf(order)} LIMIT 1 OFFSET ${CHUNK_ROWS - 1}`,
	);
	if (row === undefined) return null;
	return keyOf(cellsOf(row, order), { ...table, columns: order }, order);
}

async function hashOfRange(
	server: FleetServer,
	database: string,
	table: MovedTable,
	hash: string,
	range: string,
): Promise<{ readonly count: number; readonly hash: string }> {
	const [count, all] = await server.row(
		"hash of chunk",
		`SELECT COUNT(*), BIT_XOR(${hash}) FROM ${tableIn(database, table)} FORCE INDEX (PRIMARY) WHERE ${range}`,
	);
	return { count: Number(count), hash: String(all) };
}

async function hashesOfRows(
	server: FleetServer,
	database: string,
	table: MovedTable,
	hash: string,
	range: string,
): Promise<ReadonlyMap<string, { readonly key: Key; readonly hash: string }>> {
	const { identity } = table;
	const rows = await server.rows(
		"hashes of rows",
		`SELECT ${listOf(identity)}, ${hash} FROM ${tableIn(database, table)} FORCE INDEX (PRIMARY) WHERE ${range}`,
	);
	return new Map(
		rows.map((row) => {
			const cells = cellsOf(row, identity);
			const key = keyOf(cells, { ...table, columns: identity }, identity);
			return [key.join(), { key, hash: String(row.at(-1)) }];
		}),
	);
}

/**
 * Reads rows on both servers: on the source, then, once the target has all that the
 * source had by then, on the target. Those that are the same are done with. One
 * that differs is a difference if no change touched it meanwhile, several times.
 */
export async function compareKeys(
	options: CompareOptions,
	keys: readonly TouchedKey[],
	ms: number,
): Promise<void> {
	const { source, target, databaseOf, touched, caughtUp } = options;
	for (const some of inGroups(keys, KEYS)) {
		const mark = touched.change;
		const byTable = Map.groupBy(some, ({ table }) => table);
		const own = await rowsOf(source, byTable, ({ database }) => database);
		const executed = await source.executed();
		// Not in time: they are looked at later.
		if (!(await caughtUp(executed, ms))) return;
		const other = await rowsOf(target, byTable, databaseOf);
		for (const touchedKey of some) {
			const { table, key, change } = touchedKey;
			const there = other.get(table)?.get(key.join());
			const here = own.get(table)?.get(key.join());
			// Touched since: it comes again.
			if (change > mark || !touched.isLatest(touchedKey)) continue;
			if (here === there) touched.delete(touchedKey);
			else if (++touchedKey.looks >= LOOKS) {
				touched.delete(touchedKey);
				options.onDifference({
					table: `${table.database}.${table.name}`,
					key: table.identity
						.map(({ name }, at) => `${name} ${key[at]}`)
						.join(", "),
					kind:
						there === undefined
							? "missing on the target"
							: here === undefined
								? "only on the target"
								: "differs",
				});
			}
		}
		if (some.some(({ looks }) => looks > 0)) {
			await sleep(LOOK_MS, undefined, { signal: options.signal });
		}
	}
}

async function rowsOf(
	server: FleetServer,
	keys: ReadonlyMap<MovedTable, readonly TouchedKey[]>,
	databaseOf: (table: MovedTable) => string,
): Promise<ReadonlyMap<MovedTable, ReadonlyMap<string, string>>> {
	const found = await Promise.all(
		[...keys].map(async ([table, some]) => {
			const rows = new Map<string, string>();
			for (const group of inGroups(some)) {
				const { columns, identity } = table;
				const read = await server.rows(
					"rows by key",
					`SELECT ${listOf(columns)} FROM ${tableIn(databaseOf(table), table)}
						WHERE ${isOneOf(
							identity,
							group.map(({ key }) => key),
						)}`,
				);
				for (const row of read) {
					const cells = cellsOf(row, columns);
					rows.set(
						keyOf(cells, table, identity).join(),
						rowLiteral(cells, columns),
					);
				}
			}
			return [table, rows] as const;
		}),
	);
	return new Map(found);
}
