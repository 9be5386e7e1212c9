import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
	type DocumentNode,
	GraphQLError,
	type GraphQLSchema,
	parse,
	Token,
	TokenKind,
	validate,
	visit,
} from "graphql";
import { costLimitError } from "../../plan/cost.ts";
import type { Planner } from "../../plan/planner.ts";
import type { WorstCaseCost } from "../../plan/worstCaseCost.ts";
import { MAX_TOKENS } from "../limits/documentLimits.ts";
import { type FileDocument, parseDocumentFile } from "./parseDocumentFile.ts";

/** A document that is good: it parses, is valid and never costs more than the limit. */
export interface CheckedDocument extends FileDocument {
	/** Of the text: 64 hex digits. */
	readonly sha256: string;
	/** Its places are told in errors; they have no tokens. */
	readonly document: DocumentNode;
}

export interface CheckedFile {
	readonly documents: readonly CheckedDocument[];
	/** Of the documents that were looked at and are good. */
	readonly operations: readonly WorstCaseCost[];
	/** What the file gives each id, good or not: the hash of its text. */
	readonly sha256ById: ReadonlyMap<string, string>;
	/** Every one, each worded as `file: document id: …`. The file is good if there are none. */
	readonly problems: readonly string[];
}

/** What documents are held against. */
export interface DocumentRules {
	readonly schema: GraphQLSchema;
	readonly planner: Pick<Planner<never>, "analyzeWorstCaseCost">;
	readonly maxCost: number;
}

/**
 * Look at every document of a file. `known`, by the texts' hashes, are those
 * that were good before, which are not looked at again. Between two documents
 * others may use the processor: a file may hold a thousand.
 */
export async function checkDocumentFile(
	file: string,
	text: string,
	rules: DocumentRules,
	known: ReadonlyMap<string, CheckedDocument> = new Map(),
): Promise<CheckedFile> {
	const parsed = parseDocumentFile(file, text);
	const faults = [...parsed.problems];
	const documents: CheckedDocument[] = [];
	const operations: WorstCaseCost[] = [];
	const sha256ById = new Map<string, string>();
	for (const given of parsed.documents) {
		const sha256 = sha256Of(given.text);
		sha256ById.set(given.id, sha256);
		const same = known.get(sha256);
		if (same !== undefined) {
			documents.push({ ...same, id: given.id });
		} else {
			const checked = check(given, rules);
			if ("document" in checked) {
				documents.push({ ...given, sha256, document: checked.document });
				operations.push(...checked.operations);
			} else {
				faults.push(...checked.map((fault) => `${file}: ${fault}`));
			}
		}
		await nextTurn();
	}
	return { documents, operations, sha256ById, problems: faults };
}

export function sha256Of(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}

function check(
	given: FileDocument,
	{ schema, planner, maxCost }: DocumentRules,
):
	| (Pick<CheckedFile, "operations"> & Pick<CheckedDocument, "document">)
	| readonly string[] {
	let document: DocumentNode;
	try {
		document = parse(given.text, { maxTokens: MAX_TOKENS });
	} catch (thrown) {
		if (thrown instanceof GraphQLError)
			return [describeProblem(given.id, thrown)];
		throw thrown;
	}
	const invalid = validate(schema, document);
	if (invalid.length > 0)
		return invalid.map((fault) => describeProblem(given.id, fault));
	const operations = planner.analyzeWorstCaseCost(document);
	if (operations.length === 0) {
		return [`document ${given.id}: expected an operation but got: none`];
	}
	const faults = operations.flatMap((operation) => {
		const overLimit = costLimitError(operation.cost, maxCost);
		return [
			...operation.errors,
			...(overLimit === null ? [] : [overLimit]),
		].map((fault) => describeProblem(given.id, fault, operation));
	});
	if (faults.length > 0) return faults;
	dropTokens(document);
	return { document, operations };
}

const NO_TOKEN = new Token(TokenKind.SOF, 0, 0, 0, 0);

/**
 * graphql-js keeps every token of a text, each holding the next, as long as any
 * place of the document does. Errors tell offsets only, and a document of a
 * file lives as long as the process.
 */
function dropTokens(document: DocumentNode): void {
	visit(document, {
		enter({ loc }) {
			if (loc === undefined) return;
			Object.assign(loc, { startToken: NO_TOKEN, endToken: NO_TOKEN });
		},
	});
}

function describeProblem(
	id: string,
	{ message, locations }: GraphQLError,
	operation?: WorstCaseCost,
): string {
	const [place] = locations ?? [];
	return [
		`document ${id}`,
		...(operation?.name ? [` (${operation.name})`] : []),
		...(place ? [`:${place.line}:${place.column}`] : []),
		`: ${message}`,
	].join("");
}
