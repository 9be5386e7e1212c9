import { setTimeout as sleep } from "node:timers/promises";
import type { SslOptions } from "mysql2";
import { CorkboardError } from "../../../errors.ts";
import { readBinlog } from "../../../storage/mysql/binlog/binlogReader.ts";
import type {
	BinlogPlace,
	BinlogTable,
	BinlogTransaction,
	Cell,
	Cells,
	ColumnKind,
} from "../../../storage/mysql/binlog/binlogTypes.ts";
import { refusalOf } from "../../../storage/mysql/binlog/queryEvents.ts";
import { GtidSet } from "../../../storage/mysql/driver/gtidSet.ts";
import type { ServerAddress } from "../../../storage/mysql/driver/mysql2Connection.ts";
import { reasonOf } from "../../../util/reasonOf.ts";
import type { Row } from "../mapping.ts";
import { LOG_IDLE_MS, LOG_ROWS, type RowImage, type SourceLog } from "./log.ts";
import type { Column } from "./source.ts";
import type { Statement } from "./sqlText.ts";

/** What has to be set, as `SHOW GLOBAL VARIABLES` prints it. A server without the last two does as if. */
const WANTED: Readonly<Record<string, string>> = {
	log_bin: "ON",
	binlog_format: "ROW",
	binlog_row_image: "FULL",
	binlog_row_value_options: "",
	binlog_transaction_compression: "OFF",
};

const SETTLE_MS = 250;
const SETTLE_TRIES = 240;

interface MysqlLogOptions {
	/** The URL of the database. */
	readonly url: string;
	readonly database: string;
	readonly shownUrl: string;
	/** The tables that are followed, with their columns. */
	readonly tables: ReadonlyMap<string, readonly Column[]>;
	query(statement: Statement): Promise<readonly Row[]>;
}

/**
 * Follows by GTIDs if the server gives some to its transactions, because they
 * are the same on all servers, and else by the place in its files.
 */
export async function openMysqlLog(
	options: MysqlLogOptions,
): Promise<SourceLog> {
	const { database, shownUrl, query } = options;
	const variables = await query({
		text: "SHOW GLOBAL VARIABLES WHERE Variable_name IN (?)",
		values: [[...Object.keys(WANTED), "gtid_mode"]],
	});
	const values = new Map(
		variables.map((row) => [String(row.Variable_name), String(row.Value)]),
	);
	const isByGtid = values.get("gtid_mode") === "ON";
	const followed: BinlogTable[] = [...options.tables].map(
		([name, columns]) => ({
			database,
			name,
			columns: columns.map((column) => ({
				name: column.name,
				type: column.type,
				kind: kindOf(column.type),
				characterSet: column.characterSet ?? null,
			})),
		}),
	);
	const names = new Set(followed.map(({ name }) => name));

	async function end(): Promise<string> {
		if (isByGtid) {
			const [row] = await query({
				text: "SELECT REPLACE(@@GLOBAL.gtid_executed, '\\n', '') AS gtids",
				values: [],
			});
			return `${row?.gtids}`;
		}
		const row = await binlogStatus(options);
		const place = { file: String(row.File), position: Number(row.Position) };
		return JSON.stringify({ ...place, server: await serverOf(query) });
	}

	return {
		async check() {
			const wrong = Object.entries(WANTED).flatMap(([name, wanted]) => {
				const value = values.get(name);
				return value === undefined || value === wanted
					? []
					: [`${name} = ${wanted === "" ? "''" : wanted} (now ${value})`];
			});
			if (wrong.length > 0) {
				throw new CorkboardError(
					"BAD_CONFIG",
					`${shownUrl} cannot be followed: set ${wrong.join(", ")} in its option file, restart it, and begin again. Without that, repeat migrate run, with and without --changed.`,
				);
			}
			await binlogStatus(options);
			const views = await query({
				text: "SELECT TABLE_NAME AS name FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (?)",
				values: [[...names]],
			});
			return [
				...views.map(
					({ name }) =>
						`${name} is a view, which has no log: passes find its changes. To follow it, name the tables that it is made of (log) in the mapping.`,
				),
				...(await cascades(options, [...names])),
			];
		},
		begin: end,
		end,
		has(position, wanted) {
			if (isByGtid) {
				return new GtidSet(position).contains(new GtidSet(wanted));
			}
			const [own, other] = [placeOf(position), placeOf(wanted)];
			const [nth, other_] = [numberOf(own.file), numberOf(other.file)];
			return nth > other_ || (nth === other_ && own.position >= other.position);
		},
		async *read(after, signal) {
			const isPlace = after.startsWith("{");
			if (isPlace === isByGtid && after !== "") {
				throw new CorkboardError(
					"CONFLICT",
					`${shownUrl} ${isByGtid ? "has GTIDs now" : "has no GTIDs any more"}, so that the place in its binary log is not known.`,
				);
			}
			const gtids = new GtidSet(isPlace ? "" : after);
			const server = isPlace ? await serverOf(query) : "";
			if (isPlace && placeOf(after).server !== server) {
				throw new CorkboardError(
					"CONFLICT",
					`${shownUrl} is another server than before: its binary log has other positions.`,
				);
			}
			try {
				for await (const transactions of buffered(options, followed, {
					after: isPlace ? placeOf(after) : after,
					hasAll: isByGtid,
					signal,
					refusalOf: (statement) =>
						statement.schema === database ||
						statement.query.match(/[\w$]+/g)?.includes(database)
							? refusalOf({ ...statement, schema: "" }, names)
							: null,
				})) {
					let position: string | null = null;
					const last = transactions.at(-1);
					for (const { gtid, isComplete } of transactions) {
						if (isByGtid && isComplete) gtids.add(gtid);
					}
					if (last === undefined || last.isComplete) {
						position = isByGtid
							? gtids.toString()
							: last === undefined
								? null
								: JSON.stringify({ ...last.end, server });
					}
					const images = transactions.flatMap(({ rows }) =>
						rows.flatMap(({ table, before, after }): RowImage[] => [
							...imageOf(table, before, true),
							...imageOf(table, after, false),
						]),
					);
					yield { images, position, at: last?.at ?? null };
				}
			} catch (thrown) {
				throw translated(thrown, shownUrl);
			}
		},
		async settle(position) {
			if (!isByGtid) return;
			// A semi-synchronous source sends a transaction before it shows it.
			for (let tries = 0; tries < SETTLE_TRIES; tries++) {
				const [row] = await query({
					text: "SELECT GTID_SUBTRACT(?, @@GLOBAL.gtid_executed) AS hidden",
					values: [position],
				});
				if (row?.hidden === "") return;
				await sleep(SETTLE_MS);
			}
		},
		confirm: async () => {},
		drop: async () => {},
		async [Symbol.asyncDispose]() {},
	};
}

/** Before 9.6 MySQL does not log what foreign keys delete and change, and MariaDB never does. */
async function cascades(
	{ query }: MysqlLogOptions,
	tables: readonly string[],
): Promise<readonly string[]> {
	const [server] = await query({
		text: "SELECT VERSION() AS version",
		values: [],
	});
	const version = String(server?.version);
	const [major = 0, minor = 0] = version.split(".").map(Number);
	const isLogged = major > 9 || (major === 9 && minor >= 6);
	if (isLogged && !/mariadb/i.test(version)) return [];
	const rows = await query({
		text: `SELECT TABLE_NAME AS child, REFERENCED_TABLE_NAME AS parent
			FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()
			AND TABLE_NAME IN (?) AND (DELETE_RULE NOT IN ('RESTRICT', 'NO ACTION') OR UPDATE_RULE NOT IN ('RESTRICT', 'NO ACTION'))`,
		values: [tables],
	});
	return rows.map(
		({ child, parent }) =>
			`What a foreign key changes in ${child} when a row of ${parent} goes (CASCADE, SET NULL) is not in the log of this server: full passes find it.`,
	);
}

async function binlogStatus({ query, shownUrl }: MysqlLogOptions) {
	const row = await statusOf(query).catch((thrown) => {
		throw translated(thrown, shownUrl);
	});
	if (row !== null) return row;
	throw new CorkboardError(
		"BAD_CONFIG",
		`${shownUrl} writes no binary log: set log_bin in its option file, restart it, and begin again.`,
	);
}

/** The end of the binary log; null without one. */
export async function statusOf(
	query: MysqlLogOptions["query"],
): Promise<Row | null> {
	let refusal: unknown;
	for (const text of ["SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"]) {
		try {
			const [row] = await query({ text, values: [] });
			return row ?? null;
		} catch (thrown) {
			const { code } =
				((thrown as Error).cause as { code?: string } | undefined) ?? {};
			// Servers before 8.2, and MariaDB, know the other statement.
			if (code !== "ER_PARSE_ERROR") throw thrown;
			refusal = thrown;
		}
	}
	throw refusal;
}

/** What readBinlog yields, gathered; nothing, if nothing came for some time. */
async function* buffered(
	{ url }: MysqlLogOptions,
	tables: readonly BinlogTable[],
	options: Omit<Parameters<typeof readBinlog>[1], "tables">,
): AsyncGenerator<readonly BinlogTransaction[]> {
	const stopping = new AbortController();
	const signal = AbortSignal.any([
		stopping.signal,
		options.signal ?? stopping.signal,
	]);
	let waiting: BinlogTransaction[] = [];
	let rows = 0;
	let failure: unknown = null;
	let changed = Promise.withResolvers<void>();
	const reading = (async () => {
		const log = readBinlog(addressOf(url), { ...options, tables, signal });
		for await (const some of log) {
			waiting.push(...some);
			rows += some.reduce((sum, { rows }) => sum + rows.length, 0);
			changed.resolve();
			while (rows > LOG_ROWS && !signal.aborted) {
				await sleep(20, undefined, { signal });
			}
		}
	})().catch((thrown) => {
		failure = thrown;
		changed.resolve();
	});
	try {
		for (;;) {
			const timer = setTimeout(() => changed.resolve(), LOG_IDLE_MS);
			await changed.promise;
			clearTimeout(timer);
			options.signal?.throwIfAborted();
			const some = waiting;
			waiting = [];
			rows = 0;
			changed = Promise.withResolvers();
			if (some.length > 0 || failure === null) yield some;
			if (failure !== null) throw failure;
		}
	} finally {
		stopping.abort();
		await reading;
	}
}

/** Values as a SELECT gives them, as far as mappings compare them in `only`. Times are not read. */
function imageOf(
	{ name, columns }: BinlogTable,
	cells: Cells | null,
	isBefore: boolean,
): readonly RowImage[] {
	if (cells === null) return [];
	const row = Object.fromEntries(
		columns.map(({ name, kind, type }, at) => [
			name,
			/^bit\b/.test(type)
				? bitNumber(cells[at] as Buffer | null)
				: readCell(cells[at], kind),
		]),
	);
	return [{ table: name, row, isBefore }];
}

function readCell(cell: Cell | undefined, kind: ColumnKind): unknown {
	if (cell === null || cell === undefined || kind !== "number") return cell;
	const number = Number(cell);
	return Number.isSafeInteger(number) ? number : cell;
}

/** The number that a column of type BIT holds: as text if it is a large one. */
export function bitNumber(bits: Buffer | null): number | string | null {
	if (bits === null) return null;
	const number = BigInt(`0x0${bits.toString("hex")}`);
	return number <= Number.MAX_SAFE_INTEGER ? Number(number) : String(number);
}

function kindOf(type: string): ColumnKind {
	if (/^(?:(?:tiny|small|medium|big)?int|year)\b/.test(type)) return "number";
	return /blob|binary|^bit/.test(type) ? "bytes" : "text";
}

/** A place means something on its server only. */
interface Place extends BinlogPlace {
	readonly server: string;
}

function placeOf(position: string): Place {
	return JSON.parse(position) as Place;
}

/** MariaDB has no UUID. */
async function serverOf(query: MysqlLogOptions["query"]): Promise<string> {
	const rows = await query({
		text: "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_id', 'server_uuid', 'hostname')",
		values: [],
	});
	return rows.map(({ Value }) => String(Value)).join(" ");
}

/** `binlog.000042` */
function numberOf(file: string): number {
	return Number(/\d+$/.exec(file)?.[0] ?? 0);
}

function addressOf(text: string): ServerAddress {
	const url = new URL(text);
	const ssl = url.searchParams.get("ssl");
	const password = decodeURIComponent(url.password);
	return {
		host: url.hostname,
		port: Number(url.port || 3306),
		user: decodeURIComponent(url.username),
		password: () => password,
		name: url.host,
		ssl: ssl === null ? null : (JSON.parse(ssl) as SslOptions),
		isLossless: false,
	};
}

function translated(thrown: unknown, shownUrl: string): unknown {
	const reason = reasonOf(thrown);
	const { code } = ((thrown as Error).cause ?? {}) as { code?: string };
	if (
		code === "ER_SPECIFIC_ACCESS_DENIED_ERROR" ||
		/privilege\(s\)|Access denied/.test(reason)
	) {
		return new CorkboardError(
			"BAD_CONFIG",
			`${shownUrl} does not let this account read its binary log. Run there: GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO the account.`,
			{ cause: thrown },
		);
	}
	return thrown;
}
