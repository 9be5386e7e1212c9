import { dirname } from "node:path";
import { makeFolder } from "../../../util/makeFolder.ts";
import {
	type OpenMode,
	type ShardFileLocation,
	SqliteConnection,
} from "./sqliteConnection.ts";

/**
 * A shard's file: one connection that writes and one that only reads, so that
 * a read never sees an uncommitted transaction. Both are opened when first
 * needed, and reopened after the file failed: a repaired file is used without a
 * restart.
 */
export class ShardFile implements Disposable {
	readonly location: ShardFileLocation;
	readonly #readOnly: boolean;
	#reader: SqliteConnection | null = null;
	#writer: SqliteConnection | null = null;
	#closed = false;

	constructor(
		location: ShardFileLocation,
		options: { readonly readOnly: boolean },
	) {
		this.location = location;
		this.#readOnly = options.readOnly;
	}

	get name(): string {
		return this.location.host;
	}

	get reader(): SqliteConnection {
		this.#reader = this.#usable(this.#reader, "read");
		return this.#reader;
	}

	get writer(): SqliteConnection {
		this.#writer = this.#usable(this.#writer, "write");
		return this.#writer;
	}

	/** Create the file and its folder if they are missing, and run `body` in one transaction. */
	create(body: (connection: SqliteConnection) => void): void {
		const writer = this.#usable(this.#writer, "create");
		this.#writer = writer;
		writer.transaction(() => body(writer));
	}

	[Symbol.dispose](): void {
		this.#closed = true;
		// The reader first: the last connection to close empties the WAL, and only the writer can.
		this.#reader?.[Symbol.dispose]();
		this.#writer?.[Symbol.dispose]();
		this.#reader = null;
		this.#writer = null;
	}

	#usable(
		connection: SqliteConnection | null,
		mode: OpenMode,
	): SqliteConnection {
		if (this.#closed) {
			throw new TypeError(`${this.location.host} is closed.`);
		}
		if (mode !== "read" && this.#readOnly) {
			throw new TypeError(
				`${this.location.host} was opened read-only and takes no writes.`,
			);
		}
		if (connection !== null && !connection.isLost) return connection;
		connection?.[Symbol.dispose]();
		if (mode === "create") {
			makeFolder(dirname(this.location.path));
		}
		return new SqliteConnection(this.location, mode);
	}
}
