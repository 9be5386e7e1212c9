/** A document as a client's build wrote it into a file. */
export interface FileDocument {
	/** What the client will send. */
	readonly id: string;
	readonly text: string;
}

export interface ParsedFile {
	readonly documents: readonly FileDocument[];
	readonly problems: readonly string[];
}

/** An id is a key of ours and stands in log lines; longer ones name nothing that exists. */
const ID = /^[\x21-\x7e]{1,200}$/;

/**
 * The two formats that builds of clients write:
 *
 *     Apollo   {"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id", "body", "name", "type"}]}
 *     Relay    {"<id>": "<text>"}, as `persistConfig.file`; empty before the first build
 */
export function parseDocumentFile(file: string, text: string): ParsedFile {
	let json: unknown;
	try {
		json = JSON.parse(text);
	} catch (error) {
		return invalidFile(
			`${file}: expected JSON but got: ${(error as Error).message}`,
		);
	}
	if (!isObject(json)) {
		return invalidFile(
			`${file}: expected ${EXPECTED} but got: ${kindOf(json)}`,
		);
	}
	return Object.hasOwn(json, "operations")
		? apollo(file, json)
		: collect(file, Object.entries(json));
}

const EXPECTED = "Apollo's manifest, or Relay's object of texts by id,";

function apollo(file: string, json: Readonly<Record<string, unknown>>) {
	const { format, version, operations } = json;
	if (format !== "apollo-persisted-query-manifest" || version !== 1) {
		return invalidFile(
			`${file}: expected format "apollo-persisted-query-manifest", version 1, but got: ${JSON.stringify(format)}, version ${JSON.stringify(version)}`,
		);
	}
	if (!Array.isArray(operations)) {
		return invalidFile(
			`${file}: expected operations to be a list but got: ${kindOf(operations)}`,
		);
	}
	return collect(
		file,
		operations.map((operation: unknown): [unknown, unknown] =>
			isObject(operation) ? [operation.id, operation.body] : [null, null],
		),
	);
}

function collect(
	file: string,
	entries: readonly (readonly [id: unknown, text: unknown])[],
): ParsedFile {
	const documents = new Map<string, string>();
	const faults: string[] = [];
	for (const [at, [id, text]] of entries.entries()) {
		if (typeof id !== "string" || !ID.test(id)) {
			faults.push(
				`${file}: document ${at + 1}: expected an id of 1 to 200 visible ASCII letters but got: ${typeof id === "string" ? JSON.stringify(id.slice(0, 200)) : kindOf(id)}`,
			);
		} else if (typeof text !== "string") {
			faults.push(
				`${file}: document ${id}: expected its text but got: ${kindOf(text)}`,
			);
		} else if (documents.has(id) && documents.get(id) !== text) {
			faults.push(`${file}: document ${id}: is there twice, with two texts`);
		} else {
			documents.set(id, text);
		}
	}
	return {
		documents: [...documents].map(([id, text]) => ({ id, text })),
		problems: faults,
	};
}

function invalidFile(fault: string): ParsedFile {
	return { documents: [], problems: [fault] };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
	if (value === null || value === undefined) return "nothing";
	return Array.isArray(value)
		? "a list"
		: `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}
