import type {
	BinlogColumn,
	BinlogTable,
	ColumnKind,
} from "../../storage/mysql/binlog/binlogTypes.ts";
import type { FleetServer } from "../server/fleetServer.ts";

/** One table that is moved, as its former server has it. */
export interface MovedTable extends BinlogTable {
	/** Columns of the primary key: the order in which it is read. */
	readonly order: readonly BinlogColumn[];
	/** Columns of the shortest unique key: what makes a row the same row after a change. */
	readonly identity: readonly BinlogColumn[];
	/** About how many rows it has, and bytes. */
	readonly rows: number;
	readonly bytes: number;
}

interface MovedTables {
	readonly tables: readonly MovedTable[];
	/** A sentence for each thing that cannot be moved. */
	readonly faults: readonly string[];
}

/** Types whose values are read from a result and from the binary log as the same bytes. */
const KINDS: Readonly<Record<string, ColumnKind>> = {
	tinyint: "number",
	smallint: "number",
	mediumint: "number",
	int: "number",
	bigint: "number",
	varbinary: "bytes",
	tinyblob: "bytes",
	blob: "bytes",
	mediumblob: "bytes",
	longblob: "bytes",
	varchar: "text",
	tinytext: "text",
	text: "text",
	mediumtext: "text",
	longtext: "text",
};

/** All tables of some databases, in the order of their names. */
export async function readMovedTables(
	server: FleetServer,
	databases: readonly string[],
): Promise<MovedTables> {
	if (databases.length === 0) return { tables: [], faults: [] };
	const [found, columns, keys] = await Promise.all([
		server.freshRows(
			"tables",
			`SELECT table_schema, table_name, table_type, engine, table_rows,
				data_length + index_length
				FROM information_schema.tables WHERE table_schema IN (?)
				ORDER BY table_schema, table_name`,
			[databases],
		),
		server.rows(
			"columns",
			`SELECT table_schema, table_name, column_name, data_type, column_type,
				character_set_name, extra
				FROM information_schema.columns WHERE table_schema IN (?)
				ORDER BY table_schema, table_name, ordinal_position`,
			[databases],
		),
		server.rows(
			"keys",
			`SELECT table_schema, table_name, index_name, column_name, sub_part, nullable
				FROM information_schema.statistics
				WHERE table_schema IN (?) AND non_unique = 0
				ORDER BY table_schema, table_name, index_name, seq_in_index`,
			[databases],
		),
	]);
	const nameOf = ([schema, name]: readonly unknown[]) => `${schema}.${name}`;
	const columnsOf = Map.groupBy(columns, nameOf);
	const keysOf = Map.groupBy(keys, nameOf);
	const faults: string[] = [];
	const withTables = new Set(found.map(([schema]) => String(schema)));
	for (const database of databases) {
		if (withTables.has(database)) continue;
		faults.push(`${server.name} has no tables in ${database}.`);
	}
	const tables = found.flatMap((row) => {
		const [database, name, type, engine, rows, bytes] = row;
		const full = nameOf(row);
		if (type !== "BASE TABLE" || engine !== "InnoDB") {
			faults.push(
				`${server.name}: ${full} is no table of InnoDB, and cannot be moved.`,
			);
			return [];
		}
		const own = (columnsOf.get(full) ?? []).map(columnOf);
		for (const { name, type, kind, isComputed } of own) {
			if (kind !== null) continue;
			faults.push(
				isComputed
					? `${server.name}: ${full}.${name} is computed from other columns, which cannot be moved: ALTER TABLE ${full} DROP COLUMN ${name}, and add it again on the other host. An index on the expression can be moved.`
					: `${server.name}: ${full}.${name} is ${type}: columns of this type cannot be moved.`,
			);
		}
		const { order, identity } = keysOfTable(keysOf.get(full) ?? []);
		const named = (names: readonly string[]) =>
			names.flatMap((name) => own.find((column) => column.name === name) ?? []);
		if (order === undefined) {
			faults.push(`${server.name}: ${full} has no primary key.`);
			return [];
		}
		return [
			{
				database: String(database),
				name: String(name),
				columns: own as readonly BinlogColumn[],
				order: named(order) as readonly BinlogColumn[],
				identity: named(identity ?? order) as readonly BinlogColumn[],
				rows: Number(rows ?? 0),
				bytes: Number(bytes ?? 0),
			},
		];
	});
	return { tables, faults };
}

/**
 * A sentence for each trigger and foreign key of some databases. A former copy is
 * renamed into another database, which MySQL refuses for a table with a trigger; and
 * what a foreign key refers to may not be copied yet.
 */
export async function bindingFaults(
	server: FleetServer,
	databases: readonly string[],
): Promise<readonly string[]> {
	const rows = await server.rows(
		"triggers and foreign keys",
		`SELECT event_object_schema, event_object_table, 'TRIGGER', trigger_name
			FROM information_schema.triggers WHERE event_object_schema IN (?)
			UNION ALL SELECT constraint_schema, table_name, 'FOREIGN KEY', constraint_name
			FROM information_schema.referential_constraints WHERE constraint_schema IN (?)
			ORDER BY 1, 2, 4`,
		[databases, databases],
	);
	return rows.map(([schema, table, kind, name]) =>
		kind === "TRIGGER"
			? `${server.name}: ${schema}.${table} has the trigger ${name}, which cannot be moved: DROP TRIGGER ${schema}.${name}, and create it again on the other host.`
			: `${server.name}: ${schema}.${table} has the foreign key ${name}, which cannot be moved: ALTER TABLE ${schema}.${table} DROP FOREIGN KEY ${name}.`,
	);
}

function columnOf([
	,
	,
	name,
	dataType,
	type,
	characterSet,
	extra,
]: readonly unknown[]): Omit<BinlogColumn, "kind"> & {
	readonly kind: ColumnKind | null;
	readonly isComputed: boolean;
} {
	const kind = KINDS[String(dataType)] ?? null;
	// What the server computes is not in every row image.
	const isComputed = /\bGENERATED\b/.test(`${extra}`);
	const isOther =
		isComputed ||
		(kind === "text" && !/^(utf8mb4|utf8mb3|ascii)$/.test(`${characterSet}`));
	return {
		isComputed,
		name: String(name),
		type: String(type),
		kind: isOther ? null : kind,
	};
}

/** Whole columns only, no expressions, none of which may be NULL. */
function keysOfTable(rows: readonly (readonly unknown[])[]): {
	readonly order?: readonly string[] | undefined;
	readonly identity?: readonly string[] | undefined;
} {
	const keys = [...Map.groupBy(rows, ([, , key]) => String(key))].filter(
		([, parts]) =>
			parts.every(
				([, , , column, part, nullable]) =>
					column !== null && part === null && nullable !== "YES",
			),
	);
	const columns = keys.map(([key, parts]) => ({
		key,
		names: parts.map(([, , , name]) => String(name)),
	}));
	const order = columns.find(({ key }) => key === "PRIMARY")?.names;
	const [shortest] = columns.toSorted(
		(a, b) => a.names.length - b.names.length || (a.key === "PRIMARY" ? -1 : 1),
	);
	return { order, identity: shortest?.names };
}

/** Why rows cannot be followed in a server's binary log: a sentence each, with its cure. */
export async function binlogFaults(
	server: FleetServer,
): Promise<readonly string[]> {
	const rows = await server.rows(
		"binary log",
		`SHOW GLOBAL VARIABLES WHERE Variable_name IN (?)`,
		[Object.keys(WANTED)],
	);
	const values = new Map(
		rows.map(([name, value]) => [String(name), String(value)]),
	);
	return Object.entries(WANTED).flatMap(([name, wanted]) => {
		const value = values.get(name);
		if (value === wanted || (value === undefined && name !== "gtid_mode"))
			return [];
		return [
			`${server.name}: ${name} must be ${wanted === "" ? "empty" : wanted} for its binary log to be followed, got ${value ?? "a server that does not have it"}. Set it in its option file, and for new sessions with SET PERSIST.`,
		];
	});
}

const WANTED: Readonly<Record<string, string>> = {
	log_bin: "ON",
	gtid_mode: "ON",
	binlog_format: "ROW",
	binlog_row_image: "FULL",
	binlog_row_value_options: "",
	binlog_transaction_compression: "OFF",
};
