import type { Mapping, Model, ObjectType } from "../../model/types.ts";
import type {
	BinlogColumn,
	BinlogTables,
} from "../../storage/mysql/binlog/binlogTypes.ts";
import { OPS_DATABASE } from "../ferry/ferryState.ts";
import type { ChangedTable, FerryTable, FollowedTable } from "./changesOf.ts";
import type { Selection } from "./selection.ts";

const number = (name: string): BinlogColumn => ({
	name,
	kind: "number",
	type: "bigint unsigned",
});
const bytes = (name: string): BinlogColumn => ({
	name,
	kind: "bytes",
	type: "varbinary(200)",
});
const text = (name: string): BinlogColumn => ({
	name,
	kind: "text",
	type: "mediumtext",
});

type Columns = readonly BinlogColumn[];

const OBJECT_COLUMNS = [number("local_id"), text("data"), number("ts")];
const EDGE_COLUMNS = [
	number("from_id"),
	number("to_id"),
	number("sequence"),
	{ ...number("state"), type: "tinyint unsigned" },
	number("version"),
];

/** Each transaction of a mover changes one of these. */
const FERRY_TABLES: readonly FerryTable[] = [
	{
		database: OPS_DATABASE,
		name: "ferry_streams",
		columns: [
			bytes("name"),
			bytes("runner"),
			text("applied_gtids"),
			number("batches"),
		],
		of: null,
	},
	{
		database: OPS_DATABASE,
		name: "ferry_tables",
		columns: [
			bytes("name"),
			bytes("database_name"),
			bytes("table_name"),
			text("after_key"),
			number("copied_rows"),
			{ ...number("is_copied"), type: "tinyint" },
		],
		of: null,
	},
];

/**
 * The tables to follow, on every server, wherever their shard is now: a log may have
 * changes of shards that have moved away since, or are new. So their columns are
 * those of the model, not of a server.
 */
export function followedTables(
	model: Model,
	{ fields, mappings }: Selection,
): BinlogTables<FollowedTable> {
	const types = [...fields.keys()].flatMap(
		(name) => model.objects.get(name) ?? [],
	);
	const followed = new Map<string, readonly [ObjectType | Mapping, Columns]>([
		...types.map((of) => [of.table, [of, OBJECT_COLUMNS]] as const),
		...[...mappings.values()].map(
			(of) => [of.table, [of, EDGE_COLUMNS]] as const,
		),
	]);
	const known = new Map<string, FollowedTable | undefined>(
		FERRY_TABLES.map((table) => [`${table.database}.${table.name}`, table]),
	);
	const find = (full: string): ChangedTable | undefined => {
		const [, parked, database = "", name = ""] =
			/^(park_)?(db\d{5})\.(.+)$/.exec(full) ?? [];
		const found = followed.get(name);
		if (found === undefined) return undefined;
		const [of, columns] = found;
		return {
			database: `${parked ?? ""}${database}`,
			name,
			columns,
			of,
			shard: Number(database.slice(-5)),
			isParked: parked !== undefined,
		};
	};
	return {
		get(full) {
			// Other tables of a server are not many.
			if (!known.has(full)) known.set(full, find(full));
			return known.get(full);
		},
	};
}
