import {
	type Deadline,
	deadlineIn,
	withDeadline,
} from "../../../util/deadline.ts";
import {
	POOL_LEVELS,
	type PoolWait,
	STORAGE_CHANNELS,
} from "../../diagnostics.ts";
import { StorageFailure } from "../../storageFailure.ts";
import type { CurrentServer } from "./currentServer.ts";
import type { HostPace } from "./hostPace.ts";
import type { ServerAddress } from "./mysql2Connection.ts";
import { MysqlConnection, type Sql } from "./mysqlConnection.ts";
import { QueryCanceller } from "./queryCanceller.ts";
import type { QueryOptions } from "./queryOptions.ts";
import { recordNoConnection } from "./roundTripSpan.ts";
import { type Purpose, prepareSession } from "./session.ts";

export interface PoolOptions {
	readonly address: ServerAddress;
	readonly purpose: Purpose;
	/** Most connections at once. */
	readonly size: number;
	/** Most callers that wait for a connection. The next one fails at once. */
	readonly maxWaiting: number;
	/** How long nothing may come from the server while a connection is opened. */
	readonly connectMs: number;
	/** The server stops a statement after this long. */
	readonly statementMs: number;
	/** The server ends a silent connection after this long (`HostLimits.silenceMs`). */
	readonly silenceMs: number;
	/** See `HostLimits.leanBinlog`. */
	readonly leanBinlog?: boolean | undefined;
	/** An idle connection is closed after this long. */
	readonly maxIdleMs: number;
	/** Until then it is asked for a sign of life this often, because the server would end it: null, if it would not. */
	readonly askMs: number | null;
	/** A connection is not lent again after about this long: up to a third less, so that they do not end together. */
	readonly lifetimeMs: number;
	/** That its sessions find, and those of the host's other pools. */
	readonly server: CurrentServer;
	readonly pace: HostPace;
}

const ACQUIRE = "acquire";
/** Round trips of an opening, more or less: each of them may take `connectMs`. */
const OPENING_STEPS = 5;
/** While others are open. */
const OPENED_AT_ONCE = 2;

interface Waiting {
	readonly give: (
		connection: MysqlConnection | Promise<MysqlConnection>,
	) => void;
	/** Whether a connection is being opened for it. */
	readonly opens: boolean;
}

interface Idle {
	readonly connection: MysqlConnection;
	/** When a caller gave it back. */
	readonly since: number;
	/** When the server answered last. */
	readonly answeredAt: number;
}

const ALIVE: Sql = { name: "alive", text: "DO 0", values: [] };

/**
 * Connections to one server for one purpose, each checked out by one caller at
 * a time. mysql2's own pool does not do: its callers wait without a deadline.
 */
export class Pool implements AsyncDisposable {
	readonly #options: PoolOptions;
	readonly #canceller: QueryCanceller;
	/** Last in, first out, so that surplus connections grow old. */
	readonly #idle: Idle[] = [];
	readonly #lent = new Set<MysqlConnection>();
	readonly #waiting = new Set<Waiting>();
	#opening = 0;
	/** Ends openings that nobody needs any more. */
	readonly #end = new AbortController();
	#closed = false;
	/** Runs while connections are idle. */
	#idleTimer: NodeJS.Timeout | null = null;
	readonly #reported = POOL_LEVELS.add(() => ({
		host: this.#options.address.name,
		purpose: this.#options.purpose,
		used: this.#lent.size + this.#opening,
		idle: this.#idle.length,
		waiting: this.#waiting.size,
	}));

	constructor(options: PoolOptions) {
		this.#options = options;
		this.#canceller = new QueryCanceller(options.address);
	}

	async acquire(deadline: Deadline): Promise<MysqlConnection> {
		if (this.#closed) throw this.#closedError();
		const idle = this.#takeIdle();
		if (idle !== null) return idle;
		const opens = this.#size < this.#options.size && !this.#isGrowing;
		const queued = this.#waiting.size - this.#opening;
		if (!opens && queued >= this.#options.maxWaiting) {
			throw this.#exhausted("Too many callers wait for a connection");
		}
		const { promise, resolve } = Promise.withResolvers<MysqlConnection>();
		const waiting: Waiting = { give: resolve, opens };
		this.#waiting.add(waiting);
		if (opens) this.#openFor(waiting);
		const began = performance.now();
		let given: MysqlConnection | null = null;
		try {
			given = await withDeadline(promise, deadline, () =>
				// If none is in use, the server has opened none: that is its silence.
				opens || this.#lent.size === 0
					? this.#late()
					: this.#exhausted("No free connection before the deadline"),
			);
			return given;
		} finally {
			if (!opens) this.#reportWait(performance.now() - began, given !== null);
			if (given === null && !this.#waiting.delete(waiting)) {
				// It was given a connection just as it gave up.
				promise.then(
					(connection) => this.release(connection),
					() => {},
				);
			}
		}
	}

	/**
	 * The caller gets the connection that is opened, or one that somebody gives back
	 * before: an opening takes several round trips. It continues where its caller gives
	 * up or needs it no more: a slow server would never get one opened else.
	 */
	#openFor(waiting: Waiting): void {
		this.#open().then(
			(connection) => {
				if (this.#waiting.delete(waiting)) waiting.give(connection);
				else this.release(connection);
			},
			(thrown) => {
				if (this.#waiting.delete(waiting)) waiting.give(Promise.reject(thrown));
			},
		);
	}

	/** Nobody waits for it. */
	#keep(opening: Promise<MysqlConnection>): void {
		opening.then(
			(connection) => this.release(connection),
			() => {},
		);
	}

	/** To the caller that waits longest, unless the connection is unusable. */
	release(connection: MysqlConnection, since = performance.now()): void {
		this.#lent.delete(connection);
		if (connection.isRunning) {
			connection.destroy();
			this.#canceller.cancel(connection);
		}
		if (!this.#isLendable(connection) || this.#closed) {
			if (connection.isLost) connection.destroy();
			else connection.close();
			this.#openForNext();
			return;
		}
		const next = this.#next();
		if (next === null) {
			const now = performance.now();
			this.#idle.push({ connection, since, answeredAt: now });
			this.#startIdleTimer();
		} else {
			this.#lent.add(connection);
			next.give(connection);
		}
	}

	/** If one connection is dead, the others most likely are too. */
	closeIdle(): void {
		for (const { connection } of this.#idle.splice(0)) connection.close();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#closed = true;
		this.#end.abort(this.#closedError());
		this.#reported[Symbol.dispose]();
		if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
		this.closeIdle();
		for (let next = this.#next(); next; next = this.#next()) {
			next.give(Promise.reject(this.#closedError()));
		}
		for (const connection of this.#lent) connection.destroy();
		await this.#canceller[Symbol.asyncDispose]();
	}

	#reportWait(ms: number, ok: boolean): void {
		if (!STORAGE_CHANNELS.poolWait.hasSubscribers) return;
		const { address, purpose } = this.#options;
		const wait: PoolWait = { host: address.name, purpose, ms, ok };
		STORAGE_CHANNELS.poolWait.publish(wait);
	}

	/** Opens one in the background, to ask which server the name leads to. */
	openOne(): void {
		if (this.#closed || this.#size >= this.#options.size) return;
		this.#keep(this.#open());
	}

	/** Opens connections in the background, until there are so many. */
	warm(count: number): void {
		if (this.#closed) return;
		const most = Math.min(count, this.#options.size);
		for (let size = this.#size; size < most; size++) {
			this.#keep(this.#open());
		}
	}

	/**
	 * Whether more connections are being opened, and there is one that somebody
	 * gives back: sooner, most likely, than as many more could be opened. A server
	 * that has just become the primary would get those of all processes at once.
	 */
	get #isGrowing(): boolean {
		return this.#opening >= OPENED_AT_ONCE && this.#size > this.#opening;
	}

	/** Whether a connection is idle. */
	get isFree(): boolean {
		return this.#idle.length > 0;
	}

	/** Whether a connection is open that may work. */
	get hasConnection(): boolean {
		return (
			this.#lent.size > 0 ||
			this.#idle.some(({ connection }) => !connection.isLost)
		);
	}

	get #size(): number {
		return this.#opening + this.#lent.size + this.#idle.length;
	}

	#takeIdle(): MysqlConnection | null {
		for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
			const { connection, since, answeredAt } = idle;
			if (connection.isLost) continue;
			// The timer may be late: the process was busy, or frozen.
			const { maxIdleMs, askMs } = this.#options;
			const now = performance.now();
			const isOld =
				now - since > maxIdleMs || (askMs !== null && now - answeredAt > askMs);
			if (isOld || !this.#isLendable(connection)) {
				connection.close();
				continue;
			}
			this.#lent.add(connection);
			return connection;
		}
		return null;
	}

	/**
	 * A connection that is asked is lent meanwhile. With a new one, a write would wait
	 * for several round trips more: for too long, if the host is slow.
	 */
	async #ask({ connection, since }: Idle): Promise<void> {
		this.#lent.add(connection);
		try {
			await connection.run(ALIVE, deadlineIn(this.#options.connectMs));
		} catch {
			connection.destroy();
		} finally {
			this.release(connection, since);
		}
	}

	/** Not to another server than the newest session found. */
	#isLendable({ isLost, generation, lendUntil }: MysqlConnection): boolean {
		return (
			!isLost &&
			generation === this.#options.server.generation &&
			performance.now() < lendUntil
		);
	}

	/** Else the server would end them, and count each as aborted. */
	#startIdleTimer(): void {
		if (this.#idleTimer !== null || this.#idle.length === 0) return;
		const { maxIdleMs, askMs } = this.#options;
		const dueAt = ({ since, answeredAt }: Idle) =>
			Math.min(
				since + maxIdleMs,
				askMs === null ? Number.POSITIVE_INFINITY : answeredAt + askMs,
			);
		const look = () => {
			this.#idleTimer = null;
			const now = performance.now();
			const due = this.#idle.filter((idle) => dueAt(idle) <= now);
			for (const idle of due) {
				this.#idle.splice(this.#idle.indexOf(idle), 1);
				if (now - idle.since >= maxIdleMs) idle.connection.close();
				else void this.#ask(idle);
			}
			this.#startIdleTimer();
		};
		const ms = Math.min(...this.#idle.map(dueAt)) - performance.now();
		this.#idleTimer = setTimeout(look, Math.max(1, Math.ceil(ms))).unref();
	}

	async #open(): Promise<MysqlConnection> {
		this.#opening += 1;
		const { connectMs } = this.#options;
		const deadline = deadlineIn(connectMs * OPENING_STEPS, this.#end.signal);
		let connection: MysqlConnection | null = null;
		try {
			// Once more if a newer session has found another server meanwhile.
			connection =
				(await this.#openSession(deadline)) ??
				(await this.#openSession(deadline));
			if (connection === null) throw this.#movedError();
			this.#lent.add(connection);
			return connection;
		} finally {
			this.#opening -= 1;
			if (connection === null || connection.isLost) {
				// None will be given back either: each that waits finds out for itself.
				while (this.#openForNext());
			} else if (this.#opening < OPENED_AT_ONCE) this.#openForNext();
		}
	}

	/** Null if the session is on an older server than the newest. */
	async #openSession(deadline: Deadline): Promise<MysqlConnection | null> {
		const { address, connectMs, purpose, server, lifetimeMs, pace } =
			this.#options;
		const session = server.begin();
		const connection = await MysqlConnection.open(
			address,
			connectMs,
			deadline,
			purpose === "transaction",
			pace,
		);
		try {
			const prepared = await prepareSession(
				connection,
				address.name,
				this.#options,
				deadline,
			);
			const generation = server.found(session, prepared.server);
			if (generation === null) {
				connection.destroy();
				return null;
			}
			connection.product = prepared.product;
			connection.server = prepared.server.id;
			connection.takesWrites = prepared.server.takesWrites;
			connection.generation = generation;
			connection.lendUntil =
				performance.now() + lifetimeMs * (1 - Math.random() / 3);
			return connection;
		} catch (thrown) {
			connection.destroy();
			throw thrown;
		}
	}

	/** The next waiting caller opens a connection, if there is room for one more and somebody waits. */
	#openForNext(): boolean {
		if (this.#closed || this.#size >= this.#options.size) return false;
		const next = this.#next(({ opens }) => !opens);
		if (next === null) return false;
		const opening = this.#open();
		opening.catch(() => {});
		next.give(opening);
		return true;
	}

	#next(isMeant: (waiting: Waiting) => boolean = () => true): Waiting | null {
		for (const waiting of this.#waiting) {
			if (!isMeant(waiting)) continue;
			this.#waiting.delete(waiting);
			return waiting;
		}
		return null;
	}

	#closedError(): TypeError {
		return new TypeError(`${this.#options.address.name} is closed.`);
	}

	#movedError(): StorageFailure {
		const { name } = this.#options.address;
		return new StorageFailure(
			"connectionLost",
			`${name} leads to two servers at once.`,
			{ host: name, statement: ACQUIRE },
		);
	}

	#late(): StorageFailure {
		return new StorageFailure("timeout", "No connection in time.", {
			host: this.#options.address.name,
			statement: "connect",
		});
	}

	#exhausted(problem: string): StorageFailure {
		const { size, address } = this.#options;
		return new StorageFailure(
			"poolExhausted",
			`${problem}: all ${size} connections are in use and ${this.#waiting.size} callers wait.`,
			{ host: address.name, statement: ACQUIRE },
		);
	}
}

/** A connection of the pool. Nothing was sent while one is opened, so a patient caller tries again. */
export async function acquire(
	pool: Pool,
	{ deadline, trace, isPatient = false }: QueryOptions,
	host: string,
): Promise<MysqlConnection> {
	const askedAt = performance.now();
	for (;;) {
		try {
			const connection = await pool.acquire(deadline);
			const waitedMs = performance.now() - askedAt;
			connection.waitedMs = waitedMs > WAITED_MS ? waitedMs : 0;
			return connection;
		} catch (thrown) {
			const again =
				isPatient &&
				thrown instanceof StorageFailure &&
				thrown.kind === "timeout" &&
				performance.now() < deadline.until;
			if (again) continue;
			if (trace?.span) recordNoConnection(trace.span, host, askedAt, thrown);
			throw thrown;
		}
	}
}

/** An idle connection is there at once. */
const WAITED_MS = 1;
