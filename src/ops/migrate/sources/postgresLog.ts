import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../../errors.ts";
import { reasonOf } from "../../../util/reasonOf.ts";
import type { Row } from "../mapping.ts";
import { LOG_IDLE_MS, LOG_ROWS, type RowImage, type SourceLog } from "./log.ts";
import { PgoutputReader, parseLsn } from "./pgoutput.ts";
import type { SqlConnection } from "./sqlSource.ts";
import type { Statement } from "./sqlText.ts";

interface PostgresLogOptions {
	/** The publication and the slot have this name. */
	readonly name: string;
	readonly schema: string;
	readonly shownUrl: string;
	/** The tables that are followed. */
	readonly tables: ReadonlyMap<
		string,
		{
			readonly keyColumns: readonly string[];
			/** Those that say which edge a row is; none for rows that are found by their key. */
			readonly edgeColumns: readonly string[];
		}
	>;
	/** A connection of its own, with this limit of a statement. */
	connect(statementMs: number): Promise<SqlConnection>;
	/** Errors for which a new connection may do. */
	isLost(error: unknown): boolean;
}

/** Decoding reads all that the server wrote, even to other tables. Milliseconds. */
const DECODE_MS = 600_000;
/** A slot begins when the transactions have ended that are open now. Milliseconds. */
const BEGIN_MS = 120_000;
/** The server decodes for at most a fifth of the time, on one of its cores. A slow answer may have other reasons: so there is a limit. */
const REST = 4;
const LONGEST_REST_MS = 10_000;
const FETCH = 5_000;
/** The first version that publishes a table with partitions as one table. */
const VIA_ROOT = 130_000;
const OUTAGE_MS = 60_000;
/** Between two tries at a slot that somebody reads. */
const IN_USE_MS = 500;

/** Whether somebody else reads from the slot: another runner, or what PostgreSQL still does for one that was killed. */
function isInUse(thrown: unknown): boolean {
	return (thrown as { readonly code?: string }).code === "55006";
}

/**
 * Asks a replication slot for what it has, by functions of SQL: every account of
 * PostgreSQL can be given that, a pooler does no harm, and no more comes than is
 * taken. `confirm` moves the slot, so that the server keeps no more than it has to.
 */
export function openPostgresLog(options: PostgresLogOptions): SourceLog {
	const { name, schema, tables } = options;
	let connection: SqlConnection | null = null;
	async function run(statement: Statement): Promise<readonly Row[]> {
		try {
			connection ??= await options.connect(DECODE_MS);
			return await connection.query(statement);
		} catch (thrown) {
			if (options.isLost(thrown)) {
				await connection?.close().catch(() => {});
				connection = null;
			}
			throw thrown;
		}
	}
	async function ask(text: string, values: readonly unknown[] = []) {
		const until = performance.now() + OUTAGE_MS;
		for (;;) {
			try {
				return await run({ text, values });
			} catch (thrown) {
				if (!isInUse(thrown) || performance.now() > until) {
					throw translated(thrown, options);
				}
				await sleep(IN_USE_MS);
			}
		}
	}
	return {
		check: () => check(ask, options),
		async begin() {
			await dropSlot(ask, name);
			const own = await options.connect(BEGIN_MS);
			try {
				const [row] = await own.query({
					text: "SELECT lsn::text AS lsn FROM pg_create_logical_replication_slot($1, 'pgoutput')",
					values: [name],
				});
				return String(row?.lsn);
			} catch (thrown) {
				throw translated(thrown, options);
			} finally {
				await own.close().catch(() => {});
			}
		},
		async end() {
			const [row] = await ask("SELECT pg_current_wal_lsn()::text AS lsn");
			return String(row?.lsn);
		},
		has: (position, wanted) => parseLsn(position) >= parseLsn(wanted),
		async *read(after, signal) {
			await requireSlot(ask, options, after);
			let lastAt = performance.now();
			let begun = parseLsn(after);
			while (!signal.aborted) {
				const startedAt = performance.now();
				try {
					const [row] = await ask(
						"SELECT pg_current_wal_flush_lsn()::text AS lsn",
					);
					let hasSome = false;
					for await (const batch of decode(run, options)) {
						hasSome = true;
						if (batch.position !== null) begun = parseLsn(batch.position);
						yield batch;
					}
					lastAt = performance.now();
					// What was written to other tables is not needed either.
					const end = String(row?.lsn);
					const position = !hasSome && parseLsn(end) > begun ? end : null;
					if (position !== null) begun = parseLsn(position);
					yield { images: [], position, at: null };
				} catch (thrown) {
					const mayPass =
						isInUse(thrown) ||
						options.isLost((thrown as Error).cause ?? thrown);
					if (!mayPass || performance.now() - lastAt > OUTAGE_MS) {
						throw translated(thrown, options);
					}
				}
				const took = performance.now() - startedAt;
				const rest = Math.min(
					LONGEST_REST_MS,
					Math.max(LOG_IDLE_MS, REST * took),
				);
				await sleep(rest, undefined, { signal }).catch(() => {});
			}
			signal.throwIfAborted();
		},
		settle: async () => {},
		async confirm(position) {
			await ask(
				`SELECT pg_replication_slot_advance(slot_name, $2::pg_lsn) FROM pg_replication_slots
					WHERE slot_name = $1 AND confirmed_flush_lsn < $2::pg_lsn`,
				[name, position],
			);
		},
		drop: () => dropSlot(ask, name),
		async [Symbol.asyncDispose]() {
			await connection?.close().catch(() => {});
		},
	};

	async function* decode(
		query: (statement: Statement) => Promise<readonly Row[]>,
		{ shownUrl }: Pick<PostgresLogOptions, "shownUrl">,
	) {
		const reader = new PgoutputReader(schema);
		const say = (text: string, values: readonly unknown[] = []) =>
			query({ text, values });
		// A cursor: the rows of a large transaction do not fit into memory.
		await say("BEGIN");
		try {
			await say(
				`DECLARE changes NO SCROLL CURSOR FOR SELECT data FROM pg_logical_slot_peek_binary_changes(
					$1, NULL, ${LOG_ROWS}, 'proto_version', '1', 'publication_names', $2)`,
				[name, `"${name}"`],
			);
			for (;;) {
				const rows = await say(`FETCH ${FETCH} FROM changes`);
				if (rows.length === 0) break;
				const images: RowImage[] = [];
				let position: string | null = null;
				let at: number | null = null;
				for (const { data } of rows) {
					const message = reader.read(data as Buffer);
					if (message.kind === "rows") {
						images.push(...message.images);
						if (message.images.length > 0) position = null;
					} else if (message.kind === "commit") {
						position = message.end;
						at = message.at;
					} else if (message.kind === "truncate") {
						const truncated = message.tables.filter((table) =>
							tables.has(table),
						);
						if (truncated.length === 0) continue;
						throw new CorkboardError(
							"CONFLICT",
							`${shownUrl}: ${truncated.join(", ")} was truncated.`,
						);
					}
				}
				yield { images, position, at };
			}
		} finally {
			await say("ROLLBACK").catch(() => {});
		}
	}
}

type Ask = (
	text: string,
	values?: readonly unknown[],
) => Promise<readonly Row[]>;

/** Returns what the log lacks. Throws BAD_CONFIG with the statements that are to be run. */
async function check(
	ask: Ask,
	{ name, schema, shownUrl, tables }: PostgresLogOptions,
): Promise<readonly string[]> {
	const [server] = await ask(
		"SELECT current_setting('wal_level') AS level, pg_is_in_recovery() AS standby, current_user AS account, current_setting('server_version_num') AS version",
	);
	if (server?.level !== "logical") {
		throw new CorkboardError(
			"BAD_CONFIG",
			`${shownUrl} cannot be followed: set wal_level = logical (now ${server?.level}), restart it, and begin again. Without that, repeat migrate run, with and without --changed.`,
		);
	}
	if (server.standby === true) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`${shownUrl} is a standby: name its primary as source of the mapping to follow it.`,
		);
	}
	const wanted = [...tables.keys()];
	const found = await ask(
		`SELECT c.relname AS table, c.relreplident AS identity, c.relkind AS kind,
				(SELECT array_agg(a.attname::text) FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
					WHERE i.indrelid = c.oid AND (CASE WHEN c.relreplident = 'i' THEN i.indisreplident ELSE i.indisprimary END)) AS columns,
				(SELECT array_agg(g.column_name::text) FROM information_schema.columns g
					WHERE g.table_schema = $2 AND g.table_name = c.relname AND g.is_generated = 'ALWAYS') AS generated,
				EXISTS (SELECT 1 FROM pg_publication_tables p WHERE p.pubname = $1 AND p.schemaname = $2 AND p.tablename = c.relname)
					OR EXISTS (SELECT 1 FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid WHERE p.pubname = $1 AND r.prrelid = c.oid) AS published
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = $2 AND c.relname = ANY ($3)`,
		[name, schema, wanted],
	);
	const facts = new Map(found.map((row) => [String(row.table), row]));
	const quoted = (table: string) => `"${schema}"."${table}"`;
	const statements: string[] = [];
	const gaps: string[] = [];
	const missing: string[] = [];
	let hasPartitions = false;
	for (const [table, { keyColumns, edgeColumns }] of tables) {
		const fact = facts.get(table);
		const has = (fact?.columns ?? []) as readonly string[];
		const isPartitioned = fact?.kind === "p";
		if (isPartitioned && Number(server.version) < VIA_ROOT) {
			gaps.push(
				`${table} has partitions, which a PostgreSQL before 13 does not publish as one table: passes find its changes.`,
			);
			continue;
		}
		if (fact !== undefined && fact.kind !== "r" && !isPartitioned) {
			gaps.push(
				`${table} is a view, which has no log: passes find its changes. To follow it, name the tables that it is made of (log) in the mapping.`,
			);
			continue;
		}
		const unknown = edgeColumns.filter((column) => !has.includes(column));
		const isKnown = unknown.length === 0;
		if (isPartitioned && (has.length === 0 || !isKnown)) {
			// An identity would have to be set for each partition, also for those to come.
			gaps.push(
				`Rows of ${table} that are changed or deleted are found by full passes only: it has partitions, and no primary key of ${[...keyColumns, ...edgeColumns].join(", ")}.`,
			);
			continue;
		}
		hasPartitions ||= isPartitioned;
		if (fact?.published !== true) missing.push(table);
		const generated = ((fact?.generated ?? []) as readonly string[]).filter(
			(column) => keyColumns.includes(column) || edgeColumns.includes(column),
		);
		if (generated.length > 0) {
			gaps.push(
				`The log has no generated columns, and ${table} is known by ${generated.join(", ")}: full passes find its changes.`,
			);
		}
		if (fact?.identity === "f") continue;
		const full = `ALTER TABLE ${quoted(table)} REPLICA IDENTITY FULL;`;
		if (fact?.identity === "n" || has.length === 0) {
			// Published without one, the server would refuse updates and deletes of the old application.
			statements.push(full);
		} else if (!isKnown) {
			gaps.push(
				`Rows of ${table} that are deleted, or get another ${unknown.join(" or ")}, are found by full passes only, because the log has nothing of what they were but ${has.join(", ")}. To follow them, run there: ${full}`,
			);
		}
	}
	const [publication] = await ask(
		"SELECT to_jsonb(p) ->> 'pubviaroot' AS via_root FROM pg_publication p WHERE pubname = $1",
		[name],
	);
	const isThere = publication !== undefined;
	if (missing.length > 0) {
		const list = missing.map(quoted).join(", ");
		const viaRoot = hasPartitions
			? " WITH (publish_via_partition_root = true)"
			: "";
		statements.push(
			isThere
				? `ALTER PUBLICATION "${name}" ADD TABLE ${list};`
				: `CREATE PUBLICATION "${name}" FOR TABLE ${list}${viaRoot};`,
		);
	}
	// Else the log names the partition, and not the table.
	const isByPartition =
		isThere && hasPartitions && publication.via_root !== "true";
	if (isByPartition) {
		statements.push(
			`ALTER PUBLICATION "${name}" SET (publish_via_partition_root = true);`,
		);
	}
	if (missing.length > 0 || !isThere || isByPartition) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`${shownUrl} does not publish what is to be followed. Run there, as the owner of the tables:\n${statements.map((statement) => `  ${statement}`).join("\n")}\nand let ${server.account} read the log: ALTER ROLE "${server.account}" REPLICATION (Amazon RDS: GRANT rds_replication TO "${server.account}"). migrate finish, or migrate run --unfollow, removes what the server keeps for this.${gaps.map((gap) => `\n${gap}`).join("")}`,
		);
	}
	return gaps;
}

async function dropSlot(ask: Ask, name: string): Promise<void> {
	await ask(
		"SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1",
		[name],
	);
}

async function requireSlot(
	ask: Ask,
	{ name, shownUrl }: PostgresLogOptions,
	after: string,
): Promise<void> {
	const [slot] = await ask(
		"SELECT confirmed_flush_lsn::text AS flushed, restart_lsn IS NULL AS lost FROM pg_replication_slots WHERE slot_name = $1",
		[name],
	);
	if (slot === undefined || slot.lost === true) {
		throw new CorkboardError(
			"CONFLICT",
			`${shownUrl} keeps no log for the slot ${name} any more: it was dropped, another server has the name now, or max_slot_wal_keep_size was too small.`,
		);
	}
	if (parseLsn(String(slot.flushed)) > parseLsn(after)) {
		throw new CorkboardError(
			"CONFLICT",
			`The slot ${name} of ${shownUrl} is at ${slot.flushed}, and ${after} was read last: somebody else read from it.`,
		);
	}
}

function translated(
	thrown: unknown,
	{ name, shownUrl }: Pick<PostgresLogOptions, "name" | "shownUrl">,
): unknown {
	if (thrown instanceof CorkboardError) return thrown;
	const { code } = thrown as { code?: string };
	const reason = reasonOf(thrown);
	const error = (
		kind: "BAD_CONFIG" | "CONFLICT" | "UNAVAILABLE",
		text: string,
	) => new CorkboardError(kind, `${shownUrl} ${text}`, { cause: thrown });
	switch (code) {
		case "42501":
			return error(
				"BAD_CONFIG",
				`does not let this account read its log (${reason}). Run there: ALTER ROLE the account REPLICATION (Amazon RDS: GRANT rds_replication TO the account).`,
			);
		case "53400":
			return error(
				"BAD_CONFIG",
				`has no replication slot left (${reason}): raise max_replication_slots, or drop one that nobody uses (SELECT * FROM pg_replication_slots).`,
			);
		case "55006":
			return error(
				"UNAVAILABLE",
				`has another reader of the slot ${name}: only one migrate run --follow can run (${reason}).`,
			);
		case "57014":
			return error(
				"UNAVAILABLE",
				"did not answer in time: a slot begins when all transactions have ended that are open now. Look for old ones: SELECT pid, xact_start, query FROM pg_stat_activity ORDER BY xact_start. End them, and run the same command again.",
			);
		case "55000":
		case "42704":
		case "58P01":
			return error("CONFLICT", `cannot continue with its log: ${reason}`);
		default:
			return error(
				"UNAVAILABLE",
				`does not answer: ${reason} Run the same command again when it does: it resumes.`,
			);
	}
}
