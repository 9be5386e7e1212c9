import { setImmediate as immediate } from "node:timers/promises";
import type { FoundServer } from "../../../topology/guards/serverGuard.ts";
import type { WriteGuard } from "../../../topology/guards/writeGuard.ts";
import { deadlineIn } from "../../../util/deadline.ts";
import { StorageFailure } from "../../storageFailure.ts";
import {
	byLength,
	exchange,
	exchangeAll,
	type Statements,
	statementsFor,
} from "./exchange.ts";
import type { Result, Row, WriteResult } from "./mysql2Connection.ts";
import type { MysqlConnection, Sql } from "./mysqlConnection.ts";
import type { QueryOptions } from "./queryOptions.ts";
import { TAKES_WRITES, takesWrites } from "./session.ts";
import {
	isClientTimeout,
	READ_ONLY_MODE,
	refusesWrites,
} from "./toStorageFailure.ts";

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

export type CommitDecision<T> =
	| {
			readonly value: T;
			/** False to roll back. */
			readonly commit: boolean;
			/** By when COMMIT has to be sent. */
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
			/** By when COMMIT has to be sent; the transaction's own deadline holds too. */
			readonly commitBy?: number;
	  };

/** A process that was paused for longer reads its sockets before it sends COMMIT: the server may have ended the transaction. */
const PAUSED_MS = 250;

const ROLLBACK_MS = 1_000;

const COMMIT: Sql = { name: "commit", text: "COMMIT", values: [] };
const ROLLBACK: Sql = { name: "rollback", text: "ROLLBACK", values: [] };

/**
 * How transactions on one host end, so that their outcome is known: before COMMIT
 * was sent, nothing was done; when it was sent and not answered, the outcome is
 * unknown; and the server, not only this process, says that it takes writes.
 * Callers take single functions of it.
 */
export class CommitProtocol {
	readonly #host: string;
	readonly #guard: HostWriteGuard | null;

	constructor(host: string, guard: HostWriteGuard | null) {
		this.#host = host;
		this.#guard = guard;
	}

	/** One attempt of a transaction. */
	readonly attempt = async <T>(
		connection: MysqlConnection,
		body: (statements: MysqlTransaction) => Promise<CommitDecision<T>>,
		options: QueryOptions,
	): Promise<T> => {
		// Before it locks anything, if the answer takes time.
		await this.checkPrimary(connection);
		const statements = new SentStatements(connection, options);
		let decision: CommitDecision<T>;
		try {
			decision = await body(statements);
		} catch (thrown) {
			if (statements.begun) await this.rollBack(connection, options);
			throw thrown;
		}
		const { begun } = statements;
		const writes = "last" in decision ? decision.last : [];
		if (!begun && writes.length === 0) {
			return "last" in decision ? decision.valueOf([]) : decision.value;
		}
		if (!decision.commit) {
			if (options.decides) await this.endUnwritten(connection, [], options);
			else await this.rollBack(connection, options);
			return decision.value;
		}
		if (performance.now() - statements.answeredAt > PAUSED_MS) {
			// The first is in this turn of the event loop, which has read its sockets.
			await immediate();
			await immediate();
		}
		try {
			const waiting = this.checkPrimary(connection);
			if (waiting !== null) await waiting;
		} catch (thrown) {
			if (begun) await this.rollBack(connection, options);
			throw thrown;
		}
		const { commitBy = Number.POSITIVE_INFINITY } = decision;
		if (performance.now() >= Math.min(options.deadline.until, commitBy)) {
			// COMMIT was not sent, so nothing was done.
			await this.rollBack(connection, options);
			throw this.#failure("timeout", "No time is left for COMMIT.");
		}
		if (connection.isLost) {
			// Nothing was sent, so nothing was done.
			throw this.#failure("connectionLost", "The connection has ended.");
		}
		if (!("last" in decision)) {
			await this.#commit(connection, [], options);
			return decision.value;
		}
		const results: Result[] = [];
		const groups = [...byLength(writes)];
		// The first round trip finds out whether the connection still works.
		const last = begun ? (groups.pop() ?? []) : [];
		try {
			for (const some of groups) {
				results.push(...(await exchange(connection, some, options)));
			}
		} catch (thrown) {
			await this.rollBack(connection, options);
			throw thrown;
		}
		const { wrote } = decision;
		results.push(...(await this.#commit(connection, last, options, wrote)));
		return decision.valueOf(results);
	};

	/** A write that commits by itself, and can be repeated without harm. */
	readonly writeAlone = async (
		connection: MysqlConnection,
		given: Statements,
		options: QueryOptions,
	): Promise<readonly Result[]> => {
		await this.checkPrimary(connection);
		return exchange(connection, given, options);
	};

	/** Commits writes that can be repeated without harm, in one round trip, and returns their results. */
	readonly writeTogether = async (
		connection: MysqlConnection,
		given: Statements,
		options: QueryOptions,
	): Promise<readonly Result[]> => {
		await this.checkPrimary(connection);
		try {
			const all = [...statementsFor(connection, given), COMMIT];
			return (await exchangeAll(connection, all, options)).slice(0, -1);
		} catch (thrown) {
			await this.rollBack(connection, options);
			throw thrown;
		}
	};

	/**
	 * Sends the last writes of a transaction and COMMIT, and returns the results of
	 * the writes. If one of them fails, the server does not read COMMIT: nothing was
	 * done. Nor was it where COMMIT is refused because the server takes no writes.
	 * Any other failure leaves the outcome unknown.
	 */
	async #commit(
		connection: MysqlConnection,
		last: readonly Sql[],
		options: QueryOptions,
		wrote?: () => readonly string[],
	): Promise<readonly Result[]> {
		let done = 0;
		const executed = () => {
			done++;
		};
		try {
			const results = await exchange(connection, [...last, COMMIT], options, {
				executed,
				wrote,
			});
			return results.slice(0, -1);
		} catch (thrown) {
			const isAnswered =
				thrown instanceof StorageFailure &&
				thrown.errno !== null &&
				thrown.kind !== "connectionLost";
			// A server that takes no writes any more rolls back what it refuses to commit.
			const isRefused = done < last.length || refusesWrites(thrown);
			if (isAnswered && isRefused) {
				await this.rollBack(connection, options);
				throw thrown;
			}
			connection.destroy();
			// The server sends this error instead of reading a further statement.
			if (isClientTimeout(thrown)) throw thrown;
			throw this.#failure(
				"unknownOutcome",
				"COMMIT was sent, but no answer says whether it was done.",
				thrown,
			);
		}
	}

	/**
	 * Throws `readOnly` if this process may not write here: the writes of a
	 * topology's primary wait for a newer version then. Null: it may, without a wait.
	 */
	checkPrimary({ takesWrites }: MysqlConnection): Promise<void> | null {
		// It may by now; but then it may have taken another's place, which only a new session finds out.
		if (!takesWrites && this.#guard !== null) throw this.#readOnly();
		const refusal = this.#guard?.refusal(this.#host) ?? null;
		if (refusal === null) return null;
		const check = async () => {
			const reason = await refusal;
			if (reason === null) return;
			const isStopped = this.#guard?.isStopped?.(this.#host) ?? false;
			throw new StorageFailure(isStopped ? "stopped" : "readOnly", reason, {
				host: this.#host,
				statement: "none",
			});
		};
		return check();
	}

	/**
	 * Ends a transaction that writes nothing, after some last reads, in one round
	 * trip, and returns their results. It has no COMMIT to show that this server is
	 * the primary. The name may have led to a former one, which lacks what was
	 * committed since. Such a server takes no writes, so that is asked too.
	 */
	readonly endUnwritten = async (
		connection: MysqlConnection,
		given: Statements,
		options: QueryOptions,
	): Promise<readonly Result[]> => {
		const last = statementsFor(connection, given);
		let results: readonly Result[];
		try {
			const all = [...last, TAKES_WRITES, ROLLBACK];
			results = await exchangeAll(connection, all, options);
		} catch (thrown) {
			await this.rollBack(connection, options);
			throw thrown;
		}
		const answer = results[last.length] as readonly Row[];
		if (takesWrites(answer[0])) return results.slice(0, last.length);
		connection.destroy();
		throw this.#readOnly();
	};

	/** A connection that cannot roll back is destroyed; the server rolls back when it ends. */
	async rollBack(
		connection: MysqlConnection,
		options: QueryOptions,
	): Promise<void> {
		if (connection.isLost) return;
		const deadline = deadlineIn(ROLLBACK_MS);
		try {
			await exchange(connection, [ROLLBACK], {
				...options,
				deadline,
			});
		} catch {
			connection.destroy();
		}
	}

	#readOnly(): StorageFailure {
		return new StorageFailure(
			"readOnly",
			"The server takes no writes, so no write may rely on what it says.",
			{
				host: this.#host,
				statement: TAKES_WRITES.name,
				errno: READ_ONLY_MODE,
			},
		);
	}

	#failure(
		kind: "timeout" | "connectionLost" | "unknownOutcome",
		message: string,
		cause?: unknown,
	): StorageFailure {
		const statement = COMMIT.name;
		return new StorageFailure(kind, message, {
			host: this.#host,
			statement,
			...(cause !== undefined && { cause }),
		});
	}
}

/** Statements on one connection, and what is known of them. Callers take single functions of it. */
export class SentStatements implements MysqlTransaction {
	/** Whether one was sent. */
	begun = false;
	/** When the last was answered. */
	answeredAt = performance.now();
	readonly #connection: MysqlConnection;
	readonly #options: QueryOptions;

	constructor(connection: MysqlConnection, options: QueryOptions) {
		this.#connection = connection;
		this.#options = options;
	}

	readonly rows = async (sql: Sql): Promise<readonly Row[]> =>
		(await this.together([sql]))[0] as readonly Row[];

	readonly run = async (sql: Sql): Promise<WriteResult> =>
		(await this.together([sql]))[0] as WriteResult;

	readonly together = async (
		statements: readonly Sql[],
	): Promise<readonly Result[]> => {
		this.begun = true;
		try {
			return await exchangeAll(this.#connection, statements, this.#options);
		} finally {
			this.answeredAt = performance.now();
		}
	};
}
