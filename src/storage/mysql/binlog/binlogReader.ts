import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../../errors.ts";
import { GtidSet } from "../driver/gtidSet.ts";
import type { ServerAddress } from "../driver/mysql2Connection.ts";
import {
	BinlogConnection,
	type BinlogConnectionOptions,
	BinlogLost,
} from "./binlogConnection.ts";
import type {
	BinlogPlace,
	BinlogTable,
	BinlogTables,
	BinlogTransaction,
} from "./binlogTypes.ts";
import { refusalOf } from "./queryEvents.ts";

export interface BinlogOptions<Table extends BinlogTable> {
	/** A set of GTIDs: the server sends exactly what is not in it. Or a place in its files, for servers without GTIDs. */
	readonly after: string | BinlogPlace;
	/** Ends when all of this set was received (default: never). */
	readonly until?: string;
	/** With a function of names, statements that change tables have to be passed over. */
	readonly tables: readonly Table[] | BinlogTables<Table>;
	readonly signal?: AbortSignal;
	/** See `BinlogConnectionOptions`. */
	readonly silenceMs?: number;
	/** How long the server may be away. Milliseconds. */
	readonly outageMs?: number;
	/** Whether statements that change the tables are passed over; rows are read with the columns that are given. */
	readonly ignoresDdl?: boolean;
	/** Why rows cannot be followed past a statement (default: those that change a table of the databases). */
	readonly refusalOf?: BinlogConnectionOptions<Table>["refusalOf"];
	/** Whether the server has to have all of `after`, and all that it sent, whenever it is asked: another one may have its name by now. */
	readonly hasAll?: boolean;
}

const SILENCE_MS = 5_000;
const OUTAGE_MS = 60_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/**
 * The transactions of a server's binary log that a set of GTIDs lacks, in their
 * order, each whole and at least once: after a lost connection the one that was
 * under way comes again from its beginning. Throws UNAVAILABLE if the server is
 * away for too long, CONFLICT if its log cannot be followed: a transaction is
 * missing, tables were changed, rows were not logged as whole rows.
 */
export async function* readBinlog<Table extends BinlogTable>(
	address: ServerAddress,
	options: BinlogOptions<Table>,
): AsyncGenerator<readonly BinlogTransaction<Table>[], void, undefined> {
	const {
		silenceMs = SILENCE_MS,
		outageMs = OUTAGE_MS,
		signal = new AbortController().signal,
		ignoresDdl = false,
		hasAll = false,
	} = options;
	const known = "get" in options.tables ? [] : options.tables;
	const tables =
		"get" in options.tables
			? options.tables
			: new Map(
					known.map((table) => [`${table.database}.${table.name}`, table]),
				);
	const databases = new Set(known.map(({ database }) => database));
	const isByGtid = typeof options.after === "string";
	const received = new GtidSet(isByGtid ? (options.after as string) : "");
	let place = options.after;
	const wanted =
		options.until === undefined ? null : new GtidSet(options.until);
	const isDone = () => wanted !== null && received.contains(wanted);
	let lastAt = performance.now();
	let pauseMs = FIRST_PAUSE_MS;
	while (!isDone()) {
		const connection = await BinlogConnection.open(address, {
			tables,
			after: isByGtid ? received.toString() : place,
			silenceMs,
			refusalOf: ignoresDdl
				? () => null
				: (options.refusalOf ??
					((statement) => refusalOf(statement, databases))),
			hasAll,
		});
		try {
			while (!isDone()) {
				const transactions = await connection.next(signal);
				for (const { gtid, isComplete, end } of transactions) {
					if (!isByGtid) {
						if (isComplete) place = end;
						continue;
					}
					if (!received.hasPredecessorOf(gtid)) {
						throw new CorkboardError(
							"CONFLICT",
							`Its binary log lacks the transaction before ${gtid}.`,
						);
					}
					if (isComplete) received.add(gtid);
				}
				yield transactions;
				pauseMs = FIRST_PAUSE_MS;
			}
		} catch (thrown) {
			if (thrown instanceof CorkboardError) {
				throw new CorkboardError(
					thrown.code,
					`${address.name}: ${thrown.message}`,
					{ cause: thrown },
				);
			}
			if (!(thrown instanceof BinlogLost)) throw thrown;
			lastAt = Math.max(lastAt, connection.lastEventAt);
			if (performance.now() - lastAt > outageMs) {
				throw new CorkboardError(
					"UNAVAILABLE",
					`${address.name}, binary log: ${thrown.message}; not back after ${Math.round(outageMs / 1_000)} s.`,
					{ cause: thrown },
				);
			}
			await sleep(pauseMs, undefined, { signal });
			pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
		} finally {
			await connection[Symbol.asyncDispose]();
		}
	}
}
