import { createReadStream } from "node:fs";
import {
	type FileHandle,
	open,
	readdir,
	rename,
	rm,
	stat,
} from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { CorkboardError } from "../../errors.ts";
import { makeFolder } from "../../util/makeFolder.ts";
import { TEMPORARY, temporaryName } from "../../util/temporaryName.ts";
import type { Chunks, DumpFiles } from "./dumpFiles.ts";

/** The files of a dump in a folder. Each is written under another name, synced, and renamed into place. */
export class FolderFiles implements DumpFiles {
	readonly name: string;
	readonly #folder: string;

	constructor(folder: string) {
		this.#folder = folder;
		this.name = `file:${folder}`;
	}

	async put(name: string, chunks: Chunks): Promise<void> {
		const path = this.#path(name);
		const temporary = temporaryName(path);
		try {
			makeFolder(dirname(path));
			const handle = await open(temporary, "wx");
			try {
				for await (const chunk of chunks) await writeAll(handle, chunk);
				await handle.sync();
			} finally {
				await handle.close();
			}
			await rename(temporary, path);
			await syncFolder(dirname(path));
		} catch (thrown) {
			await rm(temporary, { force: true }).catch(() => {});
			throw asError(thrown, path, "written");
		}
	}

	async read(name: string): Promise<AsyncIterable<Uint8Array> | null> {
		const path = this.#path(name);
		try {
			if (!(await stat(path)).isFile()) return null;
		} catch (thrown) {
			if (codeOf(thrown) === "ENOENT" || codeOf(thrown) === "ENOTDIR")
				return null;
			throw asError(thrown, path, "read");
		}
		return readingOf(path);
	}

	async list(prefix: string): Promise<readonly string[]> {
		const names = await this.#all();
		return names.filter(
			(name) => name.startsWith(prefix) && !name.endsWith(TEMPORARY),
		);
	}

	async remove(names: readonly string[]): Promise<void> {
		for (const name of names) {
			const path = this.#path(name);
			await rm(path, { force: true }).catch((thrown) => {
				throw asError(thrown, path, "removed");
			});
		}
	}

	async removeHalves(): Promise<void> {
		const names = await this.#all();
		await this.remove(names.filter((name) => name.endsWith(TEMPORARY)));
	}

	async [Symbol.asyncDispose](): Promise<void> {}

	async #all(): Promise<readonly string[]> {
		try {
			const entries = await readdir(this.#folder, {
				recursive: true,
				withFileTypes: true,
			});
			return entries
				.filter((entry) => entry.isFile())
				.map((entry) =>
					relative(this.#folder, join(entry.parentPath, entry.name))
						.split(sep)
						.join("/"),
				)
				.toSorted();
		} catch (thrown) {
			if (codeOf(thrown) === "ENOENT") return [];
			throw asError(thrown, this.#folder, "read");
		}
	}

	/** Throws BAD_DATA for a name that leads out of the folder: a manifest may be anybody's. */
	#path(name: string): string {
		const path = join(this.#folder, name);
		if (relative(this.#folder, path).startsWith("..")) {
			throw new CorkboardError(
				"BAD_DATA",
				`The dump in ${this.name} names a file outside of it: ${name}.`,
			);
		}
		return path;
	}
}

async function* readingOf(path: string): AsyncGenerator<Uint8Array> {
	try {
		for await (const chunk of createReadStream(path)) yield chunk;
	} catch (thrown) {
		throw asError(thrown, path, "read");
	}
}

/** One write may take only a part, as the last before a disk is full. */
async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
	let at = 0;
	while (at < chunk.length) {
		const { bytesWritten } = await handle.write(chunk, at);
		at += bytesWritten;
	}
}

/** A rename survives a power failure once its folder is on the disk. Some file systems cannot say. */
async function syncFolder(folder: string): Promise<void> {
	try {
		const handle = await open(folder, "r");
		try {
			await handle.sync();
		} finally {
			await handle.close();
		}
	} catch (thrown) {
		if (
			!["EINVAL", "EISDIR", "EPERM", "ENOTSUP"].includes(codeOf(thrown) ?? "")
		)
			throw thrown;
	}
}

function codeOf(thrown: unknown): string | undefined {
	return (thrown as NodeJS.ErrnoException | null)?.code;
}

const ADVICE: Readonly<Record<string, string>> = {
	ENOSPC: "the disk is full: free some space, and run it again",
	EDQUOT: "the quota is used up: raise it, and run it again",
	EACCES: "this user may not: give it the right, or name another folder",
	EROFS: "the file system is read-only: name another folder",
	ENOTDIR: "a part of the path is a file: name another folder",
};

/** What the system said, with what to do. What is no failure of the file stays as it is. */
function asError(thrown: unknown, path: string, what: string): unknown {
	const code = codeOf(thrown);
	if (thrown instanceof CorkboardError || code === undefined) return thrown;
	if (!/^E[A-Z0-9]+$/.test(code)) return thrown;
	return new CorkboardError(
		"UNAVAILABLE",
		`${path} cannot be ${what}: ${ADVICE[code] ?? code}.`,
		{ cause: thrown },
	);
}
