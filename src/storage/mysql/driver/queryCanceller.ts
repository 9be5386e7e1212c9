import { deadlineIn } from "../../../util/deadline.ts";
import type { ServerAddress } from "./mysql2Connection.ts";
import { MysqlConnection } from "./mysqlConnection.ts";
import { serverOf } from "./session.ts";

/** More than this are left to the server's own time limit for statements. */
const MAX_WAITING = 100;
const KILL_MS = 1_000;

/**
 * Ends connections on the server whose statement nobody waits for any more. It
 * has a connection of its own, because the pool may be full of such statements.
 * A failed KILL is not repeated: the server itself stops a long SELECT
 * (`session.ts`), and a transaction whose client is gone.
 */
export class QueryCanceller implements AsyncDisposable {
	readonly #address: ServerAddress;
	readonly #waiting: Pick<MysqlConnection, "id" | "server">[] = [];
	#working: Promise<void> | null = null;

	constructor(address: ServerAddress) {
		this.#address = address;
	}

	cancel({ id, server }: Pick<MysqlConnection, "id" | "server">): void {
		if (this.#waiting.length >= MAX_WAITING) return;
		this.#waiting.push({ id, server });
		this.#working ??= this.#work();
	}

	/** Resolves when nothing is left to cancel. */
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
			// Another server may have given the same number to somebody else.
			const server = await serverOf(connection, deadlineIn(KILL_MS));
			for (let one = this.#waiting.shift(); one; one = this.#waiting.shift()) {
				if (one.server === server) await this.#killOne(connection, one.id);
			}
		} catch {
			// The server cannot be reached; the statement's caller has that error already.
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
			// The connection has ended by itself, or the server cannot be reached.
			if (connection.isLost) throw thrown;
		}
	}
}
