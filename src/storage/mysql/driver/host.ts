import { setTimeout as sleep } from "node:timers/promises";
import type { StatementTrace } from "../../../trace.ts";
import { earlierOf } from "../../../util/deadline.ts";
import { publishRetry, type WriteRetry } from "../../diagnostics.ts";
import {
	type CommitDecision,
	CommitProtocol,
	type HostWriteGuard,
	type MysqlTransaction,
	SentStatements,
} from "./commitProtocol.ts";
import { CurrentServer, type ServerIdentity } from "./currentServer.ts";
import { exchange, type Statements } from "./exchange.ts";
import { HostHealth } from "./hostHealth.ts";
import { lackedGtids } from "./lackedGtids.ts";
import type {
	Product,
	Result,
	Row,
	ServerAddress,
	WriteResult,
} from "./mysql2Connection.ts";
import type { MysqlConnection, Sql } from "./mysqlConnection.ts";
import { acquire, Pool, type PoolOptions } from "./pool.ts";
import type { QueryOptions } from "./queryOptions.ts";
import { reportFailure } from "./reportStatement.ts";
import { failureOf } from "./roundTripSpan.ts";
import {
	conflictReason,
	isFromReadOnlyServer,
	isRepeatable,
	refusesWrites,
} from "./toStorageFailure.ts";

/** Bounds of one host. Milliseconds, connections, callers. */
export interface HostLimits {
	/** For reads and single writes; as many again for transactions. */
	readonly connections: number;
	readonly maxWaiting: number;
	/** How long nothing may come from the server while a connection is opened. */
	readonly connectMs: number;
	/** The server stops a read after this long. */
	readonly readMs: number;
	/** How long a read waits for its answer, or twice as long as the host took of late (default: `readMs`). */
	readonly answerMs?: number;
	/**
	 * The server ends a transaction, and frees its locks, when its client has
	 * sent nothing and taken nothing for this long: the process may be frozen, or
	 * its machine gone. Longer than any transaction that may still commit.
	 */
	readonly silenceMs: number;
	/** A connection is replaced after about this long: five minutes if absent. */
	readonly lifetimeMs?: number;
	/** Whether the binary log leaves out texts that an UPDATE does not change, if the user may set that. */
	readonly leanBinlog?: boolean;
}

/**
 * Most connections that a process opens to a host with these limits: two pools, of
 * which each may open one more to end statements, and a session.
 */
export function mostConnections({
	connections,
}: Pick<HostLimits, "connections">): number {
	return 2 * (connections + 1) + 1;
}

/** A connection of its own: what it sets, locks and holds ends with it. */
export interface MysqlSession {
	readonly product: Product;
	readonly server: ServerIdentity;
	rows(sql: Sql): Promise<readonly Row[]>;
	run(sql: Sql): Promise<WriteResult>;
}

/** Connections of each kind that are open before a server gets its first requests. */
const WARM_CONNECTIONS = 2;

/** Connections idle for longer are replaced: a firewall or proxy may have dropped them. */
const MAX_IDLE_MS = 60_000;
/** A connection is silent for this share of the time after which the server ends it: what is sent then may be on its way for long. */
const SILENT_SHARE = 1 / 2;

/** After a deadlock or a lock wait timeout. */
const CONFLICT_TRIES = 6;
const BACKOFF_MS = 8;

/** The longest that a name which leads to another server may keep connections that nobody finds fault with. */
const LIFETIME_MS = 300_000;

/** One server. All statements of this process go to it through here. */
export class Host implements AsyncDisposable {
	/** `host:port` */
	readonly name: string;
	readonly #singles: Pool;
	readonly #transactions: Pool;
	readonly #sessionOptions: PoolOptions;
	readonly #health: HostHealth;
	readonly #answerMs: number;
	readonly #server: CurrentServer;
	readonly #guard: HostWriteGuard | null;
	readonly #protocol: CommitProtocol;
	/** The host that is likely to take the writes which this server refuses. */
	successor: Host | null = null;

	constructor(
		address: ServerAddress,
		limits: HostLimits,
		readOnly: boolean,
		guard: HostWriteGuard | null = null,
	) {
		this.#guard = guard;
		const {
			connections,
			maxWaiting,
			connectMs,
			readMs,
			silenceMs,
			lifetimeMs = LIFETIME_MS,
			leanBinlog,
		} = limits;
		this.name = address.name;
		this.#protocol = new CommitProtocol(address.name, guard);
		this.#server = new CurrentServer(this.name, {
			closeIdle: () => this.#closeIdle(),
			openSession: () => this.#singles.openOne(),
			onWriter: (found, before) =>
				guard?.found?.({
					host: this.name,
					server: found.id,
					isChange: before !== null,
					isLossless: address.isLossless,
					lacks: (set, besides) => lackedGtids(this, found, set, besides),
				}),
		});
		this.#answerMs = limits.answerMs ?? readMs;
		this.#health = new HostHealth(address.name, async () => {
			// Connections from before the host went down prove nothing.
			this.#closeIdle();
			this.#singles.release(
				await this.#singles.acquire({ until: Number.POSITIVE_INFINITY }),
			);
		});
		const options = {
			address,
			maxWaiting,
			connectMs,
			silenceMs,
			lifetimeMs,
			leanBinlog,
			size: connections,
			maxIdleMs: MAX_IDLE_MS,
			server: this.#server,
			pace: this.#health.pace,
		};
		this.#singles = new Pool({
			...options,
			purpose: readOnly ? "read" : "single",
			statementMs: readMs,
			askMs: null,
		});
		this.#sessionOptions = {
			...options,
			purpose: "transaction",
			statementMs: 0,
			askMs: silenceMs * SILENT_SHARE,
		};
		this.#transactions = new Pool(this.#sessionOptions);
	}

	/** Which server the name leads to; null before the first session. */
	get server(): ServerIdentity | null {
		return this.#server.identity;
	}

	/** What an answer takes at the least, now. Milliseconds. */
	get leastAnswerMs(): number {
		return this.#health.pace.leastMs;
	}

	/** Whether a read gets a connection at once. */
	get isFree(): boolean {
		return this.#singles.isFree;
	}

	/** Whether a transaction gets a connection at once. */
	get isFreeForTransactions(): boolean {
		return this.#transactions.isFree;
	}

	/** Opens its first connections now, where it has none. A failure concerns nobody yet. */
	warm(): void {
		this.#singles.warm(WARM_CONNECTIONS);
		this.#transactions.warm(WARM_CONNECTIONS);
	}

	/**
	 * A read of one statement, which may differ by product. While an operator's DDL
	 * waits for a table, the server may choose a read as the victim of a deadlock.
	 */
	async rows(
		sql: OneStatement,
		options: QueryOptions,
	): Promise<readonly Row[]> {
		const [rows] = options.decides
			? await this.#withConnection(
					this.#transactions,
					this.#protocol.endUnwritten,
					listOf(sql),
					options,
					true,
				)
			: await this.#withConnection(
					this.#singles,
					exchange,
					listOf(sql),
					options,
					true,
				);
		return rows as readonly Row[];
	}

	/** A write of one statement that can be repeated without harm: it is repeated after a deadlock, or on a dead connection. */
	async run(sql: OneStatement, options: QueryOptions): Promise<WriteResult> {
		this.#guard?.begin();
		const [done] = await this.#withConnection(
			this.#singles,
			this.#protocol.writeAlone,
			listOf(sql),
			options,
		);
		return done as WriteResult;
	}

	/**
	 * Writes that can be repeated without harm, in one transaction and one round
	 * trip. After a lost connection they may have been executed twice. Returns their results.
	 */
	async runTogether(
		statements: Statements,
		options: QueryOptions,
	): Promise<readonly Result[]> {
		this.#guard?.begin();
		return this.#withConnection(
			this.#transactions,
			this.#protocol.writeTogether,
			statements,
			options,
		);
	}

	/**
	 * `body` may be called again, after a deadlock or on a dead connection: nothing
	 * was committed then. A failure of COMMIT itself has the kind `unknownOutcome`.
	 */
	async transaction<T>(
		options: QueryOptions,
		body: (statements: MysqlTransaction) => Promise<CommitDecision<T>>,
	): Promise<T> {
		this.#guard?.begin();
		return this.#withConnection(
			this.#transactions,
			this.#protocol.attempt<T>,
			body,
			options,
		);
	}

	/**
	 * Opens a session for `body`, for statements that change tables or take locks
	 * which outlive a transaction, and closes it. Nothing is repeated, and nothing
	 * but DDL commits by itself, unless `body` sets autocommit. The server ends the
	 * session, and with it all locks, when it hears nothing for `silenceMs`.
	 */
	async session<T>(
		options: QueryOptions,
		body: (session: MysqlSession) => Promise<T>,
	): Promise<T> {
		const began = this.#begin(options);
		await using pool = new Pool({ ...this.#sessionOptions, size: 1 });
		try {
			const connection = await acquire(pool, options, this.name);
			try {
				const { product } = connection;
				const server = this.#server.identity as ServerIdentity;
				const { rows, run } = new SentStatements(connection, options);
				return await body({ product, server, rows, run });
			} finally {
				pool.release(connection);
			}
		} catch (thrown) {
			this.#failed(thrown, options.trace, began);
			throw thrown;
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#health[Symbol.dispose]();
		this.#server[Symbol.dispose]();
		await Promise.all([
			this.#singles[Symbol.asyncDispose](),
			this.#transactions[Symbol.asyncDispose](),
		]);
		this.#health.left();
	}

	/** With the time that a read has for its answer, from now on. It has waited for a connection already, which counts only towards its own deadline. */
	#answering(options: QueryOptions): QueryOptions {
		if (options.isPatient) return options;
		const ms = this.#health.pace.patience(this.#answerMs);
		return { ...options, deadline: earlierOf(options.deadline, ms) };
	}

	#closeIdle(): void {
		this.#singles.closeIdle();
		this.#transactions.closeIdle();
	}

	/**
	 * Calls `use` with a connection. If that has ended, before or in the middle of
	 * a transaction, `use` is called once more, with another connection. After a
	 * deadlock or a lock wait timeout it is called again, with jitter so that the
	 * transactions do not meet again.
	 */
	async #withConnection<Given, T>(
		pool: Pool,
		use: (
			connection: MysqlConnection,
			given: Given,
			options: QueryOptions,
		) => Promise<T>,
		given: Given,
		options: QueryOptions,
		isRead = false,
	): Promise<T> {
		const { deadline, trace, isTriedOnce = false } = options;
		let conflicts = 0;
		let calledAt = this.#begin(options);
		for (let isRepeated = false; ; ) {
			let connection: MysqlConnection | null = null;
			let thrown: unknown;
			try {
				connection = await acquire(pool, options, this.name);
				if (!isRepeated) options.onSent?.();
				const sent = isRead ? this.#answering(options) : held(options);
				const result = await use(connection, given, sent);
				this.#health.answered();
				return result;
			} catch (failure) {
				thrown = failure;
			} finally {
				if (connection !== null) pool.release(connection);
			}
			const isInTime = performance.now() < deadline.until;
			const mayRepeat = connection !== null && !isRepeated && isInTime;
			if (mayRepeat && isRepeatable(thrown)) {
				isRepeated = true;
				pool.closeIdle();
				reportRetry(this.name, "connectionLost", trace);
				continue;
			}
			this.#failed(thrown, trace, calledAt);
			const reason = isTriedOnce ? null : conflictReason(thrown);
			conflicts += 1;
			if (reason === null || conflicts >= CONFLICT_TRIES || !isInTime)
				throw thrown;
			reportRetry(this.name, reason, trace);
			await sleep(Math.random() * BACKOFF_MS * 2 ** conflicts);
			isRepeated = false;
			calledAt = this.#begin(options);
		}
	}

	/**
	 * A call that is not sent has failed too: otherwise those who count failures would
	 * take the host for healthy. Returns when the call began.
	 */
	#begin({ trace, isPatient = false }: QueryOptions): number {
		const began = performance.now();
		if (isPatient) return began;
		try {
			this.#health.check();
		} catch (thrown) {
			reportFailure(thrown);
			trace?.failure?.(this.name, failureOf(thrown), 0);
			throw thrown;
		}
		return began;
	}

	#failed(
		thrown: unknown,
		trace: StatementTrace | undefined,
		calledAt: number,
	): void {
		const pools = [this.#singles, this.#transactions];
		this.#health.failed(
			thrown,
			pools.some(({ hasConnection }) => hasConnection),
			calledAt,
		);
		reportFailure(thrown);
		if (refusesWrites(thrown)) this.successor?.warm();
		if (isFromReadOnlyServer(thrown)) this.#server.refusedWrite();
		trace?.failure?.(
			this.name,
			failureOf(thrown),
			performance.now() - calledAt,
		);
	}
}

/** With the time that a transaction has, from its begin on. It has waited for a connection already, which counts only towards its own deadline. */
function held(options: QueryOptions): QueryOptions {
	const { deadline, heldMs } = options;
	if (heldMs === undefined) return options;
	return { ...options, deadline: earlierOf(deadline, heldMs) };
}

type OneStatement = Sql | ((product: Product) => Sql);

function listOf(sql: OneStatement): Statements {
	return typeof sql === "function" ? (product) => [sql(product)] : [sql];
}

function reportRetry(
	host: string,
	reason: WriteRetry["reason"],
	trace: StatementTrace | undefined,
): void {
	trace?.retry?.(reason);
	publishRetry({ host, reason });
}
