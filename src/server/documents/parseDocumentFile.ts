/** A document that a client's build wrote into a file. */
export interface FileDocument {
	/** The id that the client sends. */
	readonly id: string;
	readonly text: string;
}

interface ParsedFile {
	readonly documents: readonly FileDocument[];
	readonly problems: readonly string[];
}

/** Ids are keys and appear in the log, so they are short and printable. */
const ID = /^[\x21-\x7e]{1,200}$/;

/**
 * Parse a file in one of the two formats that client builds write:
 *
 *     Apollo   {"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id", "body", "name", "type"}]}
 *     Relay    {"<id>": "<text>"}, as `persistConfig.file`; empty before the first build
 */
export function parseDocumentFile(file: string, text: string): ParsedFile {
	let json: unknown;
	try {
		json = JSON.parse(text);
	} catch (error) {
		return invalidFile(`${file}: not valid JSON: ${(error as Error).message}`);
	}
	if (!isObject(json)) {
		return invalidFile(
			`${file}: must be Apollo's manifest or Relay's object of texts by id, got ${kindOf(json)}`,
		);
	}
	return Object.hasOwn(json, "operations")
		? apollo(file, json)
		: collect(file, Object.entries(json));
}

function apollo(file: string, json: Readonly<Record<string, unknown>>) {
	const { format, version, operations } = json;
	if (format !== "apollo-persisted-query-manifest" || version !== 1) {
		return invalidFile(
			`${file}: format must be "apollo-persisted-query-manifest", version 1, got ${JSON.stringify(format)}, version ${JSON.stringify(version)}`,
		);
	}
	if (!Array.isArray(operations)) {
		return invalidFile(
			`${file}: operations must be a list, got ${kindOf(operations)}`,
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
	const problems: string[] = [];
	for (const [at, [id, text]] of entries.entries()) {
		if (typeof id !== "string" || !ID.test(id)) {
			problems.push(
				`${file}: document ${at + 1}: the id must have 1 to 200 visible ASCII characters, got ${typeof id === "string" ? JSON.stringify(id.slice(0, 200)) : kindOf(id)}`,
			);
		} else if (typeof text !== "string") {
			problems.push(
				`${file}: document ${id}: the text must be a string, got ${kindOf(text)}`,
			);
		} else if (documents.has(id) && documents.get(id) !== text) {
			problems.push(
				`${file}: document ${id}: occurs twice, with different texts`,
			);
		} else {
			documents.set(id, text);
		}
	}
	return {
		documents: [...documents].map(([id, text]) => ({ id, text })),
		problems,
	};
}

function invalidFile(problem: string): ParsedFile {
	return { documents: [], problems: [problem] };
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
