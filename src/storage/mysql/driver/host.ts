import { setTimeout as sleep } from "node:timers/promises";
import { CHANNELS, type StatementTrace } from "../../../diagnostics.ts";
import { type Deadline, deadlineIn } from "../../../util/deadline.ts";
import { StorageFailure } from "../../storageFailure.ts";
import type { Row, ServerAddress, WriteResult } from "./mysql2Connection.ts";
import type { MysqlConnection, Sql } from "./mysqlConnection.ts";
import { type CheckedOutConnection, Pool } from "./pool.ts";

/** Bounds of one host. Milliseconds, connections, callers. */
export interface HostLimits {
	/** Of reads and single writes; as many again for transactions. */
	readonly connections: number;
	readonly maxWaiting: number;
	readonly connectMs: number;
	/** After which the server itself stops a read. */
	readonly readMs: number;
}

/** What one statement is for, besides its text. */
export interface QueryOptions {
	readonly shard: number;
	readonly deadline: Deadline;
	readonly trace?: StatementTrace | undefined;
	/** What rows count as, where not each as one. */
	readonly countRows?: (rows: readonly Row[]) => number;
}

/** The statements of one transaction, one after another. */
export interface MysqlTransaction {
	rows(sql: Sql): Promise<readonly Row[]>;
	run(sql: Sql): Promise<WriteResult>;
}

export interface CommitDecision<T> {
	readonly value: T;
	/** Otherwise it is rolled back. */
	readonly commit: boolean;
	/** By when COMMIT has to be answered; the transaction's own limit holds too. */
	readonly commitBy?: number;
}

const CONFLICT_TRIES = 6;
const BACKOFF_MS = 8;
const ROLLBACK_MS = 1_000;

const COMMIT: Sql = { name: "commit", text: "COMMIT", values: [] };
const ROLLBACK: Sql = { name: "rollback", text: "ROLLBACK", values: [] };

/** One server, by its address: every statement of this process goes to it through here. */
export class Host implements AsyncDisposable {
	/** `host:port` */
	readonly name: string;
	readonly #singles: Pool;
	readonly #transactions: Pool;

	constructor(address: ServerAddress, limits: HostLimits, readOnly: boolean) {
		const { connections, maxWaiting, connectMs, readMs } = limits;
		this.name = address.name;
		const options = { address, maxWaiting, connectMs, size: connections };
		this.#singles = new Pool({
			...options,
			purpose: readOnly ? "read" : "single",
			statementMs: readMs,
		});
		this.#transactions = new Pool({
			...options,
			purpose: "transaction",
			statementMs: 0,
		});
	}

	/** A read of one statement. */
	rows(sql: Sql, asked: QueryOptions): Promise<readonly Row[]> {
		return this.#single(asked, (connection) =>
			this.#rows(connection, sql, asked),
		);
	}

	/** A write of one statement, which may be repeated without harm: it is, after a deadlock, or if the connection turns out to be dead. */
	run(sql: Sql, asked: QueryOptions): Promise<WriteResult> {
		return retried(asked, () =>
			this.#single(asked, (connection) => this.#run(connection, sql, asked)),
		);
	}

	/**
	 * `body` may be called again: after a deadlock, or if the connection turns
	 * out to be dead; nothing was committed then. A failure of COMMIT itself
	 * leaves unknown whether it was done.
	 */
	transaction<T>(
		asked: QueryOptions,
		body: (statements: MysqlTransaction) => Promise<CommitDecision<T>>,
	): Promise<T> {
		return retried(asked, () =>
			this.#lent(this.#transactions, asked, (connection) =>
				this.#attempt(connection, asked, body),
			),
		);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await Promise.all([
			this.#singles[Symbol.asyncDispose](),
			this.#transactions[Symbol.asyncDispose](),
		]);
	}

	#single<T>(
		asked: QueryOptions,
		use: (connection: MysqlConnection) => Promise<T>,
	): Promise<T> {
		return this.#lent(this.#singles, asked, use);
	}

	/**
	 * Lends a connection. One that served before may have died since, which its
	 * first user finds out: what it did is then done once more, on a new one.
	 */
	async #lent<T>(
		pool: Pool,
		{ deadline: limit, trace }: QueryOptions,
		use: (connection: MysqlConnection) => Promise<T>,
	): Promise<T> {
		const lease = await pool.acquire(limit);
		try {
			return await lendOnce(pool, lease, use);
		} catch (thrown) {
			if (!lease.reused || !isRepeatable(thrown)) throw thrown;
			pool.closeIdle();
			trace?.retry?.("connectionLost");
			return lendOnce(pool, await pool.acquire(limit), use);
		}
	}

	async #attempt<T>(
		connection: MysqlConnection,
		asked: QueryOptions,
		body: (statements: MysqlTransaction) => Promise<CommitDecision<T>>,
	): Promise<T> {
		let begun = false;
		const begin = () => {
			begun = true;
		};
		let verdict: CommitDecision<T>;
		try {
			verdict = await body({
				rows: (sql) => {
					begin();
					return this.#rows(connection, sql, asked);
				},
				run: (sql) => {
					begin();
					return this.#run(connection, sql, asked);
				},
			});
		} catch (thrown) {
			if (begun) await this.#rollBack(connection, asked);
			throw thrown;
		}
		const { value, commit, commitBy = Number.POSITIVE_INFINITY } = verdict;
		if (!begun) return value;
		if (!commit) {
			await this.#rollBack(connection, asked);
			return value;
		}
		const limit = { until: Math.min(asked.deadline.until, commitBy) };
		if (performance.now() >= limit.until) {
			// COMMIT was not sent: it is certain that nothing was done.
			await this.#rollBack(connection, asked);
			throw new StorageFailure(
				"timeout",
				"expected time for COMMIT but got: none",
				{
					host: this.name,
					statement: COMMIT.name,
				},
			);
		}
		try {
			await this.#run(connection, COMMIT, { ...asked, deadline: limit });
		} catch (thrown) {
			connection.destroy();
			throw new StorageFailure(
				"unknownOutcome",
				"COMMIT was sent, but no answer says whether it was done.",
				{ host: this.name, statement: COMMIT.name, cause: thrown },
			);
		}
		return value;
	}

	/** A connection that cannot roll back is not used again, and the server rolls back when it ends. */
	async #rollBack(
		connection: MysqlConnection,
		asked: QueryOptions,
	): Promise<void> {
		if (connection.isLost) return;
		const limit = deadlineIn(ROLLBACK_MS);
		try {
			await this.#run(connection, ROLLBACK, { ...asked, deadline: limit });
		} catch {
			connection.destroy();
		}
	}

	async #rows(
		connection: MysqlConnection,
		sql: Sql,
		asked: QueryOptions,
	): Promise<readonly Row[]> {
		const began = performance.now();
		const rows = await connection.rows(sql, asked.deadline);
		this.#report(
			sql,
			asked,
			began,
			() => asked.countRows?.(rows) ?? rows.length,
		);
		return rows;
	}

	async #run(
		connection: MysqlConnection,
		sql: Sql,
		asked: QueryOptions,
	): Promise<WriteResult> {
		const began = performance.now();
		const done = await connection.run(sql, asked.deadline);
		this.#report(sql, asked, began, () => done.affectedRows);
		return done;
	}

	#report(
		{ name }: Sql,
		{ shard, trace }: QueryOptions,
		began: number,
		count: () => number,
	): void {
		if (trace === undefined && !CHANNELS.statement.hasSubscribers) return;
		const ms = performance.now() - began;
		const statement = { name, host: this.name, shard, rows: count(), ms };
		trace?.statement(statement);
		if (CHANNELS.statement.hasSubscribers)
			CHANNELS.statement.publish(statement);
	}
}

/** After a deadlock, or a lock waited for in vain, again and again after a while that differs for all who met. */
async function retried<T>(
	{ deadline: limit, trace }: QueryOptions,
	attempt: () => Promise<T>,
): Promise<T> {
	for (let tries = 1; ; tries += 1) {
		try {
			return await attempt();
		} catch (thrown) {
			const again =
				thrown instanceof StorageFailure &&
				thrown.kind === "conflict" &&
				tries < CONFLICT_TRIES &&
				performance.now() < limit.until;
			if (!again) throw thrown;
			trace?.retry?.("conflict");
			await sleep(Math.random() * BACKOFF_MS * 2 ** tries);
		}
	}
}

async function lendOnce<T>(
	pool: Pool,
	{ connection }: CheckedOutConnection,
	use: (connection: MysqlConnection) => Promise<T>,
): Promise<T> {
	try {
		return await use(connection);
	} finally {
		pool.release(connection);
	}
}

function isRepeatable(thrown: unknown): boolean {
	return thrown instanceof StorageFailure && thrown.kind === "connectionLost";
}
