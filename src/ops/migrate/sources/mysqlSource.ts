import type { TypeCastField, TypeCastNext } from "mysql2";
import { loadWhenUsed } from "../../../util/loadWhenUsed.ts";
import type { Row } from "../mapping.ts";
import { bitNumber, openMysqlLog, statusOf } from "./mysqlLog.ts";
import type { SqlConnection, SqlDriver } from "./sqlSource.ts";

const driver = loadWhenUsed<typeof import("mysql2/promise")>("mysql2/promise");

const CONNECT_MS = 10_000;
const STATEMENT_MS = 120_000;

const LOST = new Set([
	"PROTOCOL_CONNECTION_LOST",
	"PROTOCOL_SEQUENCE_TIMEOUT",
	"ECONNREFUSED",
	"ECONNRESET",
	"EPIPE",
	"ETIMEDOUT",
	"ER_SERVER_SHUTDOWN",
	"ER_CON_COUNT_ERROR",
]);

/** MySQL or MariaDB, by an account that may only read. */
export function mysqlDriver(url: string, database: string): SqlDriver {
	return {
		name: "MySQL",
		spelling: {
			quote: (name) => `\`${name.replaceAll("`", "``")}\``,
			place: () => "?",
			asText: (column) => `CAST(${column} AS CHAR)`,
		},
		columnsQuery: `
			SELECT c.TABLE_NAME AS \`table\`, c.COLUMN_NAME AS name,
				c.COLUMN_TYPE AS type, c.IS_NULLABLE AS nullable,
				c.COLUMN_KEY = 'PRI' AS \`key\`, c.CHARACTER_SET_NAME AS character_set,
				(SELECT MIN(k.REFERENCED_TABLE_NAME) FROM information_schema.KEY_COLUMN_USAGE k
					WHERE k.TABLE_SCHEMA = c.TABLE_SCHEMA AND k.TABLE_NAME = c.TABLE_NAME
					AND k.COLUMN_NAME = c.COLUMN_NAME) AS leads_to
			FROM information_schema.COLUMNS c WHERE c.TABLE_SCHEMA = DATABASE()
			ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`,
		estimateQuery: (table) => ({
			text: "SELECT TABLE_ROWS AS estimate FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?",
			values: [table],
		}),
		rank: rankOf,
		async connect() {
			const connection = await driver().createConnection({
				uri: url,
				connectTimeout: CONNECT_MS,
				charset: "utf8mb4",
				// Dates of zeros, and times of any zone, as they are.
				dateStrings: true,
				supportBigNumbers: true,
				typeCast: (field: TypeCastField, next: TypeCastNext) =>
					field.type === "BIT" ? bitNumber(field.buffer()) : next(),
				multipleStatements: false,
			});
			// Without a listener a connection that breaks between statements would end the process.
			connection.on("error", () => {});
			const query = async (sql: string, values: readonly unknown[]) => {
				const [rows] = await connection.query({
					sql,
					values: [...values],
					timeout: STATEMENT_MS,
				});
				return rows as readonly Row[];
			};
			try {
				// TIMESTAMP columns are read in UTC then.
				await query("SET time_zone = '+00:00'", []);
				await query("SET SESSION TRANSACTION READ ONLY", []);
			} catch (error) {
				connection.destroy();
				throw error;
			}
			return {
				query: ({ text, values }) => query(text, values),
				close: async () => connection.destroy(),
			};
		},
		openLog: ({ shownUrl, tables, query }) =>
			openMysqlLog({
				url,
				database,
				shownUrl,
				query,
				tables: new Map(
					[...tables].map(([name, { columns }]) => [name, columns]),
				),
			}),
		async lag(query) {
			const row = await replicaStatus(query);
			const seconds =
				row?.Seconds_Behind_Source ?? row?.Seconds_Behind_Master ?? null;
			return seconds === null ? null : Number(seconds);
		},
		async takesWrites(query) {
			const [row] = await query({
				text: "SELECT @@GLOBAL.read_only AS isReadOnly",
				values: [],
			});
			if (["0", "OFF"].includes(String(row?.isReadOnly))) {
				return "takes writes. Run there: SET GLOBAL super_read_only = ON (MariaDB: SET GLOBAL read_only = ON).";
			}
			return (await isReplica(query))
				? "is a replica: its source may take writes. Name that one as source of the mapping, or stop the replica when it has everything (STOP REPLICA)."
				: null;
		},
		openSessions: async () => null,
		async writeMark(query) {
			const [row] = await query({
				text: "SELECT @@GLOBAL.log_bin AS hasLog",
				values: [],
			});
			const place =
				Number(row?.hasLog) === 1
					? await statusOf(query).catch(() => null)
					: null;
			if (place !== null) return `${place.File} ${place.Position}`;
			const counters = await query({
				text: "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_rows_inserted', 'Innodb_rows_updated', 'Innodb_rows_deleted')",
				values: [],
			});
			return counters.map(({ Value }) => String(Value)).join(" ");
		},
		isLost: (error) => LOST.has(codeOf(error)),
		adviceOn(error) {
			const { message } = error as Error;
			switch (codeOf(error)) {
				case "ER_ACCESS_DENIED_ERROR":
					return "refuses the user or the password of its URL.";
				case "ER_DBACCESS_DENIED_ERROR":
				case "ER_TABLEACCESS_DENIED_ERROR":
				case "ER_COLUMNACCESS_DENIED_ERROR":
					return `does not let this account read (${message}). Run there: GRANT SELECT ON ${database}.* TO the account.`;
				case "ER_BAD_DB_ERROR":
					return `has no database ${database}: correct the end of its URL.`;
				case "ER_PARSE_ERROR":
				case "ER_BAD_FIELD_ERROR":
				case "ER_NO_SUCH_TABLE":
					return `does not understand the mapping: ${message}.`;
				default:
					return null;
			}
		},
	};
}

/**
 * MySQL orders values of ENUM and SET by their numbers, and compares them with texts
 * as texts: a page that begins after a text would leave rows out. It compares bits
 * with the digits of a text.
 */
function rankOf(type: string, value: string | number): string | number {
	const [, kind = "", list = ""] =
		/^(enum|set|bit)\((.*)\)$/is.exec(type) ?? [];
	const names = [...list.matchAll(/'((?:[^']|'')*)'/g)].map(([, name = ""]) =>
		name.replaceAll("''", "'"),
	);
	switch (kind.toLowerCase()) {
		case "bit":
			return Number(value);
		case "enum":
			return names.indexOf(String(value)) + 1;
		case "set":
			return String(value)
				.split(",")
				.map((name) => (names.includes(name) ? 2 ** names.indexOf(name) : 0))
				.reduce((sum, bit) => sum + bit, 0);
		default:
			return value;
	}
}

/** Null if it follows no other server, or this account may not ask. */
async function replicaStatus(
	query: SqlConnection["query"],
): Promise<Row | null> {
	for (const text of ["SHOW REPLICA STATUS", "SHOW SLAVE STATUS"]) {
		try {
			const [row] = await query({ text, values: [] });
			return row ?? null;
		} catch {}
	}
	return null;
}

async function isReplica(query: SqlConnection["query"]): Promise<boolean> {
	const row = await replicaStatus(query);
	return (row?.Replica_SQL_Running ?? row?.Slave_SQL_Running) === "Yes";
}

function codeOf(error: unknown): string {
	return (error as { readonly code?: string }).code ?? "";
}
