import { randomBytes } from "node:crypto";
import {
	accessSync,
	closeSync,
	constants,
	existsSync,
	fsyncSync,
	openSync,
	readlinkSync,
	renameSync,
	rmSync,
	writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { makeFolder } from "../../util/makeFolder.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { temporaryName } from "../../util/temporaryName.ts";
import { NotUtf8Error, readTextFileSync } from "../../util/textFile.ts";
import { watchFiles } from "../../util/watchFiles.ts";
import {
	type Announcement,
	checkPath,
	conflictAt,
	type StoreChange,
	type StoredText,
	TOPOLOGY,
	type TopologyStore,
} from "../store.ts";
import { FileAnnouncements, hashed, unavailable } from "./fileAnnouncements.ts";

interface FileStoreOptions {
	/** How often files are read where the file system reports no changes. Milliseconds. */
	readonly pollMs?: number | undefined;
	/** How often an announcement is renewed; it is gone ten times as long after its process. */
	readonly renewMs?: number | undefined;
}

const POLL_MS = 1_000;
/** kubelet syncs a ConfigMap each minute, from what it read up to a minute before. */
const KUBELET_MS = 120_000;
/** From a new topology to its hint: it is renamed into place as a whole, and a reader looks twice at a bad one. */
const HINT_MS = 2;
const RENEW_MS = 1_000;
/** A writer holds the database for milliseconds. */
const BUSY_LIMIT_MS = 10_000;
const BUSY_RETRY_MS = 20;

/**
 * The topology in a JSON file that people may edit, and everything else in a
 * folder beside it, `FILE.d`: texts in an SQLite database, whose transactions make
 * a write of several paths all or nothing even if its process is killed, and
 * announcements in files that are touched again and again.
 *
 * A new topology is first committed to the database, then renamed into place.
 * If a writer was killed between the two, the next process renames it.
 */
export function openFileStore(
	file: string,
	options: FileStoreOptions = {},
): TopologyStore {
	return new FileStore(file, options);
}

class FileStore implements TopologyStore {
	readonly name: string;
	readonly #folder: string;
	readonly #pollMs: number;
	readonly #announcements: FileAnnouncements;
	readonly #open = new Set<AsyncDisposable>();
	#database: DatabaseSync | null = null;

	constructor(
		file: string,
		{ pollMs = POLL_MS, renewMs = RENEW_MS }: FileStoreOptions,
	) {
		this.name = file;
		this.#folder = `${file}.d`;
		this.#pollMs = pollMs;
		this.#announcements = new FileAnnouncements(
			file,
			join(this.#folder, "live"),
			renewMs,
		);
	}

	get arrivesMs(): number {
		try {
			return readlinkSync(this.name).startsWith("..data/") ? KUBELET_MS : 0;
		} catch {
			return 0;
		}
	}

	get hasMembers(): boolean {
		try {
			const folder = existsSync(this.#folder)
				? this.#folder
				: dirname(this.name);
			accessSync(folder, constants.W_OK);
			return true;
		} catch {
			return false;
		}
	}

	async get(path: string): Promise<StoredText | null> {
		checkPath(path);
		if (path === TOPOLOGY) {
			await this.#finishPublishing();
			return this.#readTopology();
		}
		const announced = await this.#announcements.read(path);
		if (announced !== null) return announced;
		return this.#withDatabase("read", (database) => textOf(database, path));
	}

	async list(path: string): Promise<readonly string[]> {
		checkPath(path);
		const stored = await this.#withDatabase("read", (database) =>
			database
				.prepare("SELECT path FROM texts WHERE path >= ? AND path < ?")
				.all(`${path}/`, `${path}0`)
				.map((row) => String(row.path)),
		);
		const names = (stored ?? []).map(
			(each) => each.slice(path.length + 1).split("/")[0] as string,
		);
		for (const name of await this.#announcements.list(path)) names.push(name);
		return [...new Set(names)].sort();
	}

	async write(changes: readonly StoreChange[]): Promise<void> {
		for (const { path } of changes) checkPath(path);
		try {
			makeFolder(this.#folder, 0o700);
		} catch (error) {
			throw notWritable(this.name, this.#folder, error);
		}
		await this.#withDatabase("write", (database) => {
			this.#finishIn(database);
			for (const { path, revision } of changes) {
				const now =
					path === TOPOLOGY ? this.#readTopology() : textOf(database, path);
				if ((now?.revision ?? null) !== revision) throw conflictAt(path);
			}
			for (const { path, text } of changes) {
				if (path === TOPOLOGY) {
					if (text === null) throw new TypeError("a topology stays");
					database
						.prepare("INSERT INTO publishing (id, text) VALUES (1, ?)")
						.run(text);
				} else if (text === null) {
					database.prepare("DELETE FROM texts WHERE path = ?").run(path);
				} else {
					database
						.prepare(
							"INSERT INTO texts (path, text, revision) VALUES (?, ?, ?) ON CONFLICT (path) DO UPDATE SET text = excluded.text, revision = excluded.revision",
						)
						.run(path, text, randomBytes(12).toString("hex"));
				}
			}
		});
		await this.#finishPublishing();
	}

	watch(path: string, hint: () => void): Disposable {
		checkPath(path);
		const watched =
			path === TOPOLOGY
				? [this.name]
				: [join(this.#folder, "any"), join(this.#folder, "live", path, "any")];
		const watcher = watchFiles(watched, async () => hint(), {
			pollMs: this.#pollMs,
			ownMs: HINT_MS,
		});
		this.#open.add(watcher);
		return {
			[Symbol.dispose]: () => {
				this.#open.delete(watcher);
				void watcher[Symbol.asyncDispose]();
			},
		};
	}

	announce(path: string): Announcement {
		checkPath(path);
		const announcement = this.#announcements.announce(path);
		this.#open.add(announcement);
		return announcement;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await Promise.all(
			[...this.#open].map((each) => each[Symbol.asyncDispose]()),
		);
		this.#open.clear();
		this.#database?.close();
		this.#database = null;
	}

	#readTopology(): StoredText | null {
		try {
			return hashed(readTextFileSync(this.name));
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
			if (error instanceof NotUtf8Error) {
				throw new CorkboardError("BAD_TOPOLOGY", error.message);
			}
			throw unavailable(this.name, error);
		}
	}

	/** Renames a topology into place that was committed and is not in the file yet. */
	async #finishPublishing(): Promise<void> {
		const isPending = await this.#withDatabase(
			"read",
			(database) => pendingText(database) !== null,
		);
		if (isPending !== true) return;
		await this.#withDatabase("write", (database) => this.#finishIn(database));
	}

	/** In a transaction that writes, so that no older text comes after a newer one. */
	#finishIn(database: DatabaseSync): void {
		const text = pendingText(database);
		if (text === null) return;
		replaceFile(this.name, text);
		database.exec("DELETE FROM publishing");
	}

	/** Null if there is no database yet, and nothing is written. */
	async #withDatabase<T>(
		access: "read" | "write",
		body: (database: DatabaseSync) => T,
	): Promise<T | null> {
		const file = join(this.#folder, "store.sqlite");
		if (access === "read" && !existsSync(file)) return null;
		const until = performance.now() + BUSY_LIMIT_MS;
		for (;;) {
			try {
				this.#database ??= openDatabase(file);
				const database = this.#database;
				if (access === "read") return body(database);
				database.exec("BEGIN IMMEDIATE");
				try {
					const result = body(database);
					database.exec("COMMIT");
					return result;
				} finally {
					if (database.isTransaction) database.exec("ROLLBACK");
				}
			} catch (error) {
				if (error instanceof CorkboardError || error instanceof TypeError) {
					throw error;
				}
				if (access === "write" && isNotWritable(error)) {
					throw notWritable(this.name, this.#folder, error);
				}
				if (!isBusy(error) || performance.now() > until) {
					throw unavailable(this.name, error);
				}
				await sleep(BUSY_RETRY_MS * (1 + Math.random()));
			}
		}
	}
}

function openDatabase(file: string): DatabaseSync {
	const database = new DatabaseSync(file);
	try {
		database.exec(
			`CREATE TABLE IF NOT EXISTS texts (path TEXT PRIMARY KEY, text TEXT NOT NULL, revision TEXT NOT NULL) STRICT;
			CREATE TABLE IF NOT EXISTS publishing (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL) STRICT;`,
		);
		return database;
	} catch (error) {
		database.close();
		throw error;
	}
}

function textOf(database: DatabaseSync, path: string): StoredText | null {
	const row = database
		.prepare("SELECT text, revision FROM texts WHERE path = ?")
		.get(path);
	return row === undefined
		? null
		: { text: String(row.text), revision: String(row.revision) };
}

function pendingText(database: DatabaseSync): string | null {
	const row = database.prepare("SELECT text FROM publishing").get();
	return row === undefined ? null : String(row.text);
}

function replaceFile(file: string, text: string): void {
	const temporary = temporaryName(file);
	try {
		const descriptor = openSync(temporary, "w", 0o600);
		try {
			writeSync(descriptor, text);
			fsyncSync(descriptor);
		} finally {
			closeSync(descriptor);
		}
		renameSync(temporary, file);
	} catch (error) {
		rmSync(temporary, { force: true });
		throw error;
	}
}

/** SQLITE_BUSY and SQLITE_LOCKED, with their extended codes. */
function isBusy(error: unknown): boolean {
	const code = (error as { errcode?: unknown }).errcode;
	return (
		typeof code === "number" && ((code & 0xff) === 5 || (code & 0xff) === 6)
	);
}

/** Nothing is wrong with what the store says: it is read as before. */
function notWritable(
	name: string,
	folder: string,
	cause: unknown,
): CorkboardError {
	const reason = reasonOf(cause);
	return new CorkboardError(
		"BAD_CONFIG",
		`The topology store ${name} can be read, not written: ${reason}. This process needs to write the file and ${folder}. A file that is mounted read-only, as from a ConfigMap, is changed where it comes from.`,
		{ cause },
	);
}

/** EROFS, EACCES or EPERM of the file system, or SQLite's word for them: SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN. */
function isNotWritable(error: unknown): boolean {
	const { code, errcode } = error as { code?: unknown; errcode?: unknown };
	return typeof errcode === "number"
		? [3, 8, 14].includes(errcode & 0xff)
		: ["EROFS", "EACCES", "EPERM"].includes(String(code));
}
