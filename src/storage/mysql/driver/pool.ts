import {
	type Deadline,
	earlierOf,
	withDeadline,
} from "../../../util/deadline.ts";
import { StorageFailure } from "../../storageFailure.ts";
import type { ServerAddress } from "./mysql2Connection.ts";
import { MysqlConnection } from "./mysqlConnection.ts";
import { QueryCanceller } from "./queryCanceller.ts";
import { type Purpose, prepareSession } from "./session.ts";

export interface PoolOptions {
	readonly address: ServerAddress;
	readonly purpose: Purpose;
	/** Most connections at once. */
	readonly size: number;
	/** Most that wait for one; the next is refused at once. */
	readonly maxWaiting: number;
	readonly connectMs: number;
	/** After which the server itself stops a statement. */
	readonly statementMs: number;
}

/** A connection that was idle longer is not trusted: something between may have forgotten it. */
const MAX_IDLE_MS = 60_000;

const ACQUIRE = "acquire";

export interface CheckedOutConnection {
	readonly connection: MysqlConnection;
	/** Whether it served before, and so may have died unnoticed since. */
	readonly reused: boolean;
}

interface Waiting {
	readonly give: (
		lease: CheckedOutConnection | Promise<CheckedOutConnection>,
	) => void;
	readonly limit: Deadline;
}

interface Idle {
	readonly connection: MysqlConnection;
	readonly since: number;
}

/**
 * Connections to one server, for one purpose, each lent to one user at a time.
 * Our own instead of mysql2's, whose waiting has no deadline and cannot be
 * given up, and which does not say whether a connection is new.
 */
export class Pool implements AsyncDisposable {
	readonly #options: PoolOptions;
	readonly #killer: QueryCanceller;
	/** The one used last at the end, and taken first: the others may grow old. */
	readonly #idle: Idle[] = [];
	readonly #lent = new Set<MysqlConnection>();
	readonly #waiting = new Set<Waiting>();
	#opening = 0;
	#closed = false;

	constructor(options: PoolOptions) {
		this.#options = options;
		this.#killer = new QueryCanceller(options.address);
	}

	async acquire(limit: Deadline): Promise<CheckedOutConnection> {
		if (this.#closed) throw this.#closedError();
		const idle = this.#takeIdle();
		if (idle !== null) return { connection: idle, reused: true };
		if (this.#size < this.#options.size) return this.#open(limit);
		if (this.#waiting.size >= this.#options.maxWaiting) {
			throw this.#busy(`fewer than ${this.#options.maxWaiting} waiting`);
		}
		const { promise, resolve } = Promise.withResolvers<CheckedOutConnection>();
		const waiting: Waiting = { give: resolve, limit };
		this.#waiting.add(waiting);
		let given: CheckedOutConnection | null = null;
		try {
			given = await withDeadline(promise, limit, () =>
				this.#busy("a free connection in time"),
			);
			return given;
		} finally {
			if (given === null && !this.#waiting.delete(waiting)) {
				// It was given one just as it gave up.
				promise.then(
					({ connection }) => this.release(connection),
					() => {},
				);
			}
		}
	}

	/** To whoever waits longest, unless it is of no use any more. */
	release(connection: MysqlConnection): void {
		this.#lent.delete(connection);
		if (connection.isRunning) {
			connection.destroy();
			this.#killer.cancel(connection.id);
		}
		if (connection.isLost || this.#closed) {
			if (connection.isLost) connection.destroy();
			else connection.close();
			this.#openForNext();
			return;
		}
		const next = this.#next();
		if (next === null) {
			this.#idle.push({ connection, since: performance.now() });
		} else {
			this.#lent.add(connection);
			next.give({ connection, reused: true });
		}
	}

	/** One was found dead, so the others most likely are too. */
	closeIdle(): void {
		for (const { connection } of this.#idle.splice(0)) connection.close();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#closed = true;
		this.closeIdle();
		for (let next = this.#next(); next; next = this.#next()) {
			next.give(Promise.reject(this.#closedError()));
		}
		for (const connection of this.#lent) connection.destroy();
		await this.#killer[Symbol.asyncDispose]();
	}

	get #size(): number {
		return this.#opening + this.#lent.size + this.#idle.length;
	}

	#takeIdle(): MysqlConnection | null {
		for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
			const { connection, since } = idle;
			if (connection.isLost) continue;
			if (performance.now() - since > MAX_IDLE_MS) {
				connection.close();
				continue;
			}
			this.#lent.add(connection);
			return connection;
		}
		return null;
	}

	async #open(limit: Deadline): Promise<CheckedOutConnection> {
		const { address, purpose, connectMs, statementMs } = this.#options;
		this.#opening += 1;
		let connection: MysqlConnection | null = null;
		try {
			connection = await MysqlConnection.open(address, connectMs, limit);
			await prepareSession(
				connection,
				address.name,
				purpose,
				statementMs,
				earlierOf(limit, connectMs),
			);
			this.#lent.add(connection);
			return { connection, reused: false };
		} catch (thrown) {
			connection?.destroy();
			throw thrown;
		} finally {
			this.#opening -= 1;
			if (connection === null || connection.isLost) this.#openForNext();
		}
	}

	/** A place came free: the next in line may open a connection of its own. */
	#openForNext(): void {
		if (this.#closed || this.#size >= this.#options.size) return;
		const next = this.#next();
		if (next === null) return;
		const lease = this.#open(next.limit);
		lease.catch(() => {});
		next.give(lease);
	}

	#next(): Waiting | null {
		for (const waiting of this.#waiting) {
			this.#waiting.delete(waiting);
			return waiting;
		}
		return null;
	}

	#closedError(): TypeError {
		return new TypeError(
			`expected ${this.#options.address.name} to be in use but got: a call after it was closed`,
		);
	}

	#busy(expected: string): StorageFailure {
		const { size, address } = this.#options;
		return new StorageFailure(
			"poolExhausted",
			`expected ${expected} but got: all ${size} connections in use and ${this.#waiting.size} waiting`,
			{ host: address.name, statement: ACQUIRE },
		);
	}
}
