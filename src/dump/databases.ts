import { CorkboardError } from "../errors.ts";
import { RESERVED_LOOKUPS } from "../model/reservedNames.ts";
import type { Model } from "../model/types.ts";
import { FEED_SHARDS } from "../storage/feedShards.ts";
import { modShard } from "../storage/modShard.ts";
import { databaseOf } from "../storage/mysql/ddl.ts";
import type { LookupKey } from "../storage/rows.ts";
import {
	LOOKUPS,
	MOD_SHARD_TABLES,
	OUTBOX,
	shardTables,
	type Table,
} from "../storage/statements/tables.ts";
import { shardsOf } from "../topology/ranges.ts";
import type { HostRange, Topology } from "../topology/types.ts";

/** A database of the fleet that a dump has: a shard, its feed lists if they are apart, or a mod shard. */
export interface Database {
	/** `db00042`, `feed00042`, `mod00007` */
	readonly name: string;
	readonly kind: "db" | "feed" | "mod";
	/** The shard in ids, or the mod shard. */
	readonly number: number;
	/** The number by which entries of the outbox name it. */
	readonly storageShard: number;
	readonly range: HostRange;
	/** The tables in the order in which they are restored. */
	readonly tables: readonly Table[];
}

/** All databases of a topology, in the order of kind and number. Jobs and pools are no part of the graph. */
export function databasesOf(
	{ shards, lookups, feeds = [] }: Topology,
	model: Model,
): readonly Database[] {
	const withFeed = new Set(shardsOf(feeds));
	const of = (kind: Database["kind"], ranges: readonly HostRange[]) =>
		ranges.flatMap((range) =>
			shardsOf([range]).map((number) => ({
				name: databaseOf(kind, number),
				kind,
				number,
				storageShard: kind === "feed" ? number + FEED_SHARDS : number,
				range,
				tables: tablesOf(model, kind, withFeed.has(number)),
			})),
		);
	return [...of("db", shards), ...of("feed", feeds), ...of("mod", lookups)];
}

function tablesOf(
	model: Model,
	kind: Database["kind"],
	hasFeed: boolean,
): readonly Table[] {
	if (kind === "mod") return MOD_SHARD_TABLES;
	const tables = shardTables(
		model,
		kind === "feed" ? "feed" : hasFeed ? "dbBesideFeed" : "db",
	);
	return [...tables, OUTBOX];
}

/** Rows of this table that are no part of the graph, by the values of a column; null: all are. */
export function besideGraph({ name }: Table): {
	readonly column: string;
	readonly values: readonly string[];
} | null {
	const { restoreState, graphId } = RESERVED_LOOKUPS;
	return name === LOOKUPS.name
		? { column: "name", values: [restoreState, graphId] }
		: null;
}

/** The mod shard of a lookup. Throws BAD_TOPOLOGY if no host has it. */
export function placeOfLookup(
	databases: readonly Database[],
	{ key }: LookupKey,
): Database {
	const modShards = databases.filter(({ kind }) => kind === "mod");
	const number = modShard(key, modShards.length);
	const found = modShards.find((each) => each.number === number);
	if (found !== undefined) return found;
	throw new CorkboardError("BAD_TOPOLOGY", `No host has mod shard ${number}.`);
}

/** The columns of a table's primary key. */
export function keyOf({ primaryKey }: Table): readonly string[] {
	return primaryKey ?? ["local_id"];
}

/** Whether a column holds text; all others hold whole numbers of up to 64 bits. */
export function isText({ columns }: Table, column: string): boolean {
	return TEXTS.has(columns[column] ?? "number");
}

const TEXTS: ReadonlySet<string> = new Set([
	"json",
	"modelName",
	"key",
	"token",
	"error",
]);
