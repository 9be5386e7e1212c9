/** What can be wrong with a graph, and how it is told. */
const DAMAGE = {
	"not JSON": "objects whose stored text is not JSON",
	pending: "objects that wait for their names, and nothing owes them",
	"reference to nothing": "references that lead to no object",
	"list lacks object": "objects missing from the list of what they refer to",
	"name not held": "living objects whose natural key is not theirs",
	"inverse missing": "edges without their inverse",
	"inverse differs": "edges whose inverse tells something else",
	"inverse without source": "inverse edges without the edge they tell of",
	"stranger on list":
		"edges to objects that do not name that list, or are gone",
	"edge ahead of object":
		"edges of a greater version than the object they follow",
	"edge to nothing": "edges to or from no object",
	"wrong count": "lists whose count is not that of their edges",
	"last sequence too low": "lists whose last sequence is below an edge's",
	"lookup to nothing": "lookups that lead to no object",
	"lookup to the dead": "lookups that lead to an object that lost its name",
	"lookup not held": "lookups of a key that their object does not hold",
} as const satisfies Record<string, string>;

export type DamageKind = keyof typeof DAMAGE;

/** One thing that is wrong. */
export interface Damage {
	readonly kind: DamageKind;
	/** What and where, for whoever reads the report. */
	readonly what: string;
	/** Edges, ids and keys whose debts, if there are any, explain it: no damage then, but work under way. */
	readonly about: readonly string[];
	/** Absent where there is nothing left to tell what it should be. */
	readonly mend?: () => Promise<void>;
}

/** All of one kind. */
export interface DamageSummary {
	readonly kind: DamageKind;
	readonly meaning: string;
	readonly count: number;
	/** The first few. */
	readonly examples: readonly string[];
}

const EXAMPLES = 5;

/** What one walk found, counted: how much is wrong has no bound. */
export class DamageReport {
	readonly #byKind = new Map<
		DamageKind,
		{ count: number; readonly examples: string[] }
	>();

	add({ kind, what }: Damage): void {
		let found = this.#byKind.get(kind);
		if (found === undefined) {
			found = { count: 0, examples: [] };
			this.#byKind.set(kind, found);
		}
		found.count++;
		if (found.examples.length < EXAMPLES) found.examples.push(what);
	}

	list(): readonly DamageSummary[] {
		return [...this.#byKind].map(([kind, { count, examples }]) => ({
			kind,
			meaning: DAMAGE[kind],
			count,
			examples,
		}));
	}
}
