import { deadlineIn } from "../../../util/deadline.ts";
import type { ServerAddress } from "./mysql2Connection.ts";
import { MysqlConnection } from "./mysqlConnection.ts";

/** Past this many waiting, the server's own limit on statements has to do. */
const MAX_WAITING = 100;
const KILL_MS = 1_000;

/**
 * Ends, on the server, the connections whose statement nobody waits for any
 * more, on a connection of its own: the pool may be full of just those. A kill
 * that fails is not repeated: the server stops a SELECT by itself
 * (`session.ts`), and a transaction when it sees that its client is gone.
 */
export class QueryCanceller implements AsyncDisposable {
	readonly #address: ServerAddress;
	readonly #waiting: number[] = [];
	#working: Promise<void> | null = null;

	constructor(address: ServerAddress) {
		this.#address = address;
	}

	cancel(id: number): void {
		if (this.#waiting.length >= MAX_WAITING) return;
		this.#waiting.push(id);
		this.#working ??= this.#work();
	}

	/** Once nothing is to be killed any more. */
	async [Symbol.asyncDispose](): Promise<void> {
		await this.#working;
	}

	async #work(): Promise<void> {
		let connection: MysqlConnection | null = null;
		try {
			connection = await MysqlConnection.open(
				this.#address,
				KILL_MS,
				deadlineIn(KILL_MS),
			);
			for (let id = this.#waiting.shift(); id; id = this.#waiting.shift()) {
				await this.#killOne(connection, id);
			}
		} catch {
			// The server cannot be reached, as the statement's caller was told.
			this.#waiting.length = 0;
		} finally {
			connection?.close();
			this.#working = null;
		}
	}

	async #killOne(connection: MysqlConnection, id: number): Promise<void> {
		try {
			await connection.run(
				{ name: "kill", text: "KILL ?", values: [id] },
				deadlineIn(KILL_MS),
			);
		} catch (thrown) {
			// It has ended meanwhile, which is as good; anything else ends the work.
			if (connection.isLost) throw thrown;
		}
	}
}
