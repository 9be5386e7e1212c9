import {
	type ASTVisitor,
	type DocumentNode,
	type FragmentDefinitionNode,
	GraphQLError,
	Kind,
	type OperationDefinitionNode,
	type SelectionNode,
	type SelectionSetNode,
	type ValidationContext,
} from "graphql";
import { publishRefusal } from "../../plan/diagnostics.ts";

/** Tokens of a document, enforced by the parser. */
export const MAX_TOKENS = 2_000;

/**
 * Limits on a parsed document (`REQUEST_LIMITS` holds those before parsing).
 * Documents that Relay and Apollo clients send stay far below each. They are
 * checked before validation, whose rules compare fields pair by pair and
 * report every error they find.
 */
const DOCUMENT_LIMITS = {
	/** graphql-js scans them for the location of every error. */
	lines: 3_000,
	/** Most variables of one operation. */
	variables: 100,
	/** Levels of fields, with fragments expanded. Introspection takes 15, four nested pages 16. */
	depth: 25,
	/** In the whole document. */
	aliases: 100,
	/** At one location, and in the whole document. */
	directivesAtOneLocation: 4,
	directives: 200,
	/** Root fields of one mutation: they run one after another, each in one or more transactions. */
	mutations: 10,
	/** Most uses of the same field in one selection set. */
	repeats: 20,
	/** Fields and spreads of one operation, with fragments expanded. */
	selections: 5_000,
	/** Pairs of one operation that validation compares to see whether they can be merged: fields with the same key, and fragments of one selection set, of which each pair counts 4. */
	overlaps: 20_000,
} as const;

/**
 * A validation rule that checks the whole document before another rule visits
 * more than its root. If a limit is exceeded it reports only that, and
 * replaces the document with one without definitions, so that no other rule
 * visits them.
 */
export function documentLimits(context: ValidationContext): ASTVisitor {
	return {
		Document(document) {
			const message = documentLimitError(document);
			if (message === null) return undefined;
			publishRefusal("document");
			context.reportError(new GraphQLError(message));
			return { ...document, definitions: [] };
		},
	};
}

/** A sentence about the first limit that a document exceeds, else null. */
export function documentLimitError(document: DocumentNode): string | null {
	try {
		new DocumentCounter(document).check();
		return null;
	} catch (thrown) {
		if (thrown instanceof LimitError) return thrown.message;
		throw thrown;
	}
}

class LimitError extends Error {}

/** The size of a selection set, with fragments expanded. */
interface Size {
	readonly depth: number;
	readonly selections: number;
}

class DocumentCounter {
	readonly #text: string;
	readonly #operations: readonly OperationDefinitionNode[];
	readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
	/** Each set is counted once, however often it is spread. */
	readonly #sizes = new Map<SelectionSetNode, Size | "counting">();
	#aliases = 0;
	#directives = 0;

	constructor({ definitions, loc }: DocumentNode) {
		this.#text = loc?.source.body ?? "";
		this.#operations = definitions.filter(
			(one) => one.kind === Kind.OPERATION_DEFINITION,
		);
		this.#fragments = new Map(
			definitions
				.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION)
				.map((fragment) => [fragment.name.value, fragment]),
		);
	}

	check(): void {
		atMost(linesOf(this.#text), DOCUMENT_LIMITS.lines, "lines");
		for (const { variableDefinitions = [] } of this.#operations) {
			atMost(
				variableDefinitions.length,
				DOCUMENT_LIMITS.variables,
				"variables of one operation",
			);
			for (const { directives } of variableDefinitions) {
				this.#countDirectives(directives?.length ?? 0);
			}
		}
		for (const one of [...this.#operations, ...this.#fragments.values()]) {
			this.#countDirectives(one.directives?.length ?? 0);
			const { depth, selections } = this.#sizeOf(one.selectionSet);
			atMost(depth, DOCUMENT_LIMITS.depth, "levels of fields");
			atMost(selections, DOCUMENT_LIMITS.selections, SELECTIONS);
		}
		for (const { operation, selectionSet } of this.#operations) {
			if (operation === "mutation") {
				atMost(
					this.#expand([selectionSet]).fields.length,
					DOCUMENT_LIMITS.mutations,
					"mutations",
				);
			}
			this.#checkOverlaps(selectionSet);
		}
	}

	#sizeOf(set: SelectionSetNode): Size {
		const known = this.#sizes.get(set);
		if (known === "counting") {
			// The message of graphql-js, which would first compare its fields.
			throw new LimitError("Cannot spread a fragment within itself.");
		}
		if (known !== undefined) return known;
		this.#sizes.set(set, "counting");
		const repeats = new Map<string, number>();
		let depth = 0;
		let selections = 0;
		for (const one of set.selections) {
			this.#countDirectives(one.directives?.length ?? 0);
			let below: Size = { depth: 0, selections: 0 };
			if (one.kind === Kind.FIELD) {
				if (one.alias !== undefined) {
					this.#aliases++;
					atMost(this.#aliases, DOCUMENT_LIMITS.aliases, "aliases");
				}
				const key = keyOf(one);
				const times = (repeats.get(key) ?? 0) + 1;
				atMost(times, DOCUMENT_LIMITS.repeats, "repetitions of a field");
				repeats.set(key, times);
				if (one.selectionSet) below = this.#sizeOf(one.selectionSet);
				depth = Math.max(depth, 1 + below.depth);
			} else {
				const inner = this.#selectionSetOf(one);
				if (inner !== undefined) below = this.#sizeOf(inner);
				depth = Math.max(depth, below.depth);
			}
			selections += 1 + below.selections;
			// Checked at each selection: nested fragments may double it each time.
			atMost(selections, DOCUMENT_LIMITS.selections, SELECTIONS);
			atMost(depth, DOCUMENT_LIMITS.depth, "levels of fields");
		}
		const size = { depth, selections };
		this.#sizes.set(set, size);
		return size;
	}

	/** The selection set of a spread or an inline fragment. */
	#selectionSetOf(one: Exclude<SelectionNode, { kind: Kind.FIELD }>) {
		return one.kind === Kind.INLINE_FRAGMENT
			? one.selectionSet
			: this.#fragments.get(one.name.value)?.selectionSet;
	}

	#countDirectives(count: number): void {
		atMost(
			count,
			DOCUMENT_LIMITS.directivesAtOneLocation,
			"directives at one location",
		);
		this.#directives += count;
		atMost(this.#directives, DOCUMENT_LIMITS.directives, "directives");
	}

	/** The fields of these sets with fragments expanded, each once, and the number of sets. */
	#expand(sets: readonly SelectionSetNode[]) {
		const seen = new Set<SelectionSetNode>();
		const fields: Extract<SelectionNode, { kind: Kind.FIELD }>[] = [];
		const pending = [...sets];
		for (let set = pending.pop(); set !== undefined; set = pending.pop()) {
			if (seen.has(set)) continue;
			seen.add(set);
			for (const one of set.selections) {
				if (one.kind === Kind.FIELD) fields.push(one);
				else {
					const inner = this.#selectionSetOf(one);
					if (inner !== undefined) pending.push(inner);
				}
			}
		}
		return { fields, sets: seen.size };
	}

	/** Counts what OverlappingFieldsCanBeMerged compares: all pairs of one key, here and in what they select together. */
	#checkOverlaps(root: SelectionSetNode): void {
		let pairs = 0;
		const pending: (readonly SelectionSetNode[])[] = [[root]];
		for (let sets = pending.pop(); sets !== undefined; sets = pending.pop()) {
			const { fields: expanded, sets: fragments } = this.#expand(sets);
			pairs += 4 * pairsOf(fragments);
			const byKey = Map.groupBy(expanded, keyOf);
			for (const fields of byKey.values()) {
				pairs += pairsOf(fields.length);
				atMost(
					pairs,
					DOCUMENT_LIMITS.overlaps,
					"pairs of fields and fragments to compare",
				);
				const below = fields.flatMap(({ selectionSet }) => selectionSet ?? []);
				if (below.length > 0) pending.push(below);
			}
		}
	}
}

/** As graphql-js counts them. */
function linesOf(text: string): number {
	return 1 + (text.match(/\r\n|[\n\r]/g)?.length ?? 0);
}

const SELECTIONS = "fields with fragments expanded";

function pairsOf(count: number): number {
	return (count * (count - 1)) / 2;
}

function keyOf(field: Extract<SelectionNode, { kind: Kind.FIELD }>): string {
	return (field.alias ?? field.name).value;
}

function atMost(count: number, limit: number, what: string): void {
	if (count <= limit) return;
	throw new LimitError(`The document exceeds the limit of ${limit} ${what}.`);
}
