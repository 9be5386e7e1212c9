/**
 * The kinds of damage: how reports describe them, and where `--repair` does not
 * know the right value, what an operator can do. A kind with an advice may still
 * be repaired in some cases (docs/how-to/import-and-verify.md, "Verify").
 */
const DAMAGE = {
	"not JSON": {
		meaning: "objects whose stored text is not a JSON object",
		advice: "restore the text of the row from a backup",
	},
	"unknown state": {
		meaning: "objects with a state that does not exist",
		advice:
			"edit the JSON of the row: an active object has neither state nor active",
	},
	"damaged bookkeeping": {
		meaning: "objects whose version, tokens or idempotency key is damaged",
	},
	"wrong type": {
		meaning: "stored values that are not of their field's type",
		advice:
			"write the field again by its mutation, or edit the JSON of the row",
	},
	"another type": {
		meaning: "objects in the table of another type",
		advice: "move the row to the table of its type, or delete it",
	},
	"damaged reference": {
		meaning:
			"references that are missing, are not an id, or lead to an object of another type",
		advice:
			"--repair takes the reference from a list that has the object; without one, edit the JSON of the row",
	},
	pending: { meaning: "pending objects without an outbox entry" },
	"reference to nothing": {
		meaning: "references to missing objects",
		advice:
			"restore the missing object from a backup, or delete the objects that refer to it",
	},
	"reference lost": {
		meaning: "list edges to objects whose reference to the list is damaged",
	},
	"list lacks object": {
		meaning: "objects missing from a list that they belong to",
	},
	"lookup missing": {
		meaning: "active objects without the lookup of their natural key",
	},
	"natural key twice": {
		meaning:
			"objects with a natural key whose lookup leads to another object that has it too",
	},
	"inverse missing": { meaning: "edges without their inverse edge" },
	"inverse differs": { meaning: "edges that differ from their inverse edge" },
	"inverse without source": {
		meaning: "inverse edges without their source edge",
	},
	"object not of list": {
		meaning:
			"list edges to objects that are deleted, reference another list's owner or have names that begin otherwise",
	},
	"edge ahead of object": {
		meaning: "list edges with a greater version than their object",
	},
	"edge to nothing": { meaning: "edges from or to missing objects" },
	"edge to another type": {
		meaning: "edges from or to objects of another type",
	},
	"wrong edge number": {
		meaning:
			"edges whose state, version or sequence does not exist, or whose sequence is that of another group",
	},
	"wrong count": {
		meaning: "lists whose count differs from their number of edges",
	},
	"wrong list number": {
		meaning: "lists whose last sequence or epoch does not exist",
	},
	"wrong epoch": {
		meaning: "lists whose epoch is not that of their last renumbering",
	},
	"last sequence too low": {
		meaning: "lists whose last sequence is below that of an edge",
	},
	"lookup to nothing": { meaning: "lookups of missing objects" },
	"lookup to another type": { meaning: "lookups of objects of another type" },
	"lookup to rejected": { meaning: "lookups of rejected objects" },
	"lookup not held": {
		meaning: "lookups of a key that their object does not have",
	},
	"natural key lost": {
		meaning: "lookups of objects whose natural key is damaged",
	},
	"misplaced row": {
		meaning: "rows on a shard where no request reads them",
		advice: "delete the rows, or move them to their shard",
	},
	"unreadable entry": {
		meaning:
			"outbox entries that cannot be delivered because of what they hold",
		advice:
			"--repair restores what they were to deliver as far as it is stored elsewhere; when nothing else is damaged, delete the rows",
	},
	"entry never due": {
		meaning: "outbox entries whose dates keep them from being delivered",
	},
} as const satisfies Record<string, DamageText>;

interface DamageText {
	readonly meaning: string;
	readonly advice?: string;
}

export type DamageKind = keyof typeof DAMAGE;

export interface Damage {
	readonly kind: DamageKind;
	/** What was checked, as `edge likePin 1 2`. Checking it again finds the damage again. */
	readonly subject: string;
	/** Which field or natural key of the subject, if there may be several. */
	readonly part?: string;
	/** What is damaged and where, for the report. */
	readonly description: string;
	/** The table as an operator finds it, such as `db00003.boards`, and the key of the row there. */
	readonly table: string;
	readonly row: string;
	/** The rows that disagree, as they were read. The same text in two readings means that they did not change between them. */
	readonly evidence: string;
	/** Edges, ids and lookup keys. A pending outbox entry for one of them explains the damage: it is work under way. */
	readonly topics: readonly string[];
	/** Absent if nothing stored says what the right value is. */
	readonly repair?: () => Promise<void>;
}

/** All damage of one kind. */
export interface DamageSummary {
	readonly kind: DamageKind;
	readonly meaning: string;
	/** What to do about damage that `--repair` leaves. */
	readonly advice: string | null;
	readonly count: number;
	/** How many of them `--repair` tries to repair. */
	readonly repairable: number;
	/** The first few. */
	readonly examples: readonly DamageExample[];
}

type DamageExample = Pick<Damage, "description" | "table" | "row">;

const EXAMPLES = 5;

/** Counts damage by kind and keeps a few examples, so that memory stays bounded. */
export class DamageReport {
	readonly #byKind = new Map<
		DamageKind,
		{ count: number; repairable: number; readonly examples: DamageExample[] }
	>();

	add({ kind, description, table, row, repair }: Damage): void {
		let entry = this.#byKind.get(kind);
		if (entry === undefined) {
			entry = { count: 0, repairable: 0, examples: [] };
			this.#byKind.set(kind, entry);
		}
		entry.count++;
		if (repair !== undefined) entry.repairable++;
		if (entry.examples.length < EXAMPLES) {
			entry.examples.push({ description, table, row });
		}
	}

	list(): readonly DamageSummary[] {
		return [...this.#byKind].map(([kind, entry]) => {
			const text: DamageText = DAMAGE[kind];
			const { meaning, advice = null } = text;
			return { kind, meaning, advice, ...entry };
		});
	}
}
