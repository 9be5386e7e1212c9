import type { DocumentNode } from "graphql";
import { BoundedMap } from "../../util/boundedMap.ts";
import { SeenTexts } from "../../util/seenTexts.ts";
import { SERVER_CHANNELS, type UnknownDocument } from "../diagnostics.ts";
import { type CheckedDocument, sha256Of } from "./checkDocumentFile.ts";
import type { DocumentIndex } from "./documentFiles.ts";

/**
 * - `off`: any document runs; there are no files.
 * - `report`: any document runs; those of no file are counted and logged.
 * - `strict`: only documents of files run.
 */
export type DocumentMode = "off" | "report" | "strict";

/** Texts of documents that clients registered, shared by processes. Neither method rejects. */
export interface SharedTexts {
	get(key: string): Promise<string | null>;
	set(key: string, text: string, ttlMs: number): Promise<void>;
}

interface DocumentsOptions {
	readonly mode: DocumentMode;
	/** The current documents of files. */
	readonly files: { readonly index: DocumentIndex } | null;
	/** Null if processes share no texts. */
	readonly shared: SharedTexts | null;
	readonly log: { warn(fields: object, message: string): void };
	/** Milliseconds. */
	readonly now?: () => number;
}

/** Any client may register documents, so memory is bounded: characters in total, and of one document. */
const MAX_CHARACTERS = 8 * 1024 * 1024;
const MAX_TEXT = 64 * 1024;
const TTL_MS = 24 * 60 * 60 * 1_000;
/** Characters of the parsed documents that are in no file. An AST takes about 40 bytes for each character. */
const MAX_PARSED_CHARACTERS = 1024 * 1024;
/** Unknown documents that are logged, each once; further ones are only counted. */
const MAX_LOGGED = 1_000;

/** All documents that the server has, by every name that clients use. */
export interface Documents {
	readonly mode: DocumentMode;
	/** A document of a file, by the id that its client's build gave it. */
	byId(id: string): CheckedDocument | null;
	bySha256(sha256: string): CheckedDocument | null;
	/** A document that can run without a wait, by the hash of its text: it is of a file, or its text is registered, and it was found valid twice. */
	runnable(sha256: string): RunnableDocument | null;
	/** The same by its text, which need not be registered. */
	runnableByText(text: string): RunnableDocument | null;
	/** Another object after each change of the files; null without files. */
	readonly revision: object | null;
	/** Whether there is a text with this hash, of a file or registered. */
	has(sha256: string): Promise<boolean>;
	/** Counts and logs a document of no file, in mode `report`. */
	recordUnknown(sha256: string, operationName: string | null): void;
	/** Requests so far with a document of no file. */
	readonly unknownCount: number;
	/** Apollo's cache of texts by hash: of files, and registered by clients (APQ). */
	readonly texts: ApolloCache<string>;
	/** Apollo's cache of parsed and valid documents: those of files from the start, others from their second time on. Most texts that come once never come again. */
	readonly parsed: ApolloCache<DocumentNode>;
}

/** A document that parses and is valid. */
export interface RunnableDocument {
	readonly sha256: string;
	readonly text: string;
	readonly document: DocumentNode;
}

type HashedText = Pick<RunnableDocument, "sha256" | "text">;

/** Apollo's KeyValueCache. */
interface ApolloCache<V> {
	get(key: string): Promise<V | undefined>;
	set(key: string, value: V): Promise<void>;
	delete(key: string): Promise<boolean>;
}

export function createDocuments(options: DocumentsOptions): Documents {
	const { mode, files, shared, log, now = () => performance.now() } = options;
	const registered = new BoundedMap<string>({
		maxWeight: MAX_CHARACTERS,
		weigh: (text) => text.length + 100,
		now,
	});
	const parsed = new BoundedMap<DocumentNode>({
		maxWeight: MAX_PARSED_CHARACTERS,
		weigh: ({ loc }) => (loc?.source.body.length ?? MAX_TEXT) + 100,
	});
	const seen = new SeenTexts();
	/** Hashes of texts that ran, as a hash takes ten times as long as to find the text. */
	const hashes = new BoundedMap<HashedText>({
		maxWeight: MAX_PARSED_CHARACTERS,
		weigh: ({ text }) => text.length + 100,
	});
	const logged = new Set<string>();
	let count = 0;
	const bySha256 = (sha256: string) =>
		files?.index.bySha256.get(sha256) ?? null;

	async function textOf(sha256: string): Promise<string | undefined> {
		const known = bySha256(sha256)?.text;
		if (known !== undefined || mode === "strict") return known;
		const local = registered.get(sha256);
		if (local !== undefined || shared === null) return local;
		const text = (await shared.get(SHARED_PREFIX + sha256)) ?? undefined;
		// Other programs may write to the shared store: verify the hash.
		if (text === undefined || sha256Of(text) !== sha256) return undefined;
		registered.set(sha256, text, TTL_MS);
		return text;
	}

	function runnableIfParsed(
		sha256: string,
		text: string | undefined,
	): RunnableDocument | null {
		const document = parsed.get(sha256);
		return document === undefined || text === undefined
			? null
			: { sha256, text, document };
	}

	return {
		mode,

		get revision() {
			return files?.index ?? null;
		},

		runnable: (sha256) =>
			bySha256(sha256) ??
			(mode === "strict"
				? null
				: runnableIfParsed(sha256, registered.get(sha256))),

		runnableByText(text) {
			const known = hashes.get(text);
			const sha256 = known?.sha256 ?? sha256Of(text);
			const runnable =
				bySha256(sha256) ??
				(mode === "strict" ? null : runnableIfParsed(sha256, text));
			if (runnable !== null && known === undefined)
				hashes.set(text, { text, sha256 });
			return runnable;
		},

		byId: (id) => files?.index.byId.get(id) ?? null,
		bySha256,
		has: async (sha256) => (await textOf(sha256)) !== undefined,

		recordUnknown(sha256, operationName) {
			count++;
			if (SERVER_CHANNELS.unknownDocument.hasSubscribers) {
				const event: UnknownDocument = { sha256, operationName };
				SERVER_CHANNELS.unknownDocument.publish(event);
			}
			if (logged.has(sha256) || logged.size >= MAX_LOGGED) return;
			logged.add(sha256);
			log.warn(
				{
					sha256,
					operation: operationName?.slice(0, 100) ?? null,
					count,
					...(logged.size === MAX_LOGGED && { isLastLogged: true }),
				},
				"unknown document",
			);
		},

		get unknownCount() {
			return count;
		},

		texts: {
			get: (key) => textOf(hashIn(key)),
			async set(key, text) {
				const sha256 = hashIn(key);
				if (mode === "strict" || text.length > MAX_TEXT) return;
				if (bySha256(sha256) !== null) return;
				registered.set(sha256, text, TTL_MS);
				await shared?.set(SHARED_PREFIX + sha256, text, TTL_MS);
			},
			delete: async (key) => registered.delete(hashIn(key)),
		},

		parsed: {
			async get(key) {
				const sha256 = hashIn(key);
				return bySha256(sha256)?.document ?? parsed.get(sha256);
			},
			async set(key, document) {
				const sha256 = hashIn(key);
				if (seen.add(sha256)) parsed.set(sha256, document);
			},
			delete: async (key) => parsed.delete(hashIn(key)),
		},
	};
}

const SHARED_PREFIX = "c1.document.";

/** Apollo prefixes the hash, with `apq:` or the hash of the schema. */
function hashIn(key: string): string {
	return key.slice(key.lastIndexOf(":") + 1);
}
