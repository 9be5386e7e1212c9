import type { Id } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";
import type { Place } from "../driver.ts";
import { edgeName, listName } from "../keys.ts";
import { isDescending } from "../order.ts";
import type {
	Edge,
	EdgeKey,
	ListKey,
	ListRow,
	Neighbors,
	Transaction,
	TransactionReads,
} from "../rows.ts";
import { shardOfLocked } from "../transactionRules.ts";
import { Batch, type Procedure, type Question, question } from "./batch.ts";
import { chunks, type Dialect } from "./dialect.ts";
import { edgesBetween, neighborOf } from "./edges.ts";
import { lockedLists, lockLists, touchShard } from "./lists.ts";
import { insertObjects, lockObjects } from "./objects.ts";

/** A transaction and the shard that it changes, or both. */
export interface ShardTransaction<P extends Place> {
	readonly shard: P;
	/** The transaction's `beside`, on the same host. */
	readonly beside?: P;
	readonly transaction: Transaction<unknown>;
}

/** What a transaction is written for. */
export interface TransactionContext<P extends Place> {
	readonly dialect: Dialect<P>;
	readonly model: Model;
	/** Lists that have a row, most likely. Absent where rows need no locks. */
	readonly seen?: Set<string>;
}

/** What is locked and read on one shard. Lists and edges by name. */
interface ShardKeys {
	readonly lists: Map<string, ListKey>;
	readonly objects: Id[];
	readonly edges: Map<string, EdgeKey>;
}

/** Lists or edges of one statement. */
const MAX_KEYS = 500;
/** Lists that are remembered, some megabytes. */
const MOST_SEEN = 30_000;

/** What a database transaction locked and read, with what it changed since. */
export class LockedRows<P extends Place> {
	readonly lists = new Map<string, ListRow>();
	readonly objects = new Map<Id, JsonObject>();
	readonly edges = new Map<string, Edge>();
	/** In the order of their numbers. */
	readonly shards: readonly P[];
	readonly created = new Map<Transaction<unknown>, Id[]>();
	/** The clock, read under the locks. */
	now = 0;
	readonly #dialect: Dialect<P>;
	readonly #model: Model;
	readonly #transactions: readonly ShardTransaction<P>[];
	readonly #keys: ReadonlyMap<P, ShardKeys>;
	#neighbors: readonly Neighbors[] = [];
	readonly #seen: TransactionContext<P>["seen"];
	/** Edges that have a row before the transaction. */
	#existing: ReadonlySet<string> = new Set();

	constructor(
		{ dialect, model, seen }: TransactionContext<P>,
		transactions: readonly ShardTransaction<P>[],
	) {
		this.#seen = seen;
		this.#dialect = dialect;
		this.#model = model;
		this.#transactions = transactions;
		this.#keys = keysByShard(transactions);
		this.shards = [...this.#keys.keys()];
	}

	/** Whether an edge had a row when it was read. */
	hasRow(edge: string): boolean {
		return this.#existing.has(edge);
	}

	/** Locks and reads: lists first, then objects, in one order in all transactions, but lists that may have no row before the others. The clock is read under the locks. */
	*lock(): Procedure<P, void> {
		const dialect = this.#dialect;
		const batch = new Batch<P>();
		const seen = this.#seen;
		if (seen) this.#insertLists(batch, (name) => !seen.has(name));
		this.#readLists(batch);
		for (const [shard, { objects, lists }] of this.#keys) {
			lockObjects(dialect, this.#model, batch, shard, objects, this.objects);
			const changesNothing =
				lists.size + objects.length === 0 && !this.#creates(shard);
			if (changesNothing) touchShard(dialect, batch, shard);
		}
		this.#readEdges(batch);
		const now = Date.now() * 1_000;
		for (const { shard, transaction } of this.#transactions) {
			const { creates = [] } = transaction;
			if (creates.length === 0) continue;
			const created: Id[] = [];
			this.created.set(transaction, created);
			insertObjects(dialect, this.#model, batch, shard, creates, now, created);
		}
		yield batch;
		if (seen) {
			const again = new Batch<P>();
			if (this.#insertLists(again, (name) => !this.lists.has(name))) {
				this.#readLists(again);
				this.#readEdges(again);
				yield again;
			}
		}
		for (const { lists } of this.#keys.values()) {
			for (const [name, { from }] of lists) {
				const none = { from, count: 0, lastSequence: 0, epoch: 0 };
				if (seen && seen.size > MOST_SEEN) seen.clear();
				if (this.lists.has(name)) seen?.add(name);
				else this.lists.set(name, none);
			}
		}
		this.now = Date.now() * 1_000;
		yield* this.#readNeighbors();
	}

	/** Whether there are any. */
	#insertLists(batch: Batch<P>, isWanted: (name: string) => boolean): boolean {
		for (const [shard, { lists }] of this.#keys) {
			const some = [...lists].filter(([name]) => isWanted(name));
			const keys = some.map(([, list]) => list);
			batch.writeAll(shard, lockLists(this.#dialect, shard, keys));
		}
		return batch.steps.length > 0;
	}

	#creates(shard: P): boolean {
		return this.#transactions.some(
			(one) => one.shard === shard && one.transaction.creates?.length,
		);
	}

	/** Reads edges and neighbors again, after lists were renumbered. */
	*readAgain(): Procedure<P, void> {
		const batch = new Batch<P>();
		this.#readEdges(batch);
		yield batch;
		yield* this.#readNeighbors();
	}

	readsOf(transaction: Transaction<unknown>): TransactionReads {
		const { lists = [], objects = [], edges = [] } = transaction;
		return {
			lists: lists.map(
				({ mapping, from }) =>
					this.lists.get(listName(mapping, from)) as ListRow,
			),
			objects: objects.map((id) => this.objects.get(id) ?? null),
			edges: edges.map(
				(key) => this.edges.get(edgeName(key.mapping, key)) ?? null,
			),
			neighbors: this.#neighbors,
			created: this.created.get(transaction) ?? [],
			now: this.now,
		};
	}

	/** In one statement for all shards, in their order: so the rows are locked. */
	#readLists(batch: Batch<P>): void {
		const questions = [...this.#keys].flatMap(([shard, { lists }]) =>
			chunks([...lists.values()], MAX_KEYS).map((some) =>
				question(lockedLists(this.#dialect, shard, some), (rows) => {
					for (const { name, ...row } of rows) this.lists.set(name, row);
				}),
			),
		);
		batch.ask(this.shards[0] as P, ...questions);
	}

	/** By a statement after that of the lists, so that it sees what was committed before these were locked. */
	#readEdges(batch: Batch<P>): void {
		this.edges.clear();
		const questions: Question[] = [];
		for (const [shard, { edges }] of this.#keys) {
			const mappings = Map.groupBy(edges.values(), ({ mapping }) => mapping);
			for (const [mapping, keys] of mappings) {
				for (const some of chunks(keys, MAX_KEYS)) {
					const select = edgesBetween(this.#dialect, shard, mapping, some);
					const keep = (edge: Edge | null) =>
						edge && this.edges.set(edgeName(mapping, edge), edge);
					questions.push(question(select, (found) => found.forEach(keep)));
				}
			}
		}
		batch.ask(this.shards[0] as P, ...questions);
	}

	/** They depend on the edges that were read. A transaction with neighbors runs alone. */
	*#readNeighbors(): Procedure<P, void> {
		this.#existing = new Set(this.edges.keys());
		const [only] = this.#transactions;
		const keys = only?.transaction.neighbors ?? [];
		if (only === undefined || keys.length === 0) return;
		const { shard } = only;
		const questions: Question[] = [];
		const found = keys.map((key) => {
			const edge = this.edges.get(edgeName(key.mapping, key)) ?? null;
			const beside: { above: Edge | null; below: Edge | null } = {
				above: null,
				below: null,
			};
			for (const side of edge === null ? [] : (["above", "below"] as const)) {
				questions.push(
					question(
						neighborOf(this.#dialect, shard, key.mapping, edge as Edge, side),
						([one = null]) => {
							beside[side] = one;
						},
					),
				);
			}
			return { key, edge, beside };
		});
		if (questions.length > 0) {
			const batch = new Batch<P>();
			batch.ask(shard, ...questions);
			yield batch;
		}
		this.#neighbors = found.map(({ key, edge, beside }) => {
			const { above, below } = beside;
			return isDescending(key.mapping)
				? { edge, previous: above, next: below }
				: { edge, previous: below, next: above };
		});
	}
}

function keysByShard<P extends Place>(
	transactions: readonly ShardTransaction<P>[],
): ReadonlyMap<P, ShardKeys> {
	const keys = new Map<P, ShardKeys>();
	const keysOf = (shard: P) => {
		let own = keys.get(shard);
		if (own === undefined) {
			own = { lists: new Map(), objects: [], edges: new Map() };
			keys.set(shard, own);
		}
		return own;
	};
	for (const one of transactions) {
		const { lists = [], objects = [], edges = [] } = one.transaction;
		const { neighbors = [] } = one.transaction;
		for (const list of lists) {
			const name = listName(list.mapping, list.from);
			keysOf(shardOf(one, list)).lists.set(name, list);
		}
		// Also of a transaction that only creates objects.
		keysOf(one.shard).objects.push(...objects);
		for (const edge of [...edges, ...neighbors]) {
			keysOf(shardOf(one, edge)).edges.set(edgeName(edge.mapping, edge), edge);
		}
	}
	return keys.size === 1
		? keys
		: new Map([...keys].sort(([a], [b]) => a.number - b.number));
}

/** The shard that has a list of the transaction. */
export function shardOf<P extends Place>(
	{ shard, beside, transaction }: ShardTransaction<P>,
	list: ListKey,
): P {
	if (beside === undefined) return shard;
	return shardOfLocked(transaction, list) === beside.number ? beside : shard;
}
