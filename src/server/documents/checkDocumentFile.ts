import { hash } from "node:crypto";
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
import { costLimitError } from "../../plan/compile/cost.ts";
import type { WorstCaseCost } from "../../plan/compile/worstCaseCost.ts";
import type { Planner } from "../../plan/planner.ts";
import { compact } from "../../util/compact.ts";
import { MAX_TOKENS } from "../limits/documentLimits.ts";
import { type FileDocument, parseDocumentFile } from "./parseDocumentFile.ts";

/** A document that parses, is valid and never costs more than the limit. */
export interface CheckedDocument extends FileDocument {
	/** The hash of the text, as 64 hex digits. */
	readonly sha256: string;
	/** Its nodes have locations for errors, but no tokens. */
	readonly document: DocumentNode;
}

export interface CheckedFile {
	readonly documents: readonly CheckedDocument[];
	/** The worst-case costs of the valid documents. */
	readonly operations: readonly WorstCaseCost[];
	/** The hash of each id's text, valid or not. */
	readonly sha256ById: ReadonlyMap<string, string>;
	/** Every one, each worded as `file: document id: …`. The file is good if there are none. */
	readonly problems: readonly string[];
}

/** What documents are checked against. */
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
	const problems = [...parsed.problems];
	const documents: CheckedDocument[] = [];
	const operations: WorstCaseCost[] = [];
	const sha256ById = new Map<string, string>();
	for (const given of parsed.documents) {
		const sha256 = sha256Of(given.text);
		sha256ById.set(given.id, sha256);
		const unchanged = known.get(sha256);
		if (unchanged !== undefined) {
			documents.push({ ...unchanged, id: given.id });
		} else {
			const checked = check(given, rules);
			if ("document" in checked) {
				documents.push({ ...given, sha256, document: checked.document });
				operations.push(...checked.operations);
			} else {
				problems.push(...checked.map((problem) => `${file}: ${problem}`));
			}
		}
		await nextTurn();
	}
	return { documents, operations, sha256ById, problems };
}

export function sha256Of(text: string): string {
	return hash("sha256", text, "hex");
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
		return invalid.map((problem) => describeProblem(given.id, problem));
	const operations = planner.analyzeWorstCaseCost(document);
	if (operations.length === 0) {
		return [`document ${given.id}: contains no operation`];
	}
	const problems = operations.flatMap((operation) => {
		const overLimit = costLimitError(operation.cost, maxCost);
		return compact([...operation.errors, overLimit]).map((problem) =>
			describeProblem(given.id, problem, operation),
		);
	});
	if (problems.length > 0) return problems;
	dropTokens(document);
	return { document, operations };
}

const NO_TOKEN = new Token(TokenKind.SOF, 0, 0, 0, 0);

/**
 * Every location of a document references the linked list of all its tokens,
 * which errors do not need. A document of a file stays in memory as long as the
 * process.
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
	const [location] = locations ?? [];
	return compact([
		`document ${id}`,
		operation?.name && ` (${operation.name})`,
		location && `:${location.line}:${location.column}`,
		`: ${message}`,
	]).join("");
}
