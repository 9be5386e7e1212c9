import type { Socket } from "node:net";
import { type Deadline, withDeadline } from "../../../util/deadline.ts";
import { StorageFailure } from "../../storageFailure.ts";
import type { HostPace } from "./hostPace.ts";
import {
	type Mysql2Connection,
	openMysql2Connection,
	type Product,
	type Result,
	type Row,
	type ServerAddress,
	type Value,
	type WriteResult,
	withValues,
} from "./mysql2Connection.ts";
import {
	endsConnection,
	isFromServer,
	isOfOneDatabase,
	toStorageFailure,
} from "./toStorageFailure.ts";

/** One SQL statement with placeholders for all values. */
export interface Sql {
	/** As `Statement.name`: what it does, never a value. */
	readonly name: string;
	readonly text: string;
	readonly values: readonly Value[];
	/** The shard it is for, where it is sent together with statements for others. */
	readonly shard?: number;
}

const CONNECT = "connect";

/** One connection to one server. It runs one statement at a time. */
export class MysqlConnection {
	/** The server's connection id, for KILL. */
	readonly id: number;
	/** Whose statements the server understands. Known once the session is prepared. */
	product: Product = "MySQL";
	/** `ServerIdentity.id` of the server; empty before the session is prepared. */
	server = "";
	/** Whether the server took writes then. */
	takesWrites = true;
	/** The generation of `CurrentServer` when the session was prepared. */
	generation = 0;
	/** From then on it is not lent again. On the clock of `performance.now()`. */
	lendUntil = Number.POSITIVE_INFINITY;
	/** How long the present user of the connection waited for it. Milliseconds; 0 once it is reported. */
	waitedMs = 0;
	/** The GTID of the last transaction that the server acknowledged on this connection; null once it is noted. */
	gtid: string | null = null;
	/** Its name, as statements and errors have it. */
	readonly host: string;
	readonly #driver: Mysql2Connection;
	readonly #socket: Socket;
	readonly #pace: HostPace | null;
	#lost = false;
	#running = false;

	private constructor(
		host: string,
		driver: Mysql2Connection,
		socket: Socket,
		pace: HostPace | null,
	) {
		this.#pace = pace;
		this.id = driver.threadId ?? 0;
		this.host = host;
		this.#driver = driver;
		this.#socket = socket;
	}

	static async open(
		address: ServerAddress,
		/** How long nothing may come from the server while it is opened. */
		connectMs: number,
		deadline: Deadline,
		/** Whether `together` may be called. */
		multipleStatements = false,
		pace: HostPace | null = null,
	): Promise<MysqlConnection> {
		const { driver, socket } = openMysql2Connection(
			address,
			multipleStatements,
		);
		const silent = () => timeoutFailure(address.name, CONNECT);
		let stop = () => {};
		const connected = new Promise<void>((resolve, reject) => {
			driver.on("connect", () => resolve());
			// It stays for the life of the connection: an error without a listener ends the process.
			driver.on("error", reject);
			stop = whileReceiving(socket, connectMs, pace, () => reject(silent()));
		});
		try {
			await withDeadline(connected, deadline, silent);
			pace?.received();
		} catch (thrown) {
			socket.destroy();
			throw wrap(thrown, deadline, address.name, CONNECT);
		} finally {
			stop();
		}
		const connection = new MysqlConnection(address.name, driver, socket, pace);
		driver.on("error", () => connection.destroy());
		socket.on("close", () => connection.destroy());
		socket.on("end", () => connection.destroy());
		return connection;
	}

	/** Whether the connection is unusable. */
	get isLost(): boolean {
		return this.#lost;
	}

	/** Whether the server may still run a statement, also one that nobody waits for. */
	get isRunning(): boolean {
		return this.#running;
	}

	async rows(sql: Sql, deadline: Deadline): Promise<readonly Row[]> {
		return (await this.together([sql], deadline))[0] as readonly Row[];
	}

	async run(sql: Sql, deadline: Deadline): Promise<WriteResult> {
		return (await this.together([sql], deadline))[0] as WriteResult;
	}

	/**
	 * Some statements in one round trip: their texts and values, joined. The server
	 * runs none of those after one that fails; those before it stay executed.
	 */
	async together(
		statements: readonly Sql[],
		deadline: Deadline,
		/** Called for each write that the server has executed, even if a later one fails. */
		executed?: () => void,
	): Promise<readonly Result[]> {
		const isOne = statements.length === 1;
		const { text, values } = isOne
			? (statements[0] as Sql)
			: { text: joined(statements), values: [] };
		const name = () => statements.map(({ name }) => name).join("; ");
		this.#running = true;
		const began = performance.now();
		const { promise, resolve, reject } = Promise.withResolvers<
			Result | readonly Result[]
		>();
		try {
			const query = this.#driver.query(
				{ sql: text, values, rowsAsArray: true },
				(error, response) => {
					this.#running = false;
					if (!error || isFromServer(error)) {
						this.#pace?.answered(performance.now() - began);
					}
					if (error) reject(error);
					else resolve(response);
				},
			);
			if (executed !== undefined) query.on("result", executed);
			const answer = await withDeadline(promise, deadline, () =>
				timeoutFailure(this.host, name()),
			);
			const results = (isOne ? [answer] : answer) as readonly Result[];
			this.gtid = gtidOf(results.at(-1)) ?? this.gtid;
			return results;
		} catch (thrown) {
			const failure = wrap(thrown, deadline, this.host, name());
			// Its next response could be that of an earlier statement.
			const good =
				failure instanceof StorageFailure &&
				!endsConnection(failure) &&
				(failure.kind !== "readOnly" || isOfOneDatabase(failure));
			if (!good) this.#lost = true;
			throw failure;
		}
	}

	/** Closes the socket at once. */
	destroy(): void {
		this.#lost = true;
		this.#socket.destroy();
	}

	/** Says goodbye to the server, which then closes the connection. */
	close(): void {
		this.#lost = true;
		this.#driver.end();
		setTimeout(() => this.#socket.destroy(), CLOSE_MS).unref();
	}
}

const CLOSE_MS = 1_000;

/**
 * Calls `onSilence` once nothing came for so long. A connection takes several round
 * trips to open, so a server that is slow answers something before it has opened one.
 * Returns what ends this.
 */
function whileReceiving(
	socket: Socket,
	ms: number,
	pace: HostPace | null,
	onSilence: () => void,
): () => void {
	let bytes = 0;
	let hasEnded = false;
	let timer: NodeJS.Timeout;
	const look = () => {
		if (hasEnded) return;
		if (socket.bytesRead <= bytes) return onSilence();
		bytes = socket.bytesRead;
		pace?.received();
		wait();
	};
	// After a busy stretch the sockets are read first: see util/deadline.ts.
	const wait = () => {
		timer = setTimeout(() => setImmediate(look), ms);
	};
	wait();
	return () => {
		hasEnded = true;
		clearTimeout(timer);
	};
}

function timeoutFailure(host: string, statement: string): StorageFailure {
	return new StorageFailure("timeout", "No answer in time.", {
		host,
		statement,
	});
}

/** The abort's own reason stays as it is. */
function wrap(
	thrown: unknown,
	{ signal }: Deadline,
	host: string,
	statement: string,
): unknown {
	if (signal?.aborted && thrown === signal.reason) return thrown;
	return thrown instanceof StorageFailure
		? thrown
		: toStorageFailure(thrown, host, statement);
}

/** Values go into each text by itself: the others are long, and have none. */
function joined(statements: readonly Sql[]): string {
	return statements
		.map(({ text, values }) => withValues(text, values))
		.join(";\n");
}

/** Only the last of several statements can be COMMIT. */
function gtidOf(last: Result | undefined): string | undefined {
	return last !== undefined && "stateChanges" in last
		? last.stateChanges?.gtids?.[0]
		: undefined;
}
