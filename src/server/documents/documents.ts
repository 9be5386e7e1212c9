import type { DocumentNode } from "graphql";
import { CHANNELS, type UnknownDocument } from "../../diagnostics.ts";
import { Lru } from "../../util/lru.ts";
import { type CheckedDocument, sha256Of } from "./checkDocumentFile.ts";
import type { DocumentIndex } from "./documentFiles.ts";

/**
 * - `off`: any document runs; there are no files.
 * - `report`: any document runs; those that are in no file are counted and logged.
 * - `strict`: only documents of the files run.
 */
export type DocumentMode = "off" | "report" | "strict";

/** Texts that processes share, by key: of documents that clients registered. Neither method rejects. */
export interface SharedTexts {
	get(key: string): Promise<string | null>;
	set(key: string, text: string, ttlMs: number): Promise<void>;
}

export interface DocumentsOptions {
	readonly mode: DocumentMode;
	/** What the files hold at the moment. */
	readonly files: { readonly index: DocumentIndex } | null;
	/** Null where there is one process, or nothing between several. */
	readonly shared: SharedTexts | null;
	readonly log: { warn(fields: object, message: string): void };
	/** Milliseconds. */
	readonly now?: () => number;
}

/** Anyone may register a document, so what is kept is bounded: characters in all, and of one. */
const MAX_CHARACTERS = 8 * 1024 * 1024;
const MAX_TEXT = 64 * 1024;
const TTL_MS = 24 * 60 * 60 * 1_000;
/** Parsed documents that are in no file. An AST takes about 40 bytes a character of its text. */
const MAX_PARSED_CHARACTERS = 1024 * 1024;
/** Unknown documents that are logged, each once; the rest are only counted. */
const MAX_LOGGED = 1_000;

/** The one store of documents, whatever the client calls them. */
export interface Documents {
	readonly mode: DocumentMode;
	/** A document of the files, by the id its client's build gave it, or its hash. */
	byId(id: string): CheckedDocument | null;
	bySha256(sha256: string): CheckedDocument | null;
	/** Whether a text is here under its hash, of a file or registered. */
	has(sha256: string): Promise<boolean>;
	/** `report`: a document ran that is in no file. */
	recordUnknown(sha256: string, operationName: string | null): void;
	/** Requests so far whose document is in no file. */
	readonly unknownCount: number;
	/** Apollo's store of texts, by hash: those of the files, and what clients register (APQ). */
	readonly texts: ApolloCache<string>;
	/** Apollo's store of parsed and valid documents; a file's are there before anyone asks. */
	readonly parsed: ApolloCache<DocumentNode>;
}

/** Apollo's KeyValueCache. */
export interface ApolloCache<V> {
	get(key: string): Promise<V | undefined>;
	set(key: string, value: V): Promise<void>;
	delete(key: string): Promise<boolean>;
}

export function createDocuments(options: DocumentsOptions): Documents {
	const { mode, files, shared, log, now = () => performance.now() } = options;
	const registered = new Lru<string>({
		maxWeight: MAX_CHARACTERS,
		weigh: (text) => text.length + 100,
		now,
	});
	const parsed = new Lru<DocumentNode>({
		maxWeight: MAX_PARSED_CHARACTERS,
		weigh: ({ loc }) => (loc?.source.body.length ?? MAX_TEXT) + 100,
	});
	const logged = new Set<string>();
	let unknown = 0;
	const bySha256 = (sha256: string) =>
		files?.index.bySha256.get(sha256) ?? null;

	async function textOf(sha256: string): Promise<string | undefined> {
		const known = bySha256(sha256)?.text;
		if (known !== undefined || mode === "strict") return known;
		const own = registered.get(sha256);
		if (own !== undefined || shared === null) return own;
		const text = (await shared.get(SHARED_PREFIX + sha256)) ?? undefined;
		// Others write there too: what has another hash is another document.
		if (text === undefined || sha256Of(text) !== sha256) return undefined;
		registered.set(sha256, text, TTL_MS);
		return text;
	}

	return {
		mode,
		byId: (id) => files?.index.byId.get(id) ?? null,
		bySha256,
		has: async (sha256) => (await textOf(sha256)) !== undefined,

		recordUnknown(sha256, operationName) {
			unknown++;
			if (CHANNELS.unknownDocument.hasSubscribers) {
				const seen: UnknownDocument = { sha256, operationName };
				CHANNELS.unknownDocument.publish(seen);
			}
			if (logged.has(sha256) || logged.size >= MAX_LOGGED) return;
			logged.add(sha256);
			log.warn(
				{ sha256, operation: operationName?.slice(0, 100) ?? null, unknown },
				logged.size < MAX_LOGGED
					? "a document that is in no file"
					: "a document that is in no file; further ones are counted only",
			);
		},

		get unknownCount() {
			return unknown;
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
				parsed.set(hashIn(key), document);
			},
			delete: async (key) => parsed.delete(hashIn(key)),
		},
	};
}

const SHARED_PREFIX = "c1.document.";

/** Apollo puts prefixes of its own before the hash: `apq:`, the schema's hash. */
function hashIn(key: string): string {
	return key.slice(key.lastIndexOf(":") + 1);
}
