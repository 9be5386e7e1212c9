import { loadWhenUsed } from "../../../util/loadWhenUsed.ts";
import type { Row } from "../mapping.ts";
import { openPostgresLog } from "./postgresLog.ts";
import type { SqlConnection, SqlDriver } from "./sqlSource.ts";

const driver = loadWhenUsed<typeof import("pg")>("pg");

const CONNECT_MS = 10_000;
const STATEMENT_MS = 120_000;

/** `date`, `timestamp`, `timestamptz`: as the server writes them, because a Date would take them for times of this machine's zone. */
const TIMES = new Set([1082, 1114, 1184]);
/** Sessions of migrations have this name there. */
const APPLICATION = "corkboard migrate";
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
		/** Statements run one after the other: `pg` will refuse a second one at a time. */
		let last: Promise<unknown> = Promise.resolve();
		const query = (text: string, values: readonly unknown[] = []) => {
			const next = last.then(
				async () =>
					(await client.query<Row>({ text, values: [...values] })).rows,
			);
			last = next.catch(() => {});
			return next;
		};
		await query("SET default_transaction_read_only = on");
		await query("SELECT set_config('application_name', $1, false)", [
			APPLICATION,
		]);
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
		rank: (_, value) => value,
		estimateQuery: (table) => ({
			text: "SELECT reltuples::bigint AS estimate FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND relname = $1 AND relkind <> 'v'",
			values: [table],
		}),
		connect: () => connect(),
		openLog: async ({ shownUrl, name, tables }) =>
			openPostgresLog({
				name,
				schema,
				shownUrl,
				connect,
				isLost,
				tables,
			}),
		async lag(query) {
			const [row] = await query({
				text: `SELECT CASE WHEN NOT pg_is_in_recovery() THEN (SELECT max(extract(epoch FROM replay_lag)) FROM pg_stat_replication)
					WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
					ELSE extract(epoch FROM now() - pg_last_xact_replay_timestamp()) END AS seconds`,
				values: [],
			});
			const seconds = row?.seconds ?? null;
			return seconds === null ? null : Number(seconds);
		},
		async takesWrites(query) {
			const [row] = await query({
				text: `SELECT pg_is_in_recovery() AS standby,
					reset_val = 'on' AND NOT EXISTS (SELECT 1 FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole
						WHERE r.rolname = current_user AND array_to_string(s.setconfig, ' ') LIKE '%default_transaction_read_only%') AS readonly
					FROM pg_settings WHERE name = 'default_transaction_read_only'`,
				values: [],
			});
			if (row?.standby === true) {
				return "is a standby: its primary may take writes. Name that one as source of the mapping.";
			}
			// Sessions that are older do not take the setting.
			const [open] = await query({
				text: `SELECT DISTINCT l.pid, c.relname AS table FROM pg_locks l
					JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace
					WHERE l.mode = 'RowExclusiveLock' AND l.granted AND l.pid <> pg_backend_pid()
					AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
					AND c.relkind = 'r' AND n.nspname = current_schema() ORDER BY 1, 2 LIMIT 1`,
				values: [],
			});
			const [prepared] = await query({
				text: `SELECT gid, quote_literal(gid) AS quoted, owner FROM pg_prepared_xacts
					WHERE database = current_database() ORDER BY prepared, gid LIMIT 1`,
				values: [],
			});
			if (row?.readonly === true && prepared !== undefined) {
				const { gid, quoted, owner } = prepared;
				return `has a prepared transaction ${gid} of ${owner}: wait for its end, or run there: ROLLBACK PREPARED ${quoted};`;
			}
			if (row?.readonly === true && open !== undefined) {
				const { pid, table } = open;
				return `has an open transaction that writes to ${table}: wait for its end, or run there: SELECT pg_terminate_backend(${pid});`;
			}
			return row?.readonly === true
				? null
				: `takes writes. Run there: ALTER DATABASE "${database}" SET default_transaction_read_only = on; then end the sessions that are older: SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND pid <> pg_backend_pid();`;
		},
		async openSessions(query) {
			// A setting of the database is known by the transaction that made it, one of a file by when it was read.
			const [row] = await query({
				text: `SELECT coalesce(string_agg(s.xmin::text, ' ' ORDER BY s.xmin::text), pg_conf_load_time()::text) AS setting
					FROM pg_db_role_setting s LEFT JOIN pg_database d ON d.oid = s.setdatabase
					WHERE s.setrole = 0 AND (s.setdatabase = 0 OR d.datname = current_database())
					AND array_to_string(s.setconfig, ' ') LIKE '%default_transaction_read_only%'`,
				values: [],
			});
			// An account that may only read sees no type, start, address or state of sessions of others.
			const sessions = await query({
				text: `SELECT pid, application_name AS application, usename AS account, host(client_addr) AS address,
						state, date_trunc('second', state_change)::text AS since
					FROM pg_stat_activity WHERE datname = current_database() AND usename IS NOT NULL
					AND pid <> pg_backend_pid() AND application_name <> $1
					AND coalesce(backend_type, 'client backend') = 'client backend'
					AND pid NOT IN (SELECT pid FROM pg_stat_replication)
					ORDER BY backend_start, pid`,
				values: [APPLICATION],
			});
			return {
				setting: String(row?.setting),
				sessions: sessions.map(
					({ pid, application, account, address, state, since }) => {
						const parts = [
							`user ${account}`,
							...(application ? [application] : []),
							...(address ? [address] : []),
							...(state ? [`${state} since ${since}`] : []),
						];
						return {
							pid: Number(pid),
							shown: `${pid} (${parts.join(", ")})`,
						};
					},
				),
			};
		},
		async writeMark(query, tables) {
			const [row] = await query({
				text: `SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::text AS writes
					FROM pg_stat_user_tables WHERE schemaname = current_schema() AND relname = ANY ($1)`,
				values: [tables],
			});
			return String(row?.writes);
		},
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
					return `does not let this account read (${message}). Run there: GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO the account.`;
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
