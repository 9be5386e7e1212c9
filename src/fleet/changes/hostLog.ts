import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type {
	BinlogTables,
	BinlogTransaction,
	RowChange,
} from "../../storage/mysql/binlog/binlogTypes.ts";
import type { FleetServer } from "../server/fleetServer.ts";
import type { FollowedTable } from "./changesOf.ts";

type Transaction = BinlogTransaction<FollowedTable>;

interface HostLogOptions {
	readonly server: FleetServer;
	readonly tables: BinlogTables<FollowedTable>;
	/** The transactions behind which it is read, as a set of GTIDs: asked anew for each connection. Throws UNAVAILABLE. */
	readonly after: () => Promise<string>;
	/** Called with whole transactions, in the order of the log, one call at a time. */
	readonly take: (
		log: HostLog,
		transactions: readonly Transaction[],
	) => Promise<void>;
	/** Called with each failure, before it tries again. */
	readonly onFailure: (server: string, reason: string) => void;
	readonly signal: AbortSignal;
}

/** Between two tries to read the log of a server that does not answer. Milliseconds. */
const AGAIN_MS = 500;
/** How long it is waited for within one try. */
const OUTAGE_MS = 5_000;

/** The binary log of one server, for as long as the map names it as a primary. */
export class HostLog {
	readonly #options: HostLogOptions;
	/** When the last transaction that was read was committed. Milliseconds since 1970. */
	at = 0;
	/** What was committed before this was given out, as far as is known; at first, when this began. Milliseconds since 1970. */
	givenUpTo = Date.now();
	/** When the transaction was committed that waits for another log; null: none does. */
	waitingAt: number | null = null;

	constructor(options: HostLogOptions) {
		this.#options = options;
	}

	/** Aborts when the server is left. */
	get signal(): AbortSignal {
		return this.#options.signal;
	}

	get name(): string {
		return this.#options.server.name;
	}

	executed(): Promise<string> {
		return this.#options.server.executed();
	}

	/** Ends with the signal. Throws if the log cannot be followed, which no other try would change. */
	async run(): Promise<void> {
		const { server, signal, onFailure } = this.#options;
		while (!signal.aborted) {
			try {
				await this.#read();
			} catch (thrown) {
				if (signal.aborted) return;
				const isPassing =
					thrown instanceof CorkboardError && thrown.code === "UNAVAILABLE";
				if (!isPassing) throw thrown;
				onFailure(server.name, thrown.message);
				await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
			}
		}
	}

	async #read(): Promise<void> {
		const { server, tables, after, take, signal } = this.#options;
		let rows: RowChange<FollowedTable>[] = [];
		const log = server.readBinlog({
			after: await after(),
			tables,
			signal,
			outageMs: OUTAGE_MS,
			ignoresDdl: true,
		});
		for await (const parts of log) {
			const whole: Transaction[] = [];
			for (const part of parts) {
				// What is not whole may be a copy: the last part says so.
				rows.push(...part.rows);
				if (!part.isComplete) continue;
				whole.push({ ...part, rows });
				rows = [];
			}
			if (whole.length === 0) continue;
			this.at = whole.at(-1)?.at ?? this.at;
			await take(this, whole);
			signal.throwIfAborted();
		}
	}
}
