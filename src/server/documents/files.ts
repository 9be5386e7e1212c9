import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { CorkboardError } from "../../errors.ts";
import { watchFiles } from "../../util/watchFiles.ts";
import {
	type CheckedDocument,
	type CheckedFile,
	checkDocumentFile,
	type DocumentRules,
} from "./check.ts";

/** A thousand documents of real clients are 1 to 3 MB. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

export interface DocumentFilesOptions {
	readonly paths: readonly string[];
	readonly rules: DocumentRules;
	/** Given each document that is new, before it is in use. */
	readonly prepare: (document: CheckedDocument) => void;
	readonly log: {
		info(fields: object, message: string): void;
		error(fields: object, message: string): void;
	};
	readonly pollMs?: number;
}

/** The documents in use, by their two names. */
export interface Index {
	readonly byId: ReadonlyMap<string, CheckedDocument>;
	readonly bySha256: ReadonlyMap<string, CheckedDocument>;
}

interface File {
	readonly path: string;
	/** What it held when it was last found good. */
	good: string;
	documents: readonly CheckedDocument[];
	/** What it held when it was last found bad, or why it could not be read. */
	bad: string | null;
	/** Whether that was told: at the second look, as whoever writes may have been half-way at the first. */
	isTold: boolean;
}

/**
 * The documents of files, now and after each edit. A file with any fault is
 * refused whole, and what it last held when it was good stays. At the start
 * there is nothing to stay: BAD_DATA with every fault of every file.
 */
export async function openDocumentFiles(
	options: DocumentFilesOptions,
): Promise<DocumentFiles> {
	const files: File[] = [];
	const faults: string[] = [];
	let index: Index = EMPTY;
	for (const path of new Set(options.paths.map((path) => resolve(path)))) {
		try {
			const good = await readText(path);
			const checked = await checkDocumentFile(path, good, options.rules);
			faults.push(...checked.faults);
			const { documents } = checked;
			const file = { path, good, documents, bad: null, isTold: false };
			index = indexOf([...files, file]);
			files.push(file);
		} catch (thrown) {
			if (!(thrown instanceof CorkboardError)) throw thrown;
			faults.push(thrown.message);
		}
	}
	if (faults.length > 0) throw refusal(faults);
	for (const document of index.bySha256.values()) options.prepare(document);
	return new DocumentFiles(files, index, options);
}

export class DocumentFiles implements AsyncDisposable {
	readonly #files: readonly File[];
	readonly #options: DocumentFilesOptions;
	readonly #watch: AsyncDisposable;
	#index: Index;

	constructor(
		files: readonly File[],
		index: Index,
		options: DocumentFilesOptions,
	) {
		this.#files = files;
		this.#options = options;
		this.#index = index;
		this.#watch = watchFiles(
			files.map(({ path }) => path),
			() => this.#look(),
			{ pollMs: options.pollMs },
		);
	}

	get index(): Index {
		return this.#index;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#watch[Symbol.asyncDispose]();
	}

	async #look(): Promise<void> {
		for (const file of this.#files) {
			let text = "";
			try {
				text = await readText(file.path);
				if (text === file.good) file.bad = null;
				else if (text !== file.bad || !file.isTold) {
					await this.#take(file, text);
				}
			} catch (thrown) {
				// A missing file has no text, but a reason.
				const bad = text || String(thrown);
				if (bad !== file.bad) {
					file.bad = bad;
					file.isTold = false;
					continue;
				}
				if (file.isTold) continue;
				file.isTold = true;
				this.#options.log.error(
					{
						path: file.path,
						faults:
							thrown instanceof CorkboardError
								? thrown.message.split("\n")
								: [String(thrown)],
					},
					"a file of documents is refused, and what it held before stays in use",
				);
			}
		}
	}

	async #take(file: File, text: string): Promise<void> {
		const { rules, prepare, log } = this.#options;
		const before = this.#index.bySha256;
		const checked: CheckedFile = await checkDocumentFile(
			file.path,
			text,
			rules,
			before,
		);
		if (checked.faults.length > 0) throw refusal(checked.faults);
		const { documents } = checked;
		const index = indexOf(
			this.#files.map((other) =>
				other === file ? { ...file, documents } : other,
			),
		);
		for (const [sha256, document] of index.bySha256) {
			if (!before.has(sha256)) prepare(document);
		}
		file.good = text;
		file.documents = documents;
		file.bad = null;
		this.#index = index;
		log.info(
			{ path: file.path, documents: documents.length },
			"a file of documents is in use",
		);
	}
}

const EMPTY: Index = { byId: new Map(), bySha256: new Map() };

/** Throws BAD_DATA where two files have two texts for one id. */
function indexOf(files: readonly Pick<File, "path" | "documents">[]): Index {
	const byId = new Map<string, CheckedDocument>();
	const bySha256 = new Map<string, CheckedDocument>();
	const faults: string[] = [];
	for (const { path, documents } of files) {
		for (const document of documents) {
			const same = byId.get(document.id);
			if (same !== undefined && same.sha256 !== document.sha256) {
				faults.push(
					`${path}: document ${document.id}: another file has another text under this id`,
				);
			}
			byId.set(document.id, document);
			if (!bySha256.has(document.sha256)) {
				bySha256.set(document.sha256, document);
			}
		}
	}
	if (faults.length > 0) throw refusal(faults);
	return { byId, bySha256 };
}

/** Of a file as a server or the command line is given it. Throws BAD_DATA. */
export async function readText(path: string): Promise<string> {
	try {
		const { size } = await stat(path);
		if (size > MAX_FILE_BYTES) {
			throw refusal([
				`${path}: expected at most ${MAX_FILE_BYTES} bytes but got: ${size}`,
			]);
		}
		return await readFile(path, "utf8");
	} catch (cause) {
		if (cause instanceof CorkboardError) throw cause;
		throw new CorkboardError(
			"BAD_DATA",
			`${path}: expected a file that can be read but got: ${(cause as NodeJS.ErrnoException).code}`,
			{ cause },
		);
	}
}

export function refusal(faults: readonly string[]): CorkboardError {
	return new CorkboardError("BAD_DATA", faults.join("\n"));
}
