import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import {
	type OpenMode,
	type ShardFileLocation,
	SqliteConnection,
} from "./sqliteConnection.ts";

/**
 * A shard's file: one connection that writes and one that only reads, so that
 * a read never sees a transaction half done. Both are opened when first
 * needed, and again after the file failed: what is mended is used without a
 * restart.
 */
export class ShardFile implements Disposable {
	readonly location: ShardFileLocation;
	readonly #readOnly: boolean;
	#reader: SqliteConnection | null = null;
	#writer: SqliteConnection | null = null;
	#closed = false;

	constructor(
		place: ShardFileLocation,
		options: { readonly readOnly: boolean },
	) {
		this.location = place;
		this.#readOnly = options.readOnly;
	}

	get reader(): SqliteConnection {
		this.#reader = this.#good(this.#reader, "read");
		return this.#reader;
	}

	get writer(): SqliteConnection {
		this.#writer = this.#good(this.#writer, "write");
		return this.#writer;
	}

	/** Create the file and its folder if they are missing, and run `body` in one transaction. */
	create(body: (connection: SqliteConnection) => void): void {
		const writer = this.#good(this.#writer, "create");
		this.#writer = writer;
		writer.transaction(() => body(writer));
	}

	[Symbol.dispose](): void {
		this.#closed = true;
		// The reader first: the last to close empties the WAL, which only the writer can.
		this.#reader?.[Symbol.dispose]();
		this.#writer?.[Symbol.dispose]();
		this.#reader = null;
		this.#writer = null;
	}

	#good(connection: SqliteConnection | null, mode: OpenMode): SqliteConnection {
		if (this.#closed) {
			throw new TypeError(
				`expected ${this.location.host} to be in use but got: a call after it was closed`,
			);
		}
		if (mode !== "read" && this.#readOnly) {
			throw new TypeError(
				`expected only reads of ${this.location.host}, which was opened read-only, but got: a write`,
			);
		}
		if (connection !== null && !connection.isLost) return connection;
		connection?.[Symbol.dispose]();
		if (mode === "create") {
			mkdirSync(dirname(this.location.path), { recursive: true });
		}
		return new SqliteConnection(this.location, mode);
	}
}
