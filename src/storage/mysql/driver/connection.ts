import type { Socket } from "node:net";
import { type Limit, sooner, within } from "./deadline.ts";
import {
	type Address,
	type Done,
	type Driver,
	openDriver,
	type Row,
	type Value,
} from "./driver.ts";
import { failureOf, MysqlFailure } from "./failure.ts";

/** One SQL statement with placeholders for all values. */
export interface Sql {
	/** As `Statement.name`: what it does, never a value. */
	readonly name: string;
	readonly text: string;
	readonly values: readonly Value[];
}

const CONNECT = "connect";

/** One connection to one server, with one statement at a time. */
export class Connection {
	/** The server's own number of it, for KILL. */
	readonly id: number;
	readonly #host: string;
	readonly #driver: Driver;
	readonly #socket: Socket;
	#lost = false;
	#running = false;

	private constructor(host: string, driver: Driver, socket: Socket) {
		this.id = driver.threadId ?? 0;
		this.#host = host;
		this.#driver = driver;
		this.#socket = socket;
	}

	static async open(
		address: Address,
		connectMs: number,
		limit: Limit,
	): Promise<Connection> {
		const { driver, socket } = openDriver(address, connectMs);
		const connected = new Promise<void>((resolve, reject) => {
			driver.on("connect", () => resolve());
			// Stays for the life of the connection: an error without a listener ends the process.
			driver.on("error", reject);
		});
		try {
			await within(connected, sooner(limit, connectMs), () =>
				lateFailure(address.name, CONNECT),
			);
		} catch (thrown) {
			socket.destroy();
			throw wrap(thrown, limit, address.name, CONNECT);
		}
		const connection = new Connection(address.name, driver, socket);
		driver.on("error", () => connection.cut());
		socket.on("close", () => connection.cut());
		socket.on("end", () => connection.cut());
		return connection;
	}

	/** Whether it is of no use any more. */
	get lost(): boolean {
		return this.#lost;
	}

	/** Whether the server may still be at work on a statement nobody waits for. */
	get running(): boolean {
		return this.#running;
	}

	async rows(sql: Sql, limit: Limit): Promise<readonly Row[]> {
		return (await this.#query(sql, limit)) as readonly Row[];
	}

	async run(sql: Sql, limit: Limit): Promise<Done> {
		return (await this.#query(sql, limit)) as Done;
	}

	/** Ends it without a word. */
	cut(): void {
		this.#lost = true;
		this.#socket.destroy();
	}

	/** Ends it in order, which the server need not answer. */
	close(): void {
		this.#lost = true;
		this.#driver.end(() => this.#socket.destroy());
		setTimeout(() => this.#socket.destroy(), CLOSE_MS).unref();
	}

	async #query(
		{ name, text, values }: Sql,
		limit: Limit,
	): Promise<readonly Row[] | Done> {
		this.#running = true;
		const answer = new Promise<readonly Row[] | Done>((resolve, reject) => {
			this.#driver.query(
				{ sql: text, values, rowsAsArray: true },
				(error, answer) => {
					this.#running = false;
					if (error) reject(error);
					else resolve(answer);
				},
			);
		});
		try {
			return await within(answer, limit, () => lateFailure(this.#host, name));
		} catch (thrown) {
			const failure = wrap(thrown, limit, this.#host, name);
			// Who knows what it would answer next.
			const good =
				failure instanceof MysqlFailure &&
				failure.errno !== null &&
				failure.kind !== "lost" &&
				failure.kind !== "readOnly";
			if (!good) this.#lost = true;
			throw failure;
		}
	}
}

const CLOSE_MS = 1_000;

function lateFailure(host: string, statement: string): MysqlFailure {
	return new MysqlFailure("late", `expected an answer in time but got: none`, {
		host,
		statement,
	});
}

/** The abort's own reason stays as it is. */
function wrap(
	thrown: unknown,
	{ signal }: Limit,
	host: string,
	statement: string,
): unknown {
	if (signal?.aborted && thrown === signal.reason) return thrown;
	return thrown instanceof MysqlFailure
		? thrown
		: failureOf(thrown, host, statement);
}
