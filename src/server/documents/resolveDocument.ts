import { ERRORS } from "../../errors.ts";
import { type CheckedDocument, sha256Of } from "./checkDocumentFile.ts";
import type { Documents } from "./documents.ts";

/** Rejects a request before Apollo handles it. */
interface DocumentError {
	readonly message: string;
	readonly code: "BAD_REQUEST" | "PERSISTED_QUERY_NOT_FOUND";
}

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Translate the ways in which clients name a document into the one that Apollo
 * knows, a hash under which `Documents` has the text:
 *
 *     documentId   GraphQL over HTTP, Appendix A: `sha256:…`, or an id of the client's own
 *     extensions.persistedQuery.sha256Hash   APQ, and Apollo's manifest
 *     id, doc_id   sent by Relay's network layers
 *     query        the text itself, if the document is known
 *
 * in a POST's body or a GET's parameters. An empty operationName counts as
 * absent (GraphQL over HTTP, "GET"; clients send it by POST too). Apollo rejects
 * whatever is malformed in another way.
 */
export async function resolveDocument(
	{ isGet, body, search }: SentParameters,
	documents: Documents,
): Promise<DocumentError | ResolvedParameters> {
	if (isGet) return resolveParameters(search, documents);
	const asSent = { body, search, isSafe: false };
	if (typeof body !== "object" || body === null || Array.isArray(body)) {
		return asSent;
	}
	let parameters = body as Readonly<Record<string, unknown>>;
	if (parameters.operationName === "") {
		parameters = { ...parameters, operationName: null };
	}
	const named = { ...asSent, body: parameters };
	if (!isExtensible(parameters.extensions)) return named;
	const resolved = await find(parameters, documents);
	if (resolved === null) return named;
	if ("message" in resolved) return resolved;
	const extensions = extensionsWith(parameters.extensions, resolved.sha256);
	return { ...asSent, body: { ...parameters, query: undefined, extensions } };
}

/** What a request says. */
interface SentParameters {
	readonly isGet: boolean;
	/** The body of a POST, parsed. */
	readonly body: unknown;
	/** The query string of a GET. */
	readonly search: string;
}

/** The same as Apollo understands it. */
interface ResolvedParameters {
	readonly body: unknown;
	readonly search: string;
	/**
	 * Whether it is a GET without a text, which needs no CSRF prevention. Apollo's
	 * check protects cookies, which are ignored here, and side effects, which a GET
	 * does not have. The GET can only run a document that the server already has,
	 * from a POST or a file.
	 */
	readonly isSafe: boolean;
}

async function resolveParameters(
	search: string,
	documents: Documents,
): Promise<DocumentError | ResolvedParameters> {
	const parameters = new URLSearchParams(search);
	for (const name of ["documentId", "id", "doc_id"]) {
		if (parameters.getAll(name).length > 1) {
			return badRequest(`The parameter ${name} occurs more than once.`);
		}
	}
	const names = parameters.getAll("operationName");
	if (names.length === 1 && names[0] === "") {
		parameters.delete("operationName");
	}
	const extensions = jsonOf(parameters.get("extensions"));
	const isSafe = !parameters.has("query");
	const named = { body: undefined, search: parameters.toString(), isSafe };
	if (!isExtensible(extensions)) return named;
	const resolved = await find(
		{ ...Object.fromEntries(parameters), extensions },
		documents,
	);
	if (resolved === null) return named;
	if ("message" in resolved) return resolved;
	for (const name of ["documentId", "id", "doc_id", "query"]) {
		parameters.delete(name);
	}
	parameters.set(
		"extensions",
		JSON.stringify(extensionsWith(extensions, resolved.sha256)),
	);
	return { ...named, search: parameters.toString() };
}

type Resolution = { readonly sha256: string } | DocumentError | null;

/** The hash of the text; null to leave the request to Apollo as it is. */
async function find(
	parameters: Readonly<Record<string, unknown>>,
	documents: Documents,
): Promise<Resolution> {
	const { documentId, query } = parameters;
	const text = typeof query === "string" && query !== "" ? query : null;
	if (documentId !== undefined && documentId !== null) {
		return typeof documentId === "string"
			? byDocumentId(documentId, text, documents)
			: badRequest(`documentId must be a string, got ${typeof documentId}.`);
	}
	const persisted = persistedQueryIn(parameters.extensions);
	if (persisted !== null) return byApq(persisted, text, documents);
	if (text !== null) return byText(text, documents);
	for (const name of ["id", "doc_id"]) {
		const id = parameters[name];
		if (typeof id === "string") return byDocumentId(id, null, documents);
	}
	return null;
}

/** Appendix A: an id without a colon is the client's own. */
async function byDocumentId(
	id: string,
	text: string | null,
	documents: Documents,
): Promise<Resolution> {
	const sha256 = id.startsWith("sha256:") ? id.slice("sha256:".length) : id;
	if (id !== sha256 && !SHA256.test(sha256)) {
		return badRequest(
			"In documentId, sha256: must be followed by 64 lower-case hex digits.",
		);
	}
	const known =
		documents.byId(id) ??
		(SHA256.test(sha256) ? documents.bySha256(sha256) : null);
	if (text !== null) {
		const own = known?.sha256 ?? (SHA256.test(sha256) ? sha256 : null);
		if (own !== null && own !== sha256Of(text)) {
			return badRequest("documentId and query are different documents.");
		}
		return byText(text, documents);
	}
	if (known !== null) return known;
	return SHA256.test(sha256) && (await documents.has(sha256))
		? { sha256 }
		: NOT_FOUND;
}

async function byApq(
	{ version, sha256Hash }: Persisted,
	text: string | null,
	documents: Documents,
): Promise<Resolution> {
	// Apollo rejects other versions, and accepts any hash of this one.
	if (version !== 1) return null;
	if (typeof sha256Hash !== "string" || sha256Hash === "") {
		return badRequest(
			`persistedQuery.sha256Hash must be a string, got ${typeof sha256Hash}.`,
		);
	}
	const known: CheckedDocument | null =
		documents.byId(sha256Hash) ?? documents.bySha256(sha256Hash);
	if (known !== null && (text === null || text === known.text)) return known;
	if (!SHA256.test(sha256Hash)) {
		// An id of a manifest that this server does not have (yet).
		return text === null ? NOT_FOUND_AS_APQ : byText(text, documents);
	}
	return text !== null && documents.mode === "strict"
		? byText(text, documents)
		: null;
}

/** A known document needs no parsing; `strict` rejects others. */
function byText(text: string, documents: Documents): Resolution {
	if (documents.mode === "off") return null;
	const known = documents.bySha256(sha256Of(text));
	if (known !== null) return known;
	return documents.mode === "strict" ? NOT_REGISTERED : null;
}

interface Persisted {
	readonly version?: unknown;
	readonly sha256Hash?: unknown;
}

function persistedQueryIn(extensions: unknown): Persisted | null {
	if (typeof extensions !== "object" || extensions === null) return null;
	const { persistedQuery } = extensions as { persistedQuery?: unknown };
	return typeof persistedQuery === "object" && persistedQuery !== null
		? persistedQuery
		: null;
}

/** Apollo rejects other extensions as malformed. */
function isExtensible(extensions: unknown): extensions is object | null {
	return (
		extensions === undefined ||
		(typeof extensions === "object" && !Array.isArray(extensions))
	);
}

function extensionsWith(extensions: unknown, sha256: string): object {
	return {
		...(typeof extensions === "object" ? extensions : {}),
		persistedQuery: { version: 1, sha256Hash: sha256 },
	};
}

/** Text that is not JSON stays text, which `isExtensible` rejects. */
function jsonOf(text: string | null): unknown {
	try {
		return text === null ? null : JSON.parse(text);
	} catch {
		return text;
	}
}

function badRequest(message: string): DocumentError {
	return { message, code: "BAD_REQUEST" };
}

const NOT_FOUND: DocumentError = {
	message: ERRORS.PERSISTED_QUERY_NOT_FOUND.message,
	code: "PERSISTED_QUERY_NOT_FOUND",
};

/** A hash that no document has: Apollo then responds as APQ clients expect. */
const NOT_FOUND_AS_APQ = { sha256: "none" };

const NOT_REGISTERED: DocumentError = {
	message:
		"This server runs only registered documents. Send the id of one as documentId, or its exact text as query.",
	code: "BAD_REQUEST",
};
