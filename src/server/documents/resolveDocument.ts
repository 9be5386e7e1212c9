import type { FastifyRequest } from "fastify";
import { type CheckedDocument, sha256Of } from "./checkDocumentFile.ts";
import type { Documents } from "./documents.ts";

/** Why a request is refused before Apollo sees it. All are 400: the client's to mend. */
export interface DocumentError {
	readonly message: string;
	readonly code: "BAD_REQUEST" | "PERSISTED_QUERY_NOT_FOUND";
}

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Bring whatever a client calls its document to the one form Apollo knows, a
 * hash under which `Documents` has the text:
 *
 *     documentId   GraphQL over HTTP, Appendix A: `sha256:…`, or an id of the client's own
 *     extensions.persistedQuery.sha256Hash   APQ, and Apollo's manifest
 *     id, doc_id   what Relay's network layers send
 *     query        the text itself, if it is that of a known document
 *
 * in a POST's body or a GET's parameters. An empty operationName is one that was
 * not given (GraphQL over HTTP, "GET"; clients send it by POST too). What is none
 * of these, or malformed in another way, is left as it is, for Apollo to refuse.
 *
 * A GET that carries no text needs no header of the kind that pages of other
 * origins cannot send. That header protects what a browser adds to any request
 * by itself: cookies, which are ignored here, and effects, which a GET has
 * none of. What text a stranger may have run is a document that this server was
 * given before, by POST or in a file.
 */
export async function resolveDocument(
	request: FastifyRequest,
	documents: Documents,
): Promise<DocumentError | null> {
	if (request.method === "GET") return inParameters(request, documents);
	const { body } = request;
	if (typeof body !== "object" || body === null || Array.isArray(body)) {
		return null;
	}
	let asked = body as Readonly<Record<string, unknown>>;
	if (asked.operationName === "") {
		asked = { ...asked, operationName: null };
		request.body = asked;
	}
	if (!mayExtend(asked.extensions)) return null;
	const found = await find(asked, documents);
	if (found === null || "message" in found) return found;
	request.body = {
		...asked,
		query: undefined,
		extensions: extensionsWith(asked.extensions, found.sha256),
	};
	return null;
}

async function inParameters(
	request: FastifyRequest,
	documents: Documents,
): Promise<DocumentError | null> {
	const [path = "", search = ""] = request.raw.url?.split(/\?(.*)/s, 2) ?? [];
	const parameters = new URLSearchParams(search);
	for (const name of ["documentId", "id", "doc_id"]) {
		if (parameters.getAll(name).length > 1) {
			return badRequest(`Expected ${name} once but got it more often.`);
		}
	}
	const names = parameters.getAll("operationName");
	if (names.length === 1 && names[0] === "") {
		parameters.delete("operationName");
		request.raw.url = `${path}?${parameters}`;
	}
	const extensions = jsonOf(parameters.get("extensions"));
	if (!parameters.has("query")) {
		request.headers = { "apollo-require-preflight": "no text" };
	}
	if (!mayExtend(extensions)) return null;
	const found = await find(
		{ ...Object.fromEntries(parameters), extensions },
		documents,
	);
	if (found === null || "message" in found) return found;
	for (const name of ["documentId", "id", "doc_id", "query"]) {
		parameters.delete(name);
	}
	parameters.set(
		"extensions",
		JSON.stringify(extensionsWith(extensions, found.sha256)),
	);
	request.raw.url = `${path}?${parameters}`;
	return null;
}

type Found = { readonly sha256: string } | DocumentError | null;

/** The hash under which the text is, or null where Apollo is to judge what was sent as it is. */
async function find(
	asked: Readonly<Record<string, unknown>>,
	documents: Documents,
): Promise<Found> {
	const { documentId, query } = asked;
	const text = typeof query === "string" && query !== "" ? query : null;
	if (documentId !== undefined && documentId !== null) {
		return typeof documentId === "string"
			? byDocumentId(documentId, text, documents)
			: badRequest(
					`Expected documentId to be a string but got: ${typeof documentId}.`,
				);
	}
	const persisted = persistedIn(asked.extensions);
	if (persisted !== null) return byApq(persisted, text, documents);
	if (text !== null) return byText(text, documents);
	for (const name of ["id", "doc_id"]) {
		const id = asked[name];
		if (typeof id === "string") return byDocumentId(id, null, documents);
	}
	return null;
}

/** Appendix A: an id without a colon is of the client's own making. */
async function byDocumentId(
	id: string,
	text: string | null,
	documents: Documents,
): Promise<Found> {
	const sha256 = id.startsWith("sha256:") ? id.slice("sha256:".length) : id;
	if (id !== sha256 && !SHA256.test(sha256)) {
		return badRequest(
			"Expected sha256: to be followed by 64 lower-case hex digits but got something else.",
		);
	}
	const known =
		documents.byId(id) ??
		(SHA256.test(sha256) ? documents.bySha256(sha256) : null);
	if (text !== null) {
		const own = known?.sha256 ?? (SHA256.test(sha256) ? sha256 : null);
		if (own !== null && own !== sha256Of(text)) {
			return badRequest("The documentId is that of another text than query.");
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
): Promise<Found> {
	// Apollo refuses other versions; of this one it takes any hash.
	if (version !== 1) return null;
	if (typeof sha256Hash !== "string" || sha256Hash === "") {
		return badRequest(
			`Expected persistedQuery.sha256Hash to be a string but got: ${typeof sha256Hash}.`,
		);
	}
	const known: CheckedDocument | null =
		documents.byId(sha256Hash) ?? documents.bySha256(sha256Hash);
	if (known !== null && (text === null || text === known.text)) return known;
	if (!SHA256.test(sha256Hash)) {
		// An id of a manifest's own, which this server does not have (yet).
		return text === null ? NOT_FOUND_AS_APQ : byText(text, documents);
	}
	return text !== null && documents.mode === "strict"
		? byText(text, documents)
		: null;
}

/** A text that is a known document's needs no parsing; in `strict` any other is refused. */
function byText(text: string, documents: Documents): Found {
	if (documents.mode === "off") return null;
	const known = documents.bySha256(sha256Of(text));
	if (known !== null) return known;
	return documents.mode === "strict" ? ONLY_KNOWN : null;
}

interface Persisted {
	readonly version?: unknown;
	readonly sha256Hash?: unknown;
}

function persistedIn(extensions: unknown): Persisted | null {
	if (typeof extensions !== "object" || extensions === null) return null;
	const { persistedQuery } = extensions as { persistedQuery?: unknown };
	return typeof persistedQuery === "object" && persistedQuery !== null
		? persistedQuery
		: null;
}

/** Other extensions are malformed: they stay where they are, and Apollo refuses them. */
function mayExtend(extensions: unknown): extensions is object | null {
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

/** What is not JSON comes as the text it is, which `mayExtend` does not take. */
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
	message: "This server knows no document of this id.",
	code: "PERSISTED_QUERY_NOT_FOUND",
};

/** With a hash nobody has: Apollo then says what APQ's clients wait for. */
const NOT_FOUND_AS_APQ = { sha256: "none" };

const ONLY_KNOWN: DocumentError = {
	message:
		"This server runs only documents it was given beforehand: send the id of one (documentId), or its text to the letter.",
	code: "BAD_REQUEST",
};
