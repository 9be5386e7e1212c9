import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import { CorkboardError } from "../errors.ts";
import type { Chunks, DumpFiles } from "./files/dumpFiles.ts";
import type { FileCipher } from "./files/fileCipher.ts";
import { type DumpedFile, type DumpedTable, damaged } from "./manifest.ts";

/** About how large a file gets before the next one is begun: readers take one file at a time each. */
const FILE_BYTES = 128 * 1024 * 1024;

/** Lines of a table, some at a time; none of them has an end of line. */
export type LineBatches = AsyncIterable<readonly string[]>;

interface LineFilesOptions {
	readonly files: DumpFiles;
	/** Null: the files are not encrypted. */
	readonly cipher: FileCipher | null;
	readonly fileBytes?: number;
	/** Called as bytes are made, before they are stored. */
	readonly onBytes?: (bytes: number) => void;
}

function lineFileName(prefix: string, nth: number): string {
	return `${prefix}/part-${String(nth).padStart(4, "0")}.ndjson.zst`;
}

/** Writes lines as files of newline-delimited JSON in zstd, `PREFIX/part-0000.ndjson.zst` and so on; none if there are no lines. */
export async function writeLines(
	options: LineFilesOptions,
	table: { readonly name: string; readonly prefix: string },
	batches: LineBatches,
): Promise<DumpedTable> {
	const { files, cipher, fileBytes = FILE_BYTES, onBytes } = options;
	const source = batches[Symbol.asyncIterator]();
	const whole = createHash("sha256");
	const written: DumpedFile[] = [];
	let next = await nonEmpty(source);
	try {
		while (next !== null) {
			const name = lineFileName(table.prefix, written.length);
			const hash = createHash("sha256");
			const file = { name, rows: 0, bytes: 0 };
			const lines = async function* () {
				while (next !== null && file.bytes < fileBytes) {
					const text = `${next.join("\n")}\n`;
					whole.update(text);
					file.rows += next.length;
					yield text;
					next = await nonEmpty(source);
				}
			};
			const stored = async function* (chunks: AsyncIterable<Uint8Array>) {
				for await (const chunk of chunks) {
					file.bytes += chunk.length;
					onBytes?.(chunk.length);
					hash.update(chunk);
					yield chunk;
				}
			};
			await pipeline(
				lines,
				createZstdCompress({
					params: { [constants.ZSTD_c_checksumFlag]: 1 },
				}),
				async (compressed: AsyncIterable<Uint8Array>) => {
					const bytes = cipher ? cipher.encrypt(compressed) : compressed;
					await files.put(name, stored(bytes));
				},
			);
			written.push({ ...file, sha256: hash.digest("hex") });
		}
	} finally {
		await source.return?.();
	}
	return {
		name: table.name,
		rows: written.reduce((rows, file) => rows + file.rows, 0),
		sha256: whole.digest("hex"),
		files: written,
	};
}

async function nonEmpty(
	source: AsyncIterator<readonly string[]>,
): Promise<readonly string[] | null> {
	for (;;) {
		const { done, value } = await source.next();
		if (done) return null;
		if (value.length > 0) return value;
	}
}

/**
 * The lines of a file, some at a time. Throws BAD_DATA if the file is missing,
 * cut short or not the one that was written. The hash is known at the end only:
 * what was read before must be given back then, or be harmless.
 */
export async function* readLines(
	{ files, cipher }: Pick<LineFilesOptions, "files" | "cipher">,
	file: DumpedFile,
): AsyncGenerator<readonly string[]> {
	const chunks = checkedChunks(files, file);
	let rows = 0;
	try {
		const opened = cipher ? cipher.decrypt(chunks, file.name) : chunks;
		for await (const lines of linesIn(decompressed(opened))) {
			rows += lines.length;
			yield lines;
		}
	} catch (thrown) {
		if (thrown instanceof CorkboardError) throw thrown;
		const { code, message } = thrown as NodeJS.ErrnoException;
		if (code?.startsWith("ZSTD") !== true && code !== "Z_BUF_ERROR")
			throw thrown;
		throw damaged(files, file.name, message);
	}
	if (rows !== file.rows) {
		throw damaged(
			files,
			file.name,
			`it has ${rows} rows, and had ${file.rows} when it was written`,
		);
	}
}

/** Throws BAD_DATA if the file is missing, cut short, or has other bytes than were written. */
export async function checkFile(
	files: DumpFiles,
	file: DumpedFile,
): Promise<void> {
	for await (const _ of checkedChunks(files, file));
}

async function* checkedChunks(
	files: DumpFiles,
	file: DumpedFile,
): AsyncGenerator<Uint8Array> {
	const chunks = await files.read(file.name);
	if (chunks === null) throw damaged(files, file.name, "it is missing");
	const hash = createHash("sha256");
	let bytes = 0;
	for await (const chunk of chunks) {
		bytes += chunk.length;
		hash.update(chunk);
		yield chunk;
	}
	if (bytes !== file.bytes) {
		throw damaged(
			files,
			file.name,
			`it has ${bytes} bytes, and had ${file.bytes} when it was written`,
		);
	}
	if (hash.digest("hex") !== file.sha256) {
		throw damaged(files, file.name, "its hash is another one");
	}
}

async function* decompressed(chunks: Chunks): AsyncGenerator<Buffer> {
	const zstd = createZstdDecompress();
	let failure: unknown;
	const feeding = pipeline(chunks, zstd).catch((thrown: unknown) => {
		failure = thrown;
	});
	try {
		for await (const chunk of zstd) yield chunk;
		await feeding;
		if (failure !== undefined) throw failure;
	} catch (thrown) {
		// If the source failed, zstd says only that it was ended too early.
		await feeding;
		throw failure ?? thrown;
	} finally {
		zstd.destroy();
	}
}

const END = 10;

async function* linesIn(
	chunks: AsyncIterable<Buffer>,
): AsyncGenerator<readonly string[]> {
	let rest: Buffer = Buffer.alloc(0);
	for await (const chunk of chunks) {
		const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
		const end = all.lastIndexOf(END);
		if (end === -1) {
			rest = all;
			continue;
		}
		rest = all.subarray(end + 1);
		yield all.toString("utf8", 0, end).split("\n");
	}
	if (rest.length > 0) yield [rest.toString("utf8")];
}
