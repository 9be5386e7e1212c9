import { CorkboardError } from "../../errors.ts";

export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Where the files of a dump are: a folder, or a bucket of S3. Names have slashes.
 * A file is there whole or not at all, whatever kills the writer. Failures are
 * CorkboardErrors that say what to do.
 */
export interface DumpFiles extends AsyncDisposable {
	/** What operators call it: `s3://bucket/prefix`, `file:/backups/monday`. */
	readonly name: string;

	/** Stores a file, and replaces one of that name. When it resolves, the file is durable. */
	put(name: string, chunks: Chunks): Promise<void>;

	/** Null if there is no such file. */
	read(name: string): Promise<AsyncIterable<Uint8Array> | null>;

	/** The names of all files that begin with this. */
	list(prefix: string): Promise<readonly string[]>;

	/** Removes files; those that are gone are ignored. */
	remove(names: readonly string[]): Promise<void>;

	/** Removes what writers that were killed have left behind half. */
	removeHalves(): Promise<void>;
}

export interface FilesOptions {
	/** A server that speaks S3; null: that of AWS's own settings. */
	readonly endpoint: string | null;
	/** How a bucket encrypts what is stored: `AES256`, `aws:kms`, `aws:kms:KEY`; null: as it is set to. */
	readonly sse: string | null;
}

/** Null if there is no such file. */
export async function readWhole(
	files: DumpFiles,
	name: string,
	mostBytes: number,
): Promise<Buffer | null> {
	const chunks = await files.read(name);
	if (chunks === null) return null;
	const parts: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of chunks) {
		bytes += chunk.length;
		if (bytes > mostBytes) {
			throw new CorkboardError(
				"BAD_DATA",
				`${files.name}/${name} is larger than ${mostBytes} bytes: it is no file of a dump.`,
			);
		}
		parts.push(chunk);
	}
	return Buffer.concat(parts);
}
