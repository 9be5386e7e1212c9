import { setImmediate as immediate } from "node:timers/promises";
import type { FoundServer } from "../../../topology/serverGuard.ts";
import type { WriteGuard } from "../../../topology/writeGuard.ts";
import type { StatementTrace } from "../../../trace.ts";
import { deadlineIn } from "../../../util/deadline.ts";
import { publishRetry, STORAGE_CHANNELS } from "../../diagnostics.ts";
import { StorageFailure } from "../../storageFailure.ts";
import {
	acquire,
	isClientTimeout,
	isFromReadOnlyServer,
	isRepeatable,
	lendOnce,
	refusesWrites,
	retried,
} from "./attempts.ts";
import { byLength } from "./byLength.ts";
import { CurrentServer, type ServerIdentity } from "./currentServer.ts";
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
import { Pool, type PoolOptions } from "./pool.ts";
import type { QueryOptions } from "./queryOptions.ts";
import {
	reportFailure,
	reportStatement,
	reportStatements,
} from "./reportStatement.ts";
import {
	endingWith,
	failureOf,
	startRoundTrip,
	withComment,
} from "./roundTripSpan.ts";
import { TAKES_WRITES, takesWrites } from "./session.ts";
import { READ_ONLY_MODE } from "./toStorageFailure.ts";

/** Bounds of one host. Milliseconds, connections, callers. */
export interface HostLimits {
	/** For reads and single writes; as many again for transactions. */
	readonly connections: number;
	readonly maxWaiting: number;
	readonly connectMs: number;
	/** The server stops a read after this long. */
	readonly readMs: number;
	/**
	 * The server ends a transaction, and frees its locks, when its client has
	 * sent nothing and taken nothing for this long: the process may be frozen, or
	 * its machine gone. Longer than any transaction that may still commit.
	 */
	readonly silenceMs: number;
	/** A connection is replaced after about this long: five minutes if absent. */
	readonly lifetimeMs?: number;
	/** Whether the binary log leaves out texts that an UPDATE does not change, where the user may set that. */
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

/** Asked before each write whether this process may write to the host still. */
export interface HostWriteGuard extends Pick<WriteGuard, "begin" | "refusal"> {
	/** Called before a connection to another server than before is used. */
	readonly found?: ((server: FoundServer) => void) | undefined;
	/** Whether it refuses until somebody accepts what was lost. */
	readonly isStopped?: ((host: string) => boolean) | undefined;
}

/** The statements of one transaction, one after another. */
export interface MysqlTransaction {
	rows(sql: Sql): Promise<readonly Row[]>;
	run(sql: Sql): Promise<WriteResult>;
	/** The results of some statements, in one round trip. If one fails, none after it is executed. */
	together(statements: readonly Sql[]): Promise<readonly Result[]>;
}

/** A connection of its own: what it sets, locks and holds ends with it. */
export interface MysqlSession {
	readonly product: Product;
	readonly server: ServerIdentity;
	rows(sql: Sql): Promise<readonly Row[]>;
	run(sql: Sql): Promise<WriteResult>;
}

export type CommitDecision<T> =
	| {
			readonly value: T;
			/** False to roll back. */
			readonly commit: boolean;
			readonly commitBy?: number;
	  }
	| {
			/** Writes that are sent together with COMMIT, in one round trip. */
			readonly last: readonly Sql[];
			/** The value, given their results. */
			readonly valueOf: (results: readonly Result[]) => T;
			readonly commit: true;
			/** Names of what is written, for `AcknowledgedCommit`. */
			readonly wrote?: () => readonly string[];
			/** By when COMMIT has to be answered; the transaction's own deadline holds too. */
			readonly commitBy?: number;
	  };

/** Of each kind, before a server gets its first requests. */
const WARM_CONNECTIONS = 2;

/** A process that stood still for longer reads its sockets before it sends COMMIT: the server may have ended the transaction. */
const STOOD_STILL_MS = 250;

const ROLLBACK_MS = 1_000;

/** Connections idle for longer are replaced: a firewall or proxy may have dropped them. */
const MAX_IDLE_MS = 60_000;
/** Of the time after which the server ends a silent connection: the part for which the pool keeps it. */
const IDLE_SHARE = 5 / 8;

/** The longest that a name which leads to another server may keep connections that nobody finds fault with. */
const LIFETIME_MS = 300_000;

const COMMIT: Sql = { name: "commit", text: "COMMIT", values: [] };
const ROLLBACK: Sql = { name: "rollback", text: "ROLLBACK", values: [] };

/** One server. All statements of this process go to it through here. */
export class Host implements AsyncDisposable {
	/** `host:port` */
	readonly name: string;
	readonly #singles: Pool;
	readonly #transactions: Pool;
	readonly #sessionOptions: PoolOptions;
	readonly #health: HostHealth;
	readonly #server: CurrentServer;
	readonly #guard: HostWriteGuard | null;
	/** Who is likely to take the writes that this server refuses. */
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
		this.#server = new CurrentServer(this.name, {
			closeIdle: () => this.#closeIdle(),
			openSession: () => this.#singles.openOne(connectMs),
			onWriter: (found, before) =>
				guard?.found?.({
					host: this.name,
					server: found.id,
					isChange: before !== null,
					isLossless: address.isLossless,
					lacks: (set, besides) => lackedGtids(this, found, set, besides),
				}),
		});
		const options = {
			address,
			maxWaiting,
			connectMs,
			silenceMs,
			lifetimeMs,
			leanBinlog,
			size: connections,
			server: this.#server,
		};
		this.#singles = new Pool({
			...options,
			purpose: readOnly ? "read" : "single",
			statementMs: readMs,
			maxIdleMs: MAX_IDLE_MS,
		});
		this.#sessionOptions = {
			...options,
			purpose: "transaction",
			statementMs: 0,
			// Before the server ends it.
			maxIdleMs: Math.min(MAX_IDLE_MS, silenceMs * IDLE_SHARE),
		};
		this.#transactions = new Pool(this.#sessionOptions);
		this.#health = new HostHealth(address.name, async () => {
			// Connections from before the host went down prove nothing.
			this.#closeIdle();
			const deadline = deadlineIn(connectMs);
			this.#singles.release(await this.#singles.acquire(deadline));
		});
	}

	/** Which server the name leads to; null before the first session. */
	get server(): ServerIdentity | null {
		return this.#server.identity;
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
	rows(
		sql: Sql | ((product: Product) => Sql),
		options: QueryOptions,
	): Promise<readonly Row[]> {
		const sqlFor = ({ product }: MysqlConnection) =>
			typeof sql === "function" ? sql(product) : sql;
		return retried(options, () =>
			options.decides
				? this.#lent(this.#transactions, options, async (connection) => {
						const ended = this.#unwritten(connection, options, [
							sqlFor(connection),
						]);
						return (await ended)[0] as readonly Row[];
					})
				: this.#single(options, (connection) =>
						this.#rows(connection, sqlFor(connection), options),
					),
		);
	}

	/** A write of one statement that can be repeated without harm: it is repeated after a deadlock, or on a dead connection. */
	run(
		sql: Sql | ((product: Product) => Sql),
		options: QueryOptions,
	): Promise<WriteResult> {
		this.#guard?.begin();
		return retried(options, () =>
			this.#single(options, async (connection) => {
				await this.#checkPrimary(connection);
				return this.#run(
					connection,
					typeof sql === "function" ? sql(connection.product) : sql,
					options,
				);
			}),
		);
	}

	/**
	 * Writes that can be repeated without harm, in one transaction and one round
	 * trip. After a lost connection they may have been executed twice. Returns their results.
	 */
	runTogether(
		statements: readonly Sql[] | ((product: Product) => readonly Sql[]),
		options: QueryOptions,
	): Promise<readonly Result[]> {
		this.#guard?.begin();
		return retried(options, () =>
			this.#lent(this.#transactions, options, async (connection) => {
				await this.#checkPrimary(connection);
				const sent =
					typeof statements === "function"
						? statements(connection.product)
						: statements;
				try {
					const results = await this.#together(
						connection,
						[...sent, COMMIT],
						options,
					);
					return results.slice(0, sent.length);
				} catch (thrown) {
					await this.#rollBack(connection, options);
					throw thrown;
				}
			}),
		);
	}

	/**
	 * `body` may be called again, after a deadlock or on a dead connection: nothing
	 * was committed then. A failure of COMMIT itself has the kind `unknownOutcome`.
	 */
	transaction<T>(
		options: QueryOptions,
		body: (statements: MysqlTransaction) => Promise<CommitDecision<T>>,
	): Promise<T> {
		this.#guard?.begin();
		return retried(options, () =>
			this.#lent(this.#transactions, options, (connection) =>
				this.#attempt(connection, options, body),
			),
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
		this.#checkHealth(options.trace);
		await using pool = new Pool({ ...this.#sessionOptions, size: 1 });
		try {
			const connection = await acquire(pool, options, this.name);
			try {
				return await body({
					product: connection.product,
					server: this.#server.identity as ServerIdentity,
					rows: (sql) => this.#rows(connection, sql, options),
					run: (sql) => this.#run(connection, sql, options),
				});
			} finally {
				pool.release(connection);
			}
		} catch (thrown) {
			this.#failed(thrown);
			reportFailure(thrown);
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

	#closeIdle(): void {
		this.#singles.closeIdle();
		this.#transactions.closeIdle();
	}

	#single<T>(
		options: QueryOptions,
		use: (connection: MysqlConnection) => Promise<T>,
	): Promise<T> {
		return this.#lent(this.#singles, options, use);
	}

	/**
	 * Checks out a connection. It may have ended since it was opened or last used,
	 * also in the middle of a transaction: `use` is then called once more, with
	 * another connection.
	 */
	async #lent<T>(
		pool: Pool,
		options: QueryOptions,
		use: (connection: MysqlConnection) => Promise<T>,
	): Promise<T> {
		const { trace, isPatient = false } = options;
		const calledAt = trace === undefined ? 0 : performance.now();
		if (!isPatient) this.#checkHealth(trace);
		try {
			const result = await this.#lentOrRepeated(pool, options, use);
			this.#health.answered();
			return result;
		} catch (thrown) {
			this.#failed(thrown);
			reportFailure(thrown);
			if (refusesWrites(thrown)) this.successor?.warm();
			if (isFromReadOnlyServer(thrown)) {
				this.#server.refusedWrite();
			}
			trace?.failure?.(
				this.name,
				failureOf(thrown),
				performance.now() - calledAt,
			);
			throw thrown;
		}
	}

	#failed(thrown: unknown): void {
		const pools = [this.#singles, this.#transactions];
		this.#health.failed(
			thrown,
			pools.some(({ hasConnection }) => hasConnection),
		);
	}

	/** A call that is not sent has failed too: whoever counts would take the host for healthy else. */
	#checkHealth(trace: StatementTrace | undefined): void {
		try {
			this.#health.check();
		} catch (thrown) {
			reportFailure(thrown);
			trace?.failure?.(this.name, failureOf(thrown), 0);
			throw thrown;
		}
	}

	async #lentOrRepeated<T>(
		pool: Pool,
		options: QueryOptions,
		use: (connection: MysqlConnection) => Promise<T>,
	): Promise<T> {
		const { deadline, trace } = options;
		const connection = await acquire(pool, options, this.name);
		options.onSent?.();
		try {
			return await lendOnce(pool, connection, use);
		} catch (thrown) {
			if (!isRepeatable(thrown) || performance.now() >= deadline.until)
				throw thrown;
			pool.closeIdle();
			trace?.retry?.("connectionLost");
			publishRetry({ host: this.name, reason: "connectionLost" });
			return lendOnce(pool, await acquire(pool, options, this.name), use);
		}
	}

	async #attempt<T>(
		connection: MysqlConnection,
		options: QueryOptions,
		body: (statements: MysqlTransaction) => Promise<CommitDecision<T>>,
	): Promise<T> {
		let begun = false;
		let answeredAt = performance.now();
		const answered = async <Answer>(answer: Promise<Answer>) => {
			begun = true;
			try {
				return await answer;
			} finally {
				answeredAt = performance.now();
			}
		};
		// Before it locks anything, where the answer takes time.
		await this.#checkPrimary(connection);
		let verdict: CommitDecision<T>;
		try {
			verdict = await body({
				rows: (sql) => answered(this.#rows(connection, sql, options)),
				run: (sql) => answered(this.#run(connection, sql, options)),
				together: (statements) =>
					answered(this.#together(connection, statements, options)),
			});
		} catch (thrown) {
			if (begun) await this.#rollBack(connection, options);
			throw thrown;
		}
		const writes = "last" in verdict ? verdict.last : [];
		if (!begun && writes.length === 0) {
			return "last" in verdict ? verdict.valueOf([]) : verdict.value;
		}
		if (!verdict.commit) {
			if (options.decides) await this.#unwritten(connection, options);
			else await this.#rollBack(connection, options);
			return verdict.value;
		}
		if (performance.now() - answeredAt > STOOD_STILL_MS) {
			// The first is in this turn of the event loop, which has read its sockets.
			await immediate();
			await immediate();
		}
		try {
			const waiting = this.#checkPrimary(connection);
			if (waiting !== null) await waiting;
		} catch (thrown) {
			if (begun) await this.#rollBack(connection, options);
			throw thrown;
		}
		const { commitBy = Number.POSITIVE_INFINITY } = verdict;
		const deadline = { until: Math.min(options.deadline.until, commitBy) };
		if (performance.now() >= deadline.until) {
			// COMMIT was not sent, so nothing was done.
			await this.#rollBack(connection, options);
			throw new StorageFailure("timeout", "No time is left for COMMIT.", {
				host: this.name,
				statement: COMMIT.name,
			});
		}
		if (connection.isLost) throw this.#endedBefore(COMMIT);
		if (!("last" in verdict)) {
			await this.#commit(connection, [], { ...options, deadline });
			return verdict.value;
		}
		const results: Result[] = [];
		const groups = [...byLength(writes)];
		// The first round trip finds out whether the connection still works.
		const last = begun ? (groups.pop() ?? []) : [];
		try {
			for (const some of groups) {
				results.push(...(await this.#together(connection, some, options)));
			}
		} catch (thrown) {
			await this.#rollBack(connection, options);
			throw thrown;
		}
		results.push(
			...(await this.#commit(
				connection,
				last,
				{ ...options, deadline },
				verdict.wrote,
			)),
		);
		return verdict.valueOf(results);
	}

	/**
	 * Sends the last writes of a transaction and COMMIT, and returns the results of
	 * the writes. If one of them fails, the server does not read COMMIT: nothing was
	 * done. Any other failure leaves the outcome unknown.
	 */
	async #commit(
		connection: MysqlConnection,
		last: readonly Sql[],
		options: QueryOptions,
		wrote?: () => readonly string[],
	): Promise<readonly Result[]> {
		const began = performance.now();
		const statements = [...last, COMMIT];
		let executed = 0;
		let results: readonly Result[];
		try {
			results = await this.#send(
				connection,
				statements,
				options,
				(sent) => connection.together(sent, options.deadline, () => executed++),
				wrote,
			);
		} catch (thrown) {
			const isAnswered =
				thrown instanceof StorageFailure &&
				thrown.errno !== null &&
				thrown.kind !== "connectionLost";
			if (isAnswered && executed < last.length) {
				await this.#rollBack(connection, options);
				throw thrown;
			}
			connection.destroy();
			// The server sends this error instead of reading a further statement.
			if (isClientTimeout(thrown)) throw thrown;
			throw new StorageFailure(
				"unknownOutcome",
				"COMMIT was sent, but no answer says whether it was done.",
				{ host: this.name, statement: COMMIT.name, cause: thrown },
			);
		}
		reportStatements(
			this.name,
			connection,
			statements,
			results,
			options,
			began,
		);
		return results.slice(0, -1);
	}

	/**
	 * Throws `readOnly` where this process may not write here: the writes of a
	 * topology's primary wait for a newer version then. Null: it may, without a wait.
	 */
	#checkPrimary({ takesWrites }: MysqlConnection): Promise<void> | null {
		// It may by now; but then it may have taken another's place, which only a new session finds out.
		if (!takesWrites && this.#guard !== null) throw this.#readOnly();
		const refusal = this.#guard?.refusal(this.name) ?? null;
		if (refusal === null) return null;
		const check = async () => {
			const reason = await refusal;
			if (reason === null) return;
			const isStopped = this.#guard?.isStopped?.(this.name) ?? false;
			throw new StorageFailure(isStopped ? "stopped" : "readOnly", reason, {
				host: this.name,
				statement: "none",
			});
		};
		return check();
	}

	/** Nothing was sent, so nothing was done. */
	#endedBefore({ name }: Sql): StorageFailure {
		return new StorageFailure("connectionLost", "The connection has ended.", {
			host: this.name,
			statement: name,
		});
	}

	/**
	 * Ends a transaction that writes nothing, after some last reads, in one round
	 * trip. No COMMIT proves that what it read decides anything: a server that a
	 * name led to before may lack what was committed, but it takes no writes.
	 */
	async #unwritten(
		connection: MysqlConnection,
		options: QueryOptions,
		last: readonly Sql[] = [],
	): Promise<readonly Result[]> {
		let results: readonly Result[];
		try {
			results = await this.#together(
				connection,
				[...last, TAKES_WRITES, ROLLBACK],
				options,
			);
		} catch (thrown) {
			await this.#rollBack(connection, options);
			throw thrown;
		}
		const answer = results[last.length] as readonly Row[];
		if (takesWrites(answer[0])) return results.slice(0, last.length);
		connection.destroy();
		throw this.#readOnly();
	}

	#readOnly(): StorageFailure {
		return new StorageFailure(
			"readOnly",
			"The server takes no writes, and what it says decides none.",
			{ host: this.name, statement: TAKES_WRITES.name, errno: READ_ONLY_MODE },
		);
	}

	/** A connection that cannot roll back is destroyed; the server rolls back when it ends. */
	async #rollBack(
		connection: MysqlConnection,
		options: QueryOptions,
	): Promise<void> {
		if (connection.isLost) return;
		const deadline = deadlineIn(ROLLBACK_MS);
		try {
			await this.#run(connection, ROLLBACK, { ...options, deadline });
		} catch {
			connection.destroy();
		}
	}

	async #rows(
		connection: MysqlConnection,
		sql: Sql,
		options: QueryOptions,
	): Promise<readonly Row[]> {
		const began = performance.now();
		const rows = await this.#send(connection, [sql], options, ([sent]) =>
			connection.rows(sent as Sql, options.deadline),
		);
		reportStatement(
			this.name,
			connection,
			sql,
			options,
			began,
			() => options.countRows?.(rows) ?? rows.length,
		);
		return rows;
	}

	async #run(
		connection: MysqlConnection,
		sql: Sql,
		options: QueryOptions,
	): Promise<WriteResult> {
		const began = performance.now();
		const done = await this.#send(connection, [sql], options, ([sent]) =>
			connection.run(sent as Sql, options.deadline),
		);
		reportStatement(
			this.name,
			connection,
			sql,
			options,
			began,
			() => done.affectedRows,
		);
		return done;
	}

	async #together(
		connection: MysqlConnection,
		statements: readonly Sql[],
		options: QueryOptions,
	): Promise<readonly Result[]> {
		const results: Result[] = [];
		for (const some of byLength(statements)) {
			const began = performance.now();
			const answers = await this.#send(connection, some, options, (sent) =>
				connection.together(sent, options.deadline),
			);
			reportStatements(this.name, connection, some, answers, options, began);
			results.push(...answers);
		}
		return results;
	}

	/** Sends statements in one round trip: of a sampled request with its span, and a comment that names it. */
	async #send<T extends Result | readonly Result[]>(
		connection: MysqlConnection,
		statements: readonly Sql[],
		options: QueryOptions,
		send: (statements: readonly Sql[]) => Promise<T>,
		wrote?: () => readonly string[],
	): Promise<T> {
		const answer = await this.#sendTraced(
			connection,
			statements,
			options,
			send,
		);
		const { gtid } = connection;
		if (gtid !== null) {
			connection.gtid = null;
			if (STORAGE_CHANNELS.acknowledgedCommit.hasSubscribers) {
				STORAGE_CHANNELS.acknowledgedCommit.publish({
					host: this.name,
					gtid,
					wrote: wrote?.() ?? [],
				});
			}
		}
		return answer;
	}

	#sendTraced<T extends Result | readonly Result[]>(
		connection: MysqlConnection,
		statements: readonly Sql[],
		options: QueryOptions,
		send: (statements: readonly Sql[]) => Promise<T>,
	): Promise<T> {
		const parent = options.trace?.span;
		if (!parent) return send(statements);
		const span = startRoundTrip(
			parent,
			this.name,
			connection,
			statements,
			options,
		);
		const sent = statements.map((sql) => withComment(sql, span));
		return endingWith(span, send(sent));
	}
}
