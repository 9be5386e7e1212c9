import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { readTextFile, whyUnread } from "../../util/textFile.ts";
import { watchFiles } from "../../util/watchFiles.ts";
import {
	type CheckedDocument,
	type CheckedFile,
	checkDocumentFile,
	type DocumentRules,
} from "./checkDocumentFile.ts";

/** A thousand documents of a typical client take 1 to 3 MB. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

interface DocumentFilesOptions {
	readonly paths: readonly string[];
	readonly rules: DocumentRules;
	/** Called with each new document before it is in use. */
	readonly prepare: (document: CheckedDocument) => void;
	readonly log: {
		info(fields: object, message: string): void;
		error(fields: object, message: string): void;
	};
	readonly pollMs?: number;
}

/** The documents in use, by id and by hash. */
export interface DocumentIndex {
	readonly byId: ReadonlyMap<string, CheckedDocument>;
	readonly bySha256: ReadonlyMap<string, CheckedDocument>;
}

interface File extends Named {
	/** The text whose documents are in use. */
	loaded: string;
	documents: readonly CheckedDocument[];
	sha256ById: CheckedFile["sha256ById"];
	/** The text that was rejected last, or why the file could not be read. */
	rejected: string | null;
	/** Whether that was logged: at the second poll, since a writer may have been halfway at the first. */
	isLogged: boolean;
}

/**
 * Load the documents of files, now and after each edit. A file with any problem
 * is rejected whole, and its previous documents stay in use. At the start there
 * are none: throws BAD_DATA with every problem of every file.
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
			loaded: text,
			documents,
			sha256ById,
			rejected: null,
			isLogged: false,
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

interface CheckedFiles {
	/** The readable ones. */
	readonly files: readonly ReadFile[];
	/** Problems of each file, and between files. A server starts only if there are none. */
	readonly problems: readonly string[];
}

/** Check files as a server does before it starts; `documents check` does only this. */
export async function checkDocumentFiles(
	paths: readonly string[],
	rules: DocumentRules,
): Promise<CheckedFiles> {
	const files: ReadFile[] = [];
	const problems: string[] = [];
	for (const path of paths) {
		try {
			const text = await readText(path);
			const checked = await checkDocumentFile(path, text, rules);
			const file = { ...checked, path, text };
			problems.push(...checked.problems, ...conflictsOf(file, files));
			files.push(file);
		} catch (thrown) {
			if (!(thrown instanceof CorkboardError)) throw thrown;
			problems.push(thrown.message);
		}
	}
	return { files, problems };
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
			() => this.#poll(),
			{ pollMs: options.pollMs },
		);
	}

	get index(): DocumentIndex {
		return this.#index;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#watch[Symbol.asyncDispose]();
	}

	async #poll(): Promise<void> {
		for (const file of this.#files) {
			let text = "";
			try {
				text = await readText(file.path);
				if (text === file.loaded) file.rejected = null;
				else if (text !== file.rejected || !file.isLogged) {
					await this.#load(file, text);
				}
			} catch (thrown) {
				// A missing file has no text: the error stands for it.
				const rejected = text || reasonOf(thrown);
				if (rejected !== file.rejected) {
					file.rejected = rejected;
					file.isLogged = false;
					continue;
				}
				if (file.isLogged) continue;
				file.isLogged = true;
				this.#options.log.error(
					{
						path: file.path,
						problems:
							thrown instanceof CorkboardError
								? thrown.message.split("\n")
								: [reasonOf(thrown)],
					},
					"document file rejected",
				);
			}
		}
	}

	async #load(file: File, text: string): Promise<void> {
		const { rules, prepare, log } = this.#options;
		const before = this.#index;
		const { documents, sha256ById, problems } = await checkDocumentFile(
			file.path,
			text,
			rules,
			before.bySha256,
		);
		const others = this.#files.filter((other) => other !== file);
		const conflicts = conflictsOf({ path: file.path, sha256ById }, others);
		if (problems.length + conflicts.length > 0) {
			throw badDataError([...problems, ...conflicts]);
		}
		const index = indexOf(
			this.#files.map((other) => (other === file ? { documents } : other)),
		);
		await prepareAll(index, before, prepare);
		file.loaded = text;
		file.documents = documents;
		file.sha256ById = sha256ById;
		file.rejected = null;
		this.#index = index;
		// Another file may have been in conflict with this one.
		for (const other of others) other.rejected = null;
		log.info(
			{ path: file.path, documents: documents.length },
			"document file loaded",
		);
	}
}

const EMPTY: DocumentIndex = { byId: new Map(), bySha256: new Map() };

interface Named {
	readonly path: string;
	readonly sha256ById: CheckedFile["sha256ById"];
}

/** One problem for each id that another file uses for another text. */
function conflictsOf(
	{ path, sha256ById }: Named,
	others: readonly Named[],
): readonly string[] {
	return [...sha256ById].flatMap(([id, sha256]) =>
		others
			.filter((other) => (other.sha256ById.get(id) ?? sha256) !== sha256)
			.map(
				(other) =>
					`${path}: document ${id}: ${other.path} has another text for this id`,
			),
	);
}

/** The documents of files without conflicts. */
function indexOf(files: readonly Pick<File, "documents">[]): DocumentIndex {
	const byId = new Map<string, CheckedDocument>();
	const bySha256 = new Map<string, CheckedDocument>();
	for (const document of files.flatMap(({ documents }) => documents)) {
		byId.set(document.id, document);
		if (!bySha256.has(document.sha256)) bySha256.set(document.sha256, document);
	}
	return { byId, bySha256 };
}

/** Prepares new documents. Requests may be served between two of them. */
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

/** Throws BAD_DATA. */
async function readText(path: string): Promise<string> {
	try {
		const { size } = await stat(path);
		if (size > MAX_FILE_BYTES) {
			throw badDataError([
				`${path}: has ${size} bytes; the limit is ${MAX_FILE_BYTES}`,
			]);
		}
		return await readTextFile(path);
	} catch (cause) {
		if (cause instanceof CorkboardError) throw cause;
		throw new CorkboardError(
			"BAD_DATA",
			`${path}: cannot be read: ${whyUnread(cause)}`,
			{ cause },
		);
	}
}

export function badDataError(problems: readonly string[]): CorkboardError {
	return new CorkboardError("BAD_DATA", problems.join("\n"));
}
