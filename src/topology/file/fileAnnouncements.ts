import { createHash } from "node:crypto";
import {
	readdir,
	readFile,
	rename,
	rm,
	stat,
	utimes,
	writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { CorkboardError } from "../../errors.ts";
import { makeFolder } from "../../util/makeFolder.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { TEMPORARY } from "../../util/temporaryName.ts";
import type { Announcement, StoredText } from "../store.ts";

/** An announcement without a renewal for so many periods is not read: its process has ended, or its disk stalls. */
const MISSED_RENEWALS = 10;

/** What living processes announce: files in a folder that are touched again and again. */
export class FileAnnouncements {
	readonly #name: string;
	readonly #folder: string;
	readonly #renewMs: number;

	/** `name`: of the store. */
	constructor(name: string, folder: string, renewMs: number) {
		this.#name = name;
		this.#folder = folder;
		this.#renewMs = renewMs;
	}

	announce(path: string): Announcement & AsyncDisposable {
		return new FileAnnouncement(
			join(this.#folder, path),
			this.#name,
			this.#renewMs,
		);
	}

	/** Null if nobody announces it, or its process has ended. */
	async read(path: string): Promise<StoredText | null> {
		const file = join(this.#folder, path);
		try {
			const found = await stat(file);
			if (!found.isFile() || !this.#isFresh(found.mtimeMs)) return null;
			return hashed(await readFile(file, "utf8"));
		} catch {
			return null;
		}
	}

	/** The names below a path. Removes what was not renewed for long. */
	async list(path: string): Promise<readonly string[]> {
		const folder = join(this.#folder, path);
		const entries = await readdir(folder, { withFileTypes: true }).catch(
			() => [],
		);
		const names: string[] = [];
		for (const entry of entries) {
			if (entry.name.endsWith(TEMPORARY)) continue;
			if (entry.isDirectory()) names.push(entry.name);
			const file = join(folder, entry.name);
			const mtimeMs = await stat(file).then(
				(found) => found.mtimeMs,
				() => 0,
			);
			if (entry.isFile() && this.#isFresh(mtimeMs)) names.push(entry.name);
			else if (entry.isFile()) await rm(file, { force: true }).catch(() => {});
		}
		return names;
	}

	#isFresh(mtimeMs: number): boolean {
		return Date.now() - mtimeMs < MISSED_RENEWALS * this.#renewMs;
	}
}

class FileAnnouncement implements Announcement {
	readonly #file: string;
	readonly #name: string;
	readonly #renewal: NodeJS.Timeout;
	#text: string | null = null;
	#running: Promise<void> = Promise.resolve();
	#closed = false;

	constructor(file: string, name: string, renewMs: number) {
		this.#file = file;
		this.#name = name;
		this.#renewal = setInterval(() => {
			this.#inOrder(() => this.#renew()).catch(() => {});
		}, renewMs).unref();
	}

	set(text: string): Promise<void> {
		this.#text = text;
		return this.#inOrder(() => this.#write());
	}

	async [Symbol.asyncDispose](): Promise<void> {
		clearInterval(this.#renewal);
		this.#closed = true;
		await this.#running;
		await rm(this.#file, { force: true }).catch(() => {});
	}

	#inOrder(body: () => Promise<void>): Promise<void> {
		const done = this.#running.then(body);
		this.#running = done.catch(() => {});
		return done;
	}

	async #renew(): Promise<void> {
		if (this.#closed || this.#text === null) return;
		const now = new Date();
		// Another process removes what was not renewed for long.
		await utimes(this.#file, now, now).catch(() => this.#write());
	}

	async #write(): Promise<void> {
		if (this.#closed || this.#text === null) return;
		const temporary = `${this.#file}${TEMPORARY}`;
		try {
			makeFolder(dirname(this.#file), 0o700);
			await writeFile(temporary, this.#text, { mode: 0o600 });
			await rename(temporary, this.#file);
		} catch (error) {
			throw unavailable(this.#name, error);
		}
	}
}

/** A text that people may edit, too: its revision is what it says. */
export function hashed(text: string): StoredText {
	return { text, revision: createHash("sha256").update(text).digest("hex") };
}

export function unavailable(name: string, cause: unknown): CorkboardError {
	const reason = reasonOf(cause);
	return new CorkboardError(
		"UNAVAILABLE",
		`The topology store ${name} does not answer: ${reason}`,
		{ cause },
	);
}
