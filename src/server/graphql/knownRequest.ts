import type { Documents, RunnableDocument } from "../documents/documents.ts";

/** What a plain request for a known document says. */
export interface KnownRequest extends RunnableDocument {
	readonly operationName: string | undefined;
	readonly variables: Readonly<Record<string, unknown>>;
	/** Whether the request has the text, and not only a name of the document. */
	readonly hasText: boolean;
}

type Parameters = Readonly<Record<string, unknown>>;

/**
 * The parameters of a request, if they are well-formed and name one document,
 * in one way, that can run without a wait. Null for every other request:
 * resolveDocument.ts and Apollo say what is wrong with it, or parse, check and
 * register its document.
 */
export function findKnownRequest(
	parameters: unknown,
	documents: Documents,
): KnownRequest | null {
	if (!isRecord(parameters)) return null;
	const { operationName, variables } = parameters;
	if (!isAbsent(operationName) && typeof operationName !== "string") {
		return null;
	}
	if (!isAbsent(variables) && !isRecord(variables)) return null;
	const runnable = findDocument(parameters, documents);
	return runnable === null
		? null
		: {
				sha256: runnable.sha256,
				text: runnable.text,
				document: runnable.document,
				// An empty one counts as absent.
				operationName: operationName || undefined,
				variables: variables ?? NO_VARIABLES,
				hasText: typeof parameters.query === "string",
			};
}

const NO_VARIABLES = {};

function findDocument(
	{ query, documentId, extensions, id, doc_id: docId }: Parameters,
	documents: Documents,
): RunnableDocument | null {
	const hash = isAbsent(extensions) ? null : persistedHash(extensions);
	if (hash === undefined) return null;
	const names = [query, documentId, hash, id, docId].filter(
		(name) => !isAbsent(name),
	);
	if (names.length !== 1 || typeof names[0] !== "string" || names[0] === "") {
		return null;
	}
	const [name] = names;
	if (name === query) return documents.runnableByText(name);
	const sha256 =
		name.startsWith(SHA256) && hash === null ? name.slice(7) : name;
	return documents.byId(name) ?? documents.runnable(sha256);
}

const SHA256 = "sha256:";

/** Null if the extensions name no document; undefined if they are not understood here. */
function persistedHash(extensions: unknown): string | null | undefined {
	if (!isRecord(extensions)) return undefined;
	const { persistedQuery } = extensions;
	if (persistedQuery === undefined) return null;
	if (!isRecord(persistedQuery) || persistedQuery.version !== 1) {
		return undefined;
	}
	const { sha256Hash } = persistedQuery;
	return typeof sha256Hash === "string" ? sha256Hash : undefined;
}

/** The parameters of a GET, `variables` and `extensions` parsed; null if one occurs twice or is malformed. */
export function parametersIn(search: string): Parameters | null {
	const parameters: Record<string, unknown> = Object.create(null);
	try {
		for (const part of search.split("&")) {
			if (part === "") continue;
			const at = part.indexOf("=");
			const name = decode(at < 0 ? part : part.slice(0, at));
			if (name in parameters) return null;
			const value = decode(at < 0 ? "" : part.slice(at + 1));
			parameters[name] =
				name === "variables" || name === "extensions"
					? JSON.parse(value)
					: value;
		}
	} catch {
		return null;
	}
	// By GET, Apollo rejects both.
	if (parameters.variables === null || parameters.extensions === null) {
		return null;
	}
	return parameters;
}

/** As URLSearchParams does if nothing is malformed. */
function decode(text: string): string {
	return decodeURIComponent(
		text.includes("+") ? text.replaceAll("+", " ") : text,
	);
}

function isAbsent(value: unknown): value is null | undefined {
	return value === undefined || value === null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
