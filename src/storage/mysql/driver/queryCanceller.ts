import { Connection } from "./connection.ts";
import { limitOf } from "./deadline.ts";
import type { Address } from "./driver.ts";

/** Past this many waiting, the server's own limit on statements has to do. */
const MAX_WAITING = 100;
const KILL_MS = 1_000;

/**
 * Ends, on the server, the connections whose statement nobody waits for any
 * more, on a connection of its own: the pool may be full of just those. A kill
 * that fails is not repeated: the server stops a SELECT by itself
 * (`session.ts`), and a transaction when it sees that its client is gone.
 */
export class Killer implements AsyncDisposable {
	readonly #address: Address;
	readonly #waiting: number[] = [];
	#working: Promise<void> | null = null;

	constructor(address: Address) {
		this.#address = address;
	}

	kill(id: number): void {
		if (this.#waiting.length >= MAX_WAITING) return;
		this.#waiting.push(id);
		this.#working ??= this.#work();
	}

	/** Once nothing is to be killed any more. */
	async [Symbol.asyncDispose](): Promise<void> {
		await this.#working;
	}

	async #work(): Promise<void> {
		let connection: Connection | null = null;
		try {
			connection = await Connection.open(
				this.#address,
				KILL_MS,
				limitOf(KILL_MS),
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

	async #killOne(connection: Connection, id: number): Promise<void> {
		try {
			await connection.run(
				{ name: "kill", text: "KILL ?", values: [id] },
				limitOf(KILL_MS),
			);
		} catch (thrown) {
			// It has ended meanwhile, which is as good; anything else ends the work.
			if (connection.lost) throw thrown;
		}
	}
}
