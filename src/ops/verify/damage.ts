/** The kinds of damage, and how reports describe them. */
const DAMAGE = {
	"not JSON": "objects whose stored text is not JSON",
	pending: "pending objects without an outbox entry",
	"reference to nothing": "references to missing objects",
	"list lacks object":
		"objects missing from a list of an object that they reference",
	"lookup missing": "active objects without the lookup of their natural key",
	"inverse missing": "edges without their inverse edge",
	"inverse differs": "edges that differ from their inverse edge",
	"inverse without source": "inverse edges without their source edge",
	"object not of list":
		"list edges to objects that are deleted or reference another list's owner",
	"edge ahead of object": "list edges with a greater version than their object",
	"edge to nothing": "edges from or to missing objects",
	"wrong count": "lists whose count differs from their number of edges",
	"last sequence too low": "lists whose last sequence is below that of an edge",
	"lookup to nothing": "lookups of missing objects",
	"lookup to rejected": "lookups of rejected objects",
	"lookup not held": "lookups of a key that their object does not have",
} as const satisfies Record<string, string>;

export type DamageKind = keyof typeof DAMAGE;

export interface Damage {
	readonly kind: DamageKind;
	/** What is damaged and where, for the report. */
	readonly description: string;
	/** Edges, ids and lookup keys. A pending outbox entry for one of them explains the damage: it is work under way. */
	readonly topics: readonly string[];
	/** Absent where nothing stored says what the right value is. */
	readonly repair?: () => Promise<void>;
}

/** All damage of one kind. */
export interface DamageSummary {
	readonly kind: DamageKind;
	readonly meaning: string;
	readonly count: number;
	/** Descriptions of the first few. */
	readonly examples: readonly string[];
}

const EXAMPLES = 5;

/** Counts damage by kind and keeps a few examples, so that memory stays bounded. */
export class DamageReport {
	readonly #byKind = new Map<
		DamageKind,
		{ count: number; readonly examples: string[] }
	>();

	add({ kind, description }: Damage): void {
		let entry = this.#byKind.get(kind);
		if (entry === undefined) {
			entry = { count: 0, examples: [] };
			this.#byKind.set(kind, entry);
		}
		entry.count++;
		if (entry.examples.length < EXAMPLES) entry.examples.push(description);
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
