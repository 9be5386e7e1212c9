import { loadWhenUsed } from "../../../util/loadWhenUsed.ts";
import type { Row } from "../mapping.ts";
import { openPostgresLog } from "./postgresLog.ts";
import type { SqlConnection, SqlDriver } from "./sqlSource.ts";

const driver = loadWhenUsed<typeof import("pg")>("pg");

const CONNECT_MS = 10_000;
const STATEMENT_MS = 120_000;

/** `date`, `timestamp`, `timestamptz`: as the server writes them, because a Date would take them for times of this machine's zone. */
const TIMES = new Set([1082, 1114, 1184]);
/** SQLSTATE classes of lost connections: connection exceptions, too many connections, shutdown. */
const LOST = /^(?:08|53300|57P0[123])/;
const LOST_SYSTEM = new Set([
	"ECONNREFUSED",
	"ECONNRESET",
	"EPIPE",
	"ETIMEDOUT",
]);

/** PostgreSQL, by an account that may only read. The schema is `public`, or `?schema=` of the URL. */
export function postgresDriver(given: string, database: string): SqlDriver {
	const url = new URL(given);
	const schema = url.searchParams.get("schema") ?? "public";
	url.searchParams.delete("schema");
	async function connect(statementMs = STATEMENT_MS): Promise<SqlConnection> {
		const { Client, types } = driver();
		const client = new Client({
			connectionString: url.href,
			connectionTimeoutMillis: CONNECT_MS,
			// The server's limit is the first one.
			query_timeout: statementMs + CONNECT_MS,
			statement_timeout: statementMs,
			types: {
				getTypeParser: (type: number, format?: "text" | "binary") =>
					TIMES.has(type)
						? (text: string) => text
						: types.getTypeParser(type, format),
			},
		});
		client.on("error", () => {});
		await client.connect();
		const query = async (text: string, values: readonly unknown[] = []) =>
			(await client.query<Row>({ text, values: [...values] })).rows;
		await query("SET default_transaction_read_only = on");
		await query("SET TIME ZONE 'UTC'");
		await query("SET datestyle = 'ISO'");
		await query("SELECT set_config('search_path', $1, false)", [schema]);
		return {
			query: ({ text, values }) => query(text, values),
			close: () => client.end(),
		};
	}
	return {
		name: "PostgreSQL",
		spelling: {
			quote: (name) => `"${name.replaceAll('"', '""')}"`,
			place: (n) => `$${n}`,
			asText: (column) => `${column}::text`,
		},
		columnsQuery: `
			SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
				CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END AS nullable,
				CASE WHEN EXISTS (SELECT 1 FROM pg_constraint p WHERE p.conrelid = c.oid
					AND p.contype = 'p' AND a.attnum = ANY (p.conkey)) THEN 1 ELSE 0 END AS key,
				(SELECT MIN(t.relname) FROM pg_constraint f JOIN pg_class t ON t.oid = f.confrelid
					WHERE f.conrelid = c.oid AND f.contype = 'f' AND a.attnum = ANY (f.conkey)) AS leads_to
			FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
				JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
				AND a.attnum > 0 AND NOT a.attisdropped
			ORDER BY c.relname, a.attnum`,
		estimateQuery: (table) => ({
			text: "SELECT reltuples::bigint AS estimate FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND relname = $1",
			values: [table],
		}),
		connect: () => connect(),
		openLog: async ({ shownUrl, name, tables }) =>
			openPostgresLog({
				...{ name, schema, shownUrl, connect, isLost },
				tables: new Map(
					[...tables].map(([table, { edgeColumns }]) => [table, edgeColumns]),
				),
			}),
		isLost,
		adviceOn(error) {
			const { code = "", message } = error as {
				code?: string;
				message: string;
			};
			switch (code) {
				case "28P01":
				case "28000":
					return "refuses the user or the password of its URL.";
				case "42501":
					return `lets this account not read (${message}). Run there: GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO the account.`;
				case "3D000":
					return `has no database ${database}: correct the end of its URL.`;
				case "42601":
				case "42703":
				case "42P01":
				case "22P02":
					return `does not understand the mapping: ${message}.`;
				default:
					return null;
			}
		},
	};
}

function isLost(error: unknown): boolean {
	const { code = "", message } = error as {
		code?: string;
		message: string;
	};
	return (
		LOST.test(code) ||
		LOST_SYSTEM.has(code) ||
		/Connection terminated|timeout exp|read timeout|not queryable/.test(message)
	);
}
