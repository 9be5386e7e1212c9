import type {
	Product,
	Row,
} from "../../../storage/mysql/driver/mysql2Connection.ts";
import type { Sql } from "../../../storage/mysql/driver/mysqlConnection.ts";
import type { Keep } from "../../rotationStore.ts";
import { jobsTable, rotationsTable } from "../ddl.ts";

/** One queue on one shard; names of tables are quoted. */
export interface RotatedQueue {
	readonly database: string;
	readonly queue: string;
	readonly jobs: string;
	readonly rotations: string;
}

/** Columns of a job but its bucket, in which it is stored anew when it moves. */
const COLUMNS =
	"state, priority, at, claim, attempts, allowed, created_at, unique_key, status, body";

const OUT = "out";

export function rotatedQueue(database: string, queue: string): RotatedQueue {
	return {
		database,
		queue,
		jobs: jobsTable(database, queue),
		rotations: rotationsTable(database),
	};
}

/** The table that holds the span of a bucket while it is swapped out. Without underscores in names of queues it is of one queue. */
export function outTable({ database, queue }: RotatedQueue, bucket: number) {
	return `\`${database}\`.\`${OUT}_${queue}_${bucket}\``;
}

export const NOW = "CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS UNSIGNED)";

/** Columns: partition, the bucket at which it ends, MAXVALUE for the last one. */
export function partitionsOf({ database, queue }: RotatedQueue): Sql {
	return {
		name: `partitions ${queue}`,
		text: `SELECT partition_name, partition_description
			FROM information_schema.partitions
			WHERE table_schema = ? AND table_name = ?
			ORDER BY partition_ordinal_position`,
		values: [database, `jobs_${queue}`],
	};
}

/** Columns: partition, rows, bytes. The rows are an estimate. */
export function sizesOf(
	{ database, queue }: RotatedQueue,
	partitions: readonly string[],
): Sql {
	return {
		name: `sizes of partitions ${queue}`,
		text: `SELECT partition_name, table_rows,
				data_length + index_length + data_free
			FROM information_schema.partitions
			WHERE table_schema = ? AND table_name = ? AND partition_name IN (?)`,
		values: [database, `jobs_${queue}`, partitions],
	};
}

/** Columns: table, rows, bytes. */
export function outTablesOf({ database, queue }: RotatedQueue): Sql {
	return {
		name: `out tables ${queue}`,
		text: `SELECT table_name, table_rows, data_length + index_length + data_free
			FROM information_schema.tables
			WHERE table_schema = ? AND table_name LIKE ?`,
		values: [database, `${OUT}\\_${queue}\\_%`],
	};
}

/** Columns: file, bytes. It takes the privilege PROCESS. */
export function filesOf(
	{ database, queue }: RotatedQueue,
	product: Product,
): Sql {
	const files =
		product === "MySQL" ? "innodb_tablespaces" : "innodb_sys_tablespaces";
	return {
		name: `files ${queue}`,
		text: `SELECT name, file_size FROM information_schema.${files}
			WHERE name LIKE ? OR name LIKE ?`,
		values: [
			`${database}/jobs\\_${queue}#%`,
			`${database}/${OUT}\\_${queue}\\_%`,
		],
	};
}

/** Column: bytes of the queue's files, null if there are none. It takes the privilege PROCESS. */
export function filesTogether(tables: RotatedQueue, product: Product): Sql {
	const { database, queue } = tables;
	const { text, values } = filesOf(tables, product);
	return {
		name: `bytes of files ${queue}`,
		text: `${text.replace("name, file_size", "SUM(file_size)")} OR name = ?`,
		values: [...values, `${database}/keys_${queue}`],
	};
}

/** Column: bytes of the queue's tables by the server's estimate. */
export function tablesTogether({ database, queue }: RotatedQueue): Sql {
	return {
		name: `bytes of tables ${queue}`,
		text: `SELECT SUM(data_length + index_length + data_free)
			FROM information_schema.tables
			WHERE table_schema = ?
				AND (table_name IN (?) OR table_name LIKE ?)`,
		values: [
			database,
			[`jobs_${queue}`, `keys_${queue}`],
			`${OUT}\\_${queue}\\_%`,
		],
	};
}

export function outBucket(table: unknown): number {
	return Number(String(table).split("_").at(-1));
}

/** Which rows are to be kept, of a table named `j`. With all three priorities, so that the index serves `at`. */
function kept({ succeededAfter, failedAfter }: Keep): readonly string[] {
	const ended = (state: number, after: number) =>
		`j.state = ${state} AND j.priority IN (1, 2, 3) AND j.at > ${literal(after)}`;
	return [
		"j.state = 0",
		"j.state = 1",
		ended(2, succeededAfter),
		ended(3, failedAfter),
	];
}

/** A time or a count as text of SQL: partitions are chosen by literals. */
function literal(value: number): string {
	return String(Math.max(0, Math.floor(value)));
}

/** Rows of jobs: of a partition, or of an out table. */
export type Source =
	| { readonly partition: string }
	| { readonly outBucket: number };

function from(tables: RotatedQueue, source: Source): string {
	return "partition" in source
		? `${tables.jobs} PARTITION (${source.partition}) AS j`
		: `${outTable(tables, source.outBucket)} AS j`;
}

/** Columns: which source, whether it has no row, and rows to be kept by state, counted up to the cap. A branch for each. */
export function countKept(
	tables: RotatedQueue,
	sources: readonly { readonly source: Source; readonly cap: number }[],
	keep: Keep,
): Sql {
	const branches = sources.map(({ source, cap }, at) => {
		const rows = from(tables, source);
		const counts = kept(keep).map(
			(condition) =>
				`(SELECT COUNT(*) FROM (SELECT 1 FROM ${rows} FORCE INDEX (queue)
					WHERE ${condition} LIMIT ${literal(cap)}) AS c)`,
		);
		return `SELECT ${at}, NOT EXISTS (SELECT 1 FROM ${rows}), ${counts.join(", ")}`;
	});
	return {
		name: `count kept ${tables.queue}`,
		text: branches.join("\nUNION ALL "),
		values: [],
	};
}

/**
 * Locks rows that are to be kept. Columns: id in hexadecimal, bucket, state, at. Of a span only those that nobody claims or has claimed; an out table gives
 * all that it has, and waits for who changes one.
 */
export function selectKept(
	tables: RotatedQueue,
	source: Source,
	keep: Keep,
	limit: number,
): Sql {
	const isSpan = "partition" in source;
	const conditions = kept(keep).filter(
		(condition) => !(isSpan && condition === "j.state = 1"),
	);
	return {
		name: `select kept ${tables.queue}`,
		text: `SELECT HEX(j.local_id), j.bucket, j.state, j.at
			FROM ${from(tables, source)} FORCE INDEX (queue)
			WHERE ${conditions.map((condition) => `(${condition})`).join(" OR ")}
			LIMIT ${literal(limit)} FOR UPDATE${isSpan ? " SKIP LOCKED" : ""}`,
		values: [],
	};
}

/** A row that `selectKept` returned. */
export interface KeptRow {
	/** Hexadecimal digits. */
	readonly local: string;
	readonly bucket: number;
	readonly state: number;
	/** Microseconds. */
	readonly at: number;
}

export function toKeptRow([local, bucket, state, at]: Row): KeptRow {
	return {
		local: String(local),
		bucket: Number(bucket),
		state: Number(state),
		at: Number(at),
	};
}

/** Which of these ids are among the jobs, in whatever bucket. */
export function findIds(tables: RotatedQueue, rows: readonly KeptRow[]): Sql {
	return {
		name: `find ids ${tables.queue}`,
		text: `SELECT HEX(j.local_id) FROM ${tables.jobs} AS j FORCE INDEX (PRIMARY)
			WHERE j.local_id IN (${idsOf(rows)})`,
		values: [],
	};
}

/** Stores rows again, in another bucket. */
export function storeAgain(
	tables: RotatedQueue,
	source: Source,
	rows: readonly KeptRow[],
	bucket: number,
): Sql {
	return {
		name: `store again ${tables.queue}`,
		text: `INSERT INTO ${tables.jobs} (local_id, bucket, ${COLUMNS})
			SELECT local_id, ${literal(bucket)}, ${COLUMNS}
			FROM ${from(tables, source)} FORCE INDEX (PRIMARY)
			WHERE (${ownRows(rows)})`,
		values: [],
	};
}

export function deleteRows(
	tables: RotatedQueue,
	source: Source,
	rows: readonly KeptRow[],
): Sql {
	// DELETE takes no alias together with a partition on every server.
	const table =
		"partition" in source ? tables.jobs : outTable(tables, source.outBucket);
	return {
		name: `delete moved ${tables.queue}`,
		text: `DELETE FROM ${table} WHERE ${ownRows(rows)}`,
		values: [],
	};
}

/** Rows by primary key, those of a bucket together, so that one partition is asked. */
function ownRows(rows: readonly KeptRow[]): string {
	return [...Map.groupBy(rows, ({ bucket }) => bucket)]
		.map(
			([bucket, some]) =>
				`(bucket = ${literal(bucket)} AND local_id IN (${idsOf(some)}))`,
		)
		.join(" OR ");
}

function idsOf(rows: readonly KeptRow[]): string {
	return rows.map(({ local }) => hex(local)).join(", ");
}

function hex(digits: string): string {
	return `x'${digits}'`;
}

/** The statement that creates an out table: the same columns and indexes as the jobs have, which EXCHANGE PARTITION requires. */
export function createOut(
	tables: RotatedQueue,
	bucket: number,
	shown: unknown,
): string {
	const text = String(shown);
	const partitioned = /\n\s*(?:\/\*!\d+ )?PARTITION BY /.exec(text);
	const begin = text.indexOf("(");
	if (partitioned === null || begin < 0) {
		throw new TypeError(
			`expected a partitioned table ${tables.jobs} but got: ${text.slice(0, 80)}`,
		);
	}
	return `CREATE TABLE ${outTable(tables, bucket)} ${text.slice(begin, partitioned.index)}`;
}
