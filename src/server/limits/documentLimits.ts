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

/** Tokens of a document, enforced by the parser. */
export const MAX_TOKENS = 2_000;

/**
 * Limits on a parsed document (`REQUEST_LIMITS` holds those before parsing).
 * Documents that Relay and Apollo clients send stay far below each. They are
 * checked before validation, whose rules compare fields pair by pair and
 * report every error they find.
 */
export const DOCUMENT_LIMITS = {
	/** Every error's location is computed by a scan over the lines. */
	lines: 3_000,
	/** Of one operation. */
	variables: 100,
	/** Fields within fields, fragments unfolded. Introspection takes 15, a page in a page in a page in a page 16. */
	depth: 25,
	/** Written in the whole document. */
	aliases: 100,
	/** At one place, and in the whole document. */
	directivesAtOnePlace: 4,
	directives: 200,
	/** Of one mutation: they run one after another, each a transaction or more. */
	mutations: 10,
	/** Times that one selection set may write the same field. */
	repeats: 20,
	/** Fields and spreads of one operation, fragments unfolded. */
	selections: 5_000,
	/** Pairs that have to be compared to tell whether they can be merged, in one operation: of fields under one key, and of fragments side by side, each of which counts for 4. */
	overlaps: 20_000,
} as const;

/**
 * A validation rule that looks at the whole document before any other sees
 * more than its root. For one over a limit it reports that alone, and puts a
 * document without definitions in its place: graphql-js lets a visitor replace
 * a node, and then no rule walks what was there.
 */
export function documentLimits(context: ValidationContext): ASTVisitor {
	return {
		Document(document) {
			const fault = documentLimitError(document);
			if (fault === null) return undefined;
			context.reportError(new GraphQLError(fault));
			return { ...document, definitions: [] };
		},
	};
}

/** What about a document is over a limit, as a sentence; null if nothing is. */
export function documentLimitError(document: DocumentNode): string | null {
	try {
		new Counting(document).count();
		return null;
	} catch (thrown) {
		if (thrown instanceof Over) return thrown.message;
		throw thrown;
	}
}

class Over extends Error {}

/** What stands in a selection set, fragments unfolded; counted once a set. */
interface Weight {
	readonly depth: number;
	readonly selections: number;
}

class Counting {
	readonly #text: string;
	readonly #operations: readonly OperationDefinitionNode[];
	readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
	readonly #weights = new Map<SelectionSetNode, Weight | "counting">();
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

	count(): void {
		atMost(linesOf(this.#text), DOCUMENT_LIMITS.lines, "lines");
		for (const { variableDefinitions = [] } of this.#operations) {
			atMost(
				variableDefinitions.length,
				DOCUMENT_LIMITS.variables,
				"variables of one operation",
			);
			for (const { directives } of variableDefinitions) {
				this.#placed(directives?.length ?? 0);
			}
		}
		for (const one of [...this.#operations, ...this.#fragments.values()]) {
			this.#placed(one.directives?.length ?? 0);
			const { depth, selections } = this.#weigh(one.selectionSet);
			atMost(depth, DOCUMENT_LIMITS.depth, "levels of fields");
			atMost(selections, DOCUMENT_LIMITS.selections, SELECTIONS);
		}
		for (const { operation, selectionSet } of this.#operations) {
			if (operation === "mutation") {
				atMost(
					this.#unfold([selectionSet]).fields.length,
					DOCUMENT_LIMITS.mutations,
					"mutations",
				);
			}
			this.#overlap(selectionSet);
		}
	}

	#weigh(set: SelectionSetNode): Weight {
		const known = this.#weights.get(set);
		if (known === "counting") {
			// In the words of graphql-js, which would go on to compare its fields.
			throw new Over("Cannot spread a fragment within itself.");
		}
		if (known !== undefined) return known;
		this.#weights.set(set, "counting");
		const written = new Map<string, number>();
		let depth = 0;
		let selections = 0;
		for (const one of set.selections) {
			this.#placed(one.directives?.length ?? 0);
			let below: Weight = { depth: 0, selections: 0 };
			if (one.kind === Kind.FIELD) {
				if (one.alias !== undefined) {
					this.#aliases++;
					atMost(this.#aliases, DOCUMENT_LIMITS.aliases, "aliases");
				}
				const key = keyOf(one);
				const times = (written.get(key) ?? 0) + 1;
				atMost(times, DOCUMENT_LIMITS.repeats, "times the same field");
				written.set(key, times);
				if (one.selectionSet) below = this.#weigh(one.selectionSet);
				depth = Math.max(depth, 1 + below.depth);
			} else {
				const inner = this.#within(one);
				if (inner !== undefined) below = this.#weigh(inner);
				depth = Math.max(depth, below.depth);
			}
			selections += 1 + below.selections;
			// Doubling at each fragment it would soon be no number.
			atMost(selections, DOCUMENT_LIMITS.selections, SELECTIONS);
			atMost(depth, DOCUMENT_LIMITS.depth, "levels of fields");
		}
		const weight = { depth, selections };
		this.#weights.set(set, weight);
		return weight;
	}

	/** What is put into one set by a spread or an inline fragment. */
	#within(one: Exclude<SelectionNode, { kind: Kind.FIELD }>) {
		return one.kind === Kind.INLINE_FRAGMENT
			? one.selectionSet
			: this.#fragments.get(one.name.value)?.selectionSet;
	}

	#placed(count: number): void {
		atMost(
			count,
			DOCUMENT_LIMITS.directivesAtOnePlace,
			"directives at one place",
		);
		this.#directives += count;
		atMost(this.#directives, DOCUMENT_LIMITS.directives, "directives");
	}

	/** The fields of these sets, fragments unfolded, each once, and how many sets that were. */
	#unfold(sets: readonly SelectionSetNode[]) {
		const seen = new Set<SelectionSetNode>();
		const fields: Extract<SelectionNode, { kind: Kind.FIELD }>[] = [];
		const waiting = [...sets];
		for (let set = waiting.pop(); set !== undefined; set = waiting.pop()) {
			if (seen.has(set)) continue;
			seen.add(set);
			for (const one of set.selections) {
				if (one.kind === Kind.FIELD) fields.push(one);
				else {
					const inner = this.#within(one);
					if (inner !== undefined) waiting.push(inner);
				}
			}
		}
		return { fields, sets: seen.size };
	}

	/** What OverlappingFieldsCanBeMerged has to look at: all pairs of one key, here and in what they select together. */
	#overlap(root: SelectionSetNode): void {
		let pairs = 0;
		const waiting: (readonly SelectionSetNode[])[] = [[root]];
		for (let sets = waiting.pop(); sets !== undefined; sets = waiting.pop()) {
			const { fields: unfolded, sets: besides } = this.#unfold(sets);
			pairs += 4 * pairsOf(besides);
			const byKey = Map.groupBy(unfolded, keyOf);
			for (const fields of byKey.values()) {
				pairs += pairsOf(fields.length);
				atMost(
					pairs,
					DOCUMENT_LIMITS.overlaps,
					"pairs of fields and fragments to compare",
				);
				const below = fields.flatMap(({ selectionSet }) => selectionSet ?? []);
				if (below.length > 0) waiting.push(below);
			}
		}
	}
}

/** As graphql-js counts them. */
function linesOf(text: string): number {
	return 1 + (text.match(/\r\n|[\n\r]/g)?.length ?? 0);
}

const SELECTIONS = "fields with all fragments unfolded";

function pairsOf(count: number): number {
	return (count * (count - 1)) / 2;
}

function keyOf(field: Extract<SelectionNode, { kind: Kind.FIELD }>): string {
	return (field.alias ?? field.name).value;
}

function atMost(count: number, limit: number, what: string): void {
	if (count <= limit) return;
	throw new Over(
		`Expected a document with at most ${limit} ${what} but got more.`,
	);
}
