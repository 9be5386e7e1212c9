import type { Id } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";
import type { SeenTexts } from "../../util/seenTexts.ts";
import type { ShardLocation } from "../driver.ts";
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
import {
	type BatchedSelect,
	batchedSelect,
	type Procedure,
	StatementBatch,
} from "./batch.ts";
import { chunks, type Dialect } from "./dialect.ts";
import { edgesBetween, neighborOf } from "./edges.ts";
import {
	inKeyOrder,
	listsOf,
	lockedList,
	lockLists,
	touchShard,
} from "./lists.ts";
import { insertObjects, lockObjects } from "./objects.ts";

/** A transaction and the shard that it changes, or both. */
export interface ShardTransaction<P extends ShardLocation> {
	readonly shard: P;
	/** The transaction's `beside`, on the same host. */
	readonly beside?: P;
	readonly transaction: Transaction<unknown>;
}

/** What a transaction is written for. */
export interface TransactionContext<P extends ShardLocation> {
	readonly dialect: Dialect<P>;
	readonly model: Model;
	/**
	 * Names of lists that had a row when this process last locked them: such a row is
	 * locked and read without an INSERT. It may be wrong, after a loss or by two names
	 * of one hash: then a transaction takes one round trip more. Absent if lists need
	 * no lock of their own.
	 */
	readonly known?: SeenTexts;
}

/** What is locked and read on one shard. */
interface ShardKeys {
	readonly lists: ListKey[];
	readonly objects: Id[];
	readonly edges: EdgeKey[];
}

/** Lists or edges of one statement. */
const MAX_KEYS = 500;
/** More of one shard are locked faster by one INSERT. */
const FEW_LISTS = 4;
const NO_SHARDS: ReadonlySet<never> = new Set<never>();

/** What a database transaction locked and read, with what it changed since. */
export class LockedRows<P extends ShardLocation> {
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
	readonly #known: SeenTexts | undefined;
	readonly #transactions: readonly ShardTransaction<P>[];
	readonly #keys: ReadonlyMap<P, ShardKeys>;
	#neighbors: readonly Neighbors[] = [];
	/** Edges that have a row before the transaction. */
	#existing: ReadonlySet<string> = new Set();

	constructor(
		{ dialect, model, known }: TransactionContext<P>,
		transactions: readonly ShardTransaction<P>[],
	) {
		this.#dialect = dialect;
		this.#model = model;
		this.#known = known;
		this.#transactions = transactions;
		this.#keys = keysByShard(transactions);
		this.shards = [...this.#keys.keys()];
	}

	/** Whether an edge had a row when it was read. */
	hasRow(edge: string): boolean {
		return this.#existing.has(edge);
	}

	/** Locks and reads: lists first, then objects, in one order in all transactions. The clock is read under the locks. */
	*lock(): Procedure<P, void> {
		const dialect = this.#dialect;
		const model = this.#model;
		const batch = new StatementBatch<P>();
		const inserted = this.#lockLists(batch);
		for (const [shard, { objects, lists }] of this.#keys) {
			lockObjects(dialect, model, batch, shard, objects, this.objects);
			const changesNothing =
				lists.length + objects.length === 0 && !this.#creates(shard);
			if (changesNothing) touchShard(dialect, batch, shard);
		}
		this.#read(batch, inserted);
		const now = Date.now() * 1_000;
		for (const { shard, transaction } of this.#transactions) {
			const { creates = [] } = transaction;
			if (creates.length === 0) continue;
			const created: Id[] = [];
			this.created.set(transaction, created);
			insertObjects(dialect, model, batch, shard, creates, now, created);
		}
		yield batch;
		yield* this.#insertMissing();
		this.now = Date.now() * 1_000;
		yield* this.#readNeighbors();
	}

	/** That all lists had rows, as they have after a COMMIT. */
	noteLists(): void {
		for (const name of this.lists.keys()) this.#known?.add(name);
	}

	/**
	 * Shards that follow each other, and few of whose lists are locked, which are
	 * known to have rows, lock and read them by one statement. Returns the others,
	 * whose lists are to be read.
	 */
	#lockLists(batch: StatementBatch<P>): ReadonlySet<P> {
		const dialect = this.#dialect;
		const inserted = new Set<P>();
		let first: P | null = null;
		let questions: BatchedSelect[] = [];
		const ask = () => {
			if (first !== null) batch.ask(first, ...questions);
			first = null;
			questions = [];
		};
		for (const [shard, { lists }] of this.#keys) {
			if (lists.length === 0) continue;
			const keys = inKeyOrder(lists);
			if (this.#areKnown(keys)) {
				first ??= shard;
				for (const key of keys) {
					const name = listName(key.mapping, key.from);
					const select = lockedList(dialect, shard, key);
					questions.push(
						batchedSelect(select, ([row]) => {
							if (row !== undefined) this.lists.set(name, row);
						}),
					);
				}
			} else {
				ask();
				batch.writeAll(shard, lockLists(dialect, shard, keys));
				inserted.add(shard);
			}
		}
		ask();
		return inserted;
	}

	#areKnown(lists: readonly ListKey[]): boolean {
		const known = this.#known;
		return (
			known !== undefined &&
			lists.length <= FEW_LISTS &&
			lists.every(({ mapping, from }) => known.has(listName(mapping, from)))
		);
	}

	/** Inserts rows of lists that were taken to have one and have none: what was read of their edges was not locked. */
	*#insertMissing(): Procedure<P, void> {
		const batch = new StatementBatch<P>();
		const inserted = new Set<P>();
		for (const [shard, { lists }] of this.#keys) {
			const missing = lists.filter(
				({ mapping, from }) => !this.lists.has(listName(mapping, from)),
			);
			if (missing.length === 0) continue;
			const keys = inKeyOrder(missing);
			batch.writeAll(shard, lockLists(this.#dialect, shard, keys));
			inserted.add(shard);
		}
		if (inserted.size === 0) return;
		this.#read(batch, inserted);
		yield batch;
	}

	#creates(shard: P): boolean {
		return this.#transactions.some(
			(one) => one.shard === shard && one.transaction.creates?.length,
		);
	}

	/** Reads edges and neighbors again, after lists were renumbered. */
	*readAgain(): Procedure<P, void> {
		const batch = new StatementBatch<P>();
		this.#read(batch, NO_SHARDS);
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

	/** All edges, and lists of some shards: together, because of each result a client reads its columns first, which takes longer than a row. */
	#read(batch: StatementBatch<P>, withLists: ReadonlySet<P>): void {
		const lists = new Map<string, readonly [P, ListKey]>();
		const edges = new Map<string, readonly [P, EdgeKey]>();
		for (const [shard, keys] of this.#keys) {
			for (const key of withLists.has(shard) ? keys.lists : []) {
				lists.set(listName(key.mapping, key.from), [shard, key]);
			}
			for (const key of keys.edges) {
				edges.set(edgeName(key.mapping, key), [shard, key]);
			}
		}
		this.edges.clear();
		const ofLists = chunks([...lists.values()], MAX_KEYS);
		const ofEdges = chunks([...edges.values()], MAX_KEYS);
		const [[first] = []] = this.#keys;
		for (let at = 0; at < Math.max(ofLists.length, ofEdges.length); at++) {
			batch.ask(
				first as P,
				...byMapping(ofLists[at] ?? [], (shard, mapping, keys) =>
					this.#askForLists(shard, mapping, keys),
				),
				...byMapping(ofEdges[at] ?? [], (shard, mapping, keys) =>
					this.#askForEdges(shard, mapping, keys),
				),
			);
		}
	}

	#askForLists(
		shard: P,
		mapping: Mapping,
		keys: readonly ListKey[],
	): BatchedSelect {
		for (const { from } of keys) {
			const none = { from, count: 0, lastSequence: 0, epoch: 0 };
			this.lists.set(listName(mapping, from), none);
		}
		const froms = keys.map(({ from }) => from);
		return batchedSelect(
			listsOf(this.#dialect, shard, mapping, froms),
			(rows) => {
				for (const row of rows)
					this.lists.set(listName(mapping, row.from), row);
			},
		);
	}

	#askForEdges(
		shard: P,
		mapping: Mapping,
		keys: readonly EdgeKey[],
	): BatchedSelect {
		const select = edgesBetween(this.#dialect, shard, mapping, keys);
		return batchedSelect(select, (found) => {
			for (const edge of found) {
				if (edge !== null) this.edges.set(edgeName(mapping, edge), edge);
			}
		});
	}

	/** They depend on the edges that were read. A transaction with neighbors runs alone. */
	*#readNeighbors(): Procedure<P, void> {
		this.#existing = new Set(this.edges.keys());
		const [only] = this.#transactions;
		const keys = only?.transaction.neighbors ?? [];
		if (only === undefined || keys.length === 0) return;
		const { shard } = only;
		const questions: BatchedSelect[] = [];
		const found = keys.map((key) => {
			const edge = this.edges.get(edgeName(key.mapping, key)) ?? null;
			const beside: { above: Edge | null; below: Edge | null } = {
				above: null,
				below: null,
			};
			for (const side of edge === null ? [] : (["above", "below"] as const)) {
				questions.push(
					batchedSelect(
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
			const batch = new StatementBatch<P>();
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

function byMapping<P extends ShardLocation, Key extends ListKey>(
	keys: readonly (readonly [P, Key])[],
	ask: (shard: P, mapping: Mapping, keys: readonly Key[]) => BatchedSelect,
): readonly BatchedSelect[] {
	const shards = Map.groupBy(keys, ([shard]) => shard);
	return [...shards].flatMap(([shard, own]) => {
		const mappings = Map.groupBy(own, ([, { mapping }]) => mapping);
		return [...mappings].map(([mapping, some]) =>
			ask(
				shard,
				mapping,
				some.map(([, key]) => key),
			),
		);
	});
}

function keysByShard<P extends ShardLocation>(
	transactions: readonly ShardTransaction<P>[],
): ReadonlyMap<P, ShardKeys> {
	const keys = new Map<P, ShardKeys>();
	const keysOf = (shard: P) => {
		let own = keys.get(shard);
		if (own === undefined) {
			own = { lists: [], objects: [], edges: [] };
			keys.set(shard, own);
		}
		return own;
	};
	for (const one of transactions) {
		const { lists = [], objects = [], edges = [] } = one.transaction;
		const { neighbors = [] } = one.transaction;
		for (const list of lists) keysOf(shardOf(one, list)).lists.push(list);
		// Also of a transaction that only creates objects.
		keysOf(one.shard).objects.push(...objects);
		for (const edge of [...edges, ...neighbors]) {
			keysOf(shardOf(one, edge)).edges.push(edge);
		}
	}
	return keys.size === 1
		? keys
		: new Map([...keys].sort(([a], [b]) => a.number - b.number));
}

/** The shard that has a list of the transaction. */
export function shardOf<P extends ShardLocation>(
	{ shard, beside, transaction }: ShardTransaction<P>,
	list: ListKey,
): P {
	if (beside === undefined) return shard;
	return shardOfLocked(transaction, list) === beside.number ? beside : shard;
}
