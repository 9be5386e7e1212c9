import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { watchFiles } from "../../util/watchFiles.ts";
import {
	type CheckedDocument,
	type CheckedFile,
	checkDocumentFile,
	type DocumentRules,
} from "./checkDocumentFile.ts";

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
export interface DocumentIndex {
	readonly byId: ReadonlyMap<string, CheckedDocument>;
	readonly bySha256: ReadonlyMap<string, CheckedDocument>;
}

interface File extends Named {
	/** What it held when it was last found good. */
	good: string;
	documents: readonly CheckedDocument[];
	sha256ById: CheckedFile["sha256ById"];
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
	const paths = new Set(options.paths.map((path) => resolve(path)));
	const checked = await checkDocumentFiles([...paths], options.rules);
	if (checked.problems.length > 0) throw badDataError(checked.problems);
	const files = checked.files.map(
		({ path, text, documents, sha256ById }): File => ({
			path,
			good: text,
			documents,
			sha256ById,
			bad: null,
			isTold: false,
		}),
	);
	const index = indexOf(files);
	await prepareAll(index, EMPTY, options.prepare);
	return new DocumentFiles(files, index, options);
}

interface ReadFile extends CheckedFile {
	readonly path: string;
	readonly text: string;
}

export interface CheckedFiles {
	/** Those that could be read. */
	readonly files: readonly ReadFile[];
	/** Of every file, and between them. There is nothing to serve if there is one. */
	readonly problems: readonly string[];
}

/** What a server does with its files before it starts, and the command line in its place. */
export async function checkDocumentFiles(
	paths: readonly string[],
	rules: DocumentRules,
): Promise<CheckedFiles> {
	const files: ReadFile[] = [];
	const faults: string[] = [];
	for (const path of paths) {
		try {
			const text = await readText(path);
			const checked = await checkDocumentFile(path, text, rules);
			const file = { ...checked, path, text };
			faults.push(...checked.problems, ...conflictsOf(file, files));
			files.push(file);
		} catch (thrown) {
			if (!(thrown instanceof CorkboardError)) throw thrown;
			faults.push(thrown.message);
		}
	}
	return { files, problems: faults };
}

export class DocumentFiles implements AsyncDisposable {
	readonly #files: readonly File[];
	readonly #options: DocumentFilesOptions;
	readonly #watch: AsyncDisposable;
	#index: DocumentIndex;

	constructor(
		files: readonly File[],
		index: DocumentIndex,
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

	get index(): DocumentIndex {
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
		const before = this.#index;
		const {
			documents,
			sha256ById,
			problems: faults,
		} = await checkDocumentFile(file.path, text, rules, before.bySha256);
		const others = this.#files.filter((other) => other !== file);
		const conflicts = conflictsOf({ path: file.path, sha256ById }, others);
		if (faults.length + conflicts.length > 0) {
			throw badDataError([...faults, ...conflicts]);
		}
		const index = indexOf(
			this.#files.map((other) => (other === file ? { documents } : other)),
		);
		await prepareAll(index, before, prepare);
		file.good = text;
		file.documents = documents;
		file.sha256ById = sha256ById;
		file.bad = null;
		this.#index = index;
		// What was wrong with another may have been what this one held.
		for (const other of others) other.bad = null;
		log.info(
			{ path: file.path, documents: documents.length },
			"a file of documents is in use",
		);
	}
}

const EMPTY: DocumentIndex = { byId: new Map(), bySha256: new Map() };

interface Named {
	readonly path: string;
	readonly sha256ById: CheckedFile["sha256ById"];
}

/** The ids of a file under which another has another text. */
function conflictsOf(
	{ path, sha256ById }: Named,
	others: readonly Named[],
): readonly string[] {
	return [...sha256ById].flatMap(([id, sha256]) =>
		others
			.filter((other) => (other.sha256ById.get(id) ?? sha256) !== sha256)
			.map(
				(other) =>
					`${path}: document ${id}: ${other.path} has another text under this id`,
			),
	);
}

/** Of files without conflicts. */
function indexOf(files: readonly Pick<File, "documents">[]): DocumentIndex {
	const byId = new Map<string, CheckedDocument>();
	const bySha256 = new Map<string, CheckedDocument>();
	for (const document of files.flatMap(({ documents }) => documents)) {
		byId.set(document.id, document);
		if (!bySha256.has(document.sha256)) bySha256.set(document.sha256, document);
	}
	return { byId, bySha256 };
}

/** Those that are new. Between two of them requests may be served. */
async function prepareAll(
	{ bySha256 }: DocumentIndex,
	before: DocumentIndex,
	prepare: DocumentFilesOptions["prepare"],
): Promise<void> {
	for (const [sha256, document] of bySha256) {
		if (before.bySha256.has(sha256)) continue;
		prepare(document);
		await nextTurn();
	}
}

/** Of a file as a server or the command line is given it. Throws BAD_DATA. */
async function readText(path: string): Promise<string> {
	try {
		const { size } = await stat(path);
		if (size > MAX_FILE_BYTES) {
			throw badDataError([
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

export function badDataError(faults: readonly string[]): CorkboardError {
	return new CorkboardError("BAD_DATA", faults.join("\n"));
}
