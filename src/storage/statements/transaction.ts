import type { Id } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";
import type { ShardLocation } from "../driver.ts";
import { edgeName, listName } from "../keys.ts";
import { highestFirst } from "../renumbering.ts";
import type {
	EdgePosition,
	ListKey,
	ListRow,
	OutboxKey,
	TransactionResult,
	TransactionWrites,
} from "../rows.ts";
import {
	checkListIsLocked,
	checkObjectWrites,
	checkRenumbering,
	computeListChanges,
	edgesToPurge,
} from "../transactionRules.ts";
import { type Procedure, StatementBatch } from "./batch.ts";
import { type Dialect, insertsOf } from "./dialect.ts";
import { deleteEdges, type MappedEdge, writeEdges } from "./edges.ts";
import { type MappedRow, type ShardRows, setLists } from "./lists.ts";
import {
	LockedRows,
	type ShardTransaction,
	shardOf,
	type TransactionContext,
} from "./lockedRows.ts";
import { updateObjects } from "./objects.ts";
import { recountList, renumberList } from "./renumberings.ts";

/** The result of one of the transactions that ran as a group. */
export type TransactionOutcome =
	| {
			readonly result: unknown;
			readonly lists: TransactionResult<unknown>["lists"];
			readonly outboxKey: OutboxKey | null;
			readonly besideKey?: OutboxKey | null;
	  }
	| Thrown;

interface Thrown {
	readonly thrown: unknown;
}

/** Null for one that did not run, because it cannot run with those before it. */
export type GroupOutcomes = readonly (TransactionOutcome | null)[];

/** How the database transaction of a group ends. */
type GroupDecision<P extends ShardLocation> =
	/** It is rolled back. Null: one that creates objects threw, and each has to run by itself. */
	| { readonly rolledBack: GroupOutcomes | null }
	| {
			/** What is written right before COMMIT. */
			readonly last: StatementBatch<P>;
			/** Known after `last`. */
			readonly outcomes: () => GroupOutcomes;
			/** Names of the objects and edges that are written. */
			readonly wrote: () => readonly string[];
	  };

/**
 * Runs transactions of shards of one host as one database transaction. Their
 * locks are taken together, in one order in all transactions: lists first, shard
 * by shard. Each then decides in turn, on what was read and what those before it
 * decided, and the writes are sent once. One that throws changes nothing and does
 * not disturb the others. One that renumbers or recounts runs alone, and after it
 * nothing of its shard. The first batch locks.
 */
export function* runTransactions<P extends ShardLocation>(
	context: TransactionContext<P>,
	transactions: readonly ShardTransaction<P>[],
): Procedure<P, GroupDecision<P>> {
	const work = new Work(context, transactions);
	yield* work.lock();
	const results: (Decided<P> | Thrown | null)[] = [];
	/** Nothing more is decided of these shards. */
	const ended = new Set<P>();
	for (const one of transactions) {
		const { shard, beside = shard } = one;
		if (ended.has(shard) || ended.has(beside)) {
			results.push(null);
			continue;
		}
		const decided = yield* work.decide(one, transactions.length > 1);
		if (decided === "alone") ended.add(shard).add(beside);
		results.push(decided === "alone" ? null : decided);
		if (decided !== "alone" && "thrown" in decided) {
			const isLeft = (one.transaction.creates ?? []).length > 0;
			if (isLeft && transactions.length > 1) return { rolledBack: null };
		}
	}
	if (!results.some((result) => result !== null && "writes" in result)) {
		return { rolledBack: results as (Thrown | null)[] };
	}
	return yield* work.finish(results);
}

interface Decided<P extends ShardLocation> extends ShardTransaction<P> {
	readonly writes: TransactionWrites<unknown>;
	/** Those whose edges change. */
	readonly lists: readonly ListKey[];
}

interface EntryToWrite<P extends ShardLocation> {
	readonly one: Decided<P>;
	readonly shard: P;
	readonly entry: JsonObject;
}

/** What changes on one shard. */
interface ShardChanges {
	readonly objects: Map<Id, JsonObject>;
	readonly lists: Map<string, MappedRow>;
	readonly edges: Map<string, MappedEdge>;
}

/** One database transaction: what was read under its locks, as changed so far, and what is to be written. */
class Work<P extends ShardLocation> {
	readonly #dialect: Dialect<P>;
	readonly #model: Model;
	readonly #rows: LockedRows<P>;
	readonly #changes = new Map<P, ShardChanges>();
	/** Edges that a transaction deletes, which runs alone. */
	readonly #purged: MappedEdge[] = [];

	constructor(
		context: TransactionContext<P>,
		transactions: readonly ShardTransaction<P>[],
	) {
		this.#dialect = context.dialect;
		this.#model = context.model;
		this.#rows = new LockedRows(context, transactions);
	}

	lock(): Procedure<P, void> {
		return this.#rows.lock();
	}

	/** `"alone"`: it cannot run with others. */
	*decide(
		one: ShardTransaction<P>,
		isGrouped: boolean,
	): Procedure<P, Decided<P> | Thrown | "alone"> {
		const { transaction } = one;
		for (let renumberings = 0; ; renumberings += 1) {
			const reads = this.#rows.readsOf(transaction);
			let writes: TransactionWrites<unknown>;
			try {
				writes = transaction.decide(reads);
				const { renumber, recount, purge } = writes;
				if (renumber === undefined) {
					checkObjectWrites(transaction, reads, writes);
					for (const list of recount ?? [])
						checkListIsLocked(transaction, list);
					const changes = computeListChanges(transaction, reads, writes);
					const purged = edgesToPurge(transaction, reads, writes);
					const isAlone = recount !== undefined || purge !== undefined;
					if (isAlone && isGrouped) return "alone";
					this.#purged.push(...purged);
					this.#apply(one, writes, changes);
					const lists = recount === undefined ? changes.lists : [];
					return { ...one, writes, lists };
				}
				checkRenumbering(transaction, renumberings, renumber);
			} catch (thrown) {
				return { thrown };
			}
			if (isGrouped) return "alone";
			yield* this.#renumber(one, writes.renumber ?? []);
		}
	}

	*finish(
		results: readonly (Decided<P> | Thrown | null)[],
	): Procedure<P, GroupDecision<P>> {
		const decided = results.filter(
			(result) => result !== null && "writes" in result,
		);
		let last = new StatementBatch<P>();
		let lists: ShardRows<P>[] = [];
		const entries: EntryToWrite<P>[] = [];
		for (const shard of this.#rows.shards) {
			const some = decided.filter(
				(one) => one.shard === shard || one.beside === shard,
			);
			if (some.length === 0) continue;
			this.#writeChanges(last, shard);
			lists.push([shard, [...this.#changesOf(shard).lists.values()]]);
			const recounts = some.flatMap((one) =>
				(one.writes.recount ?? []).filter(
					(list) => shardOf(one, list) === shard,
				),
			);
			if (recounts.length > 0) {
				setLists(this.#dialect, last, lists);
				yield last;
				last = new StatementBatch();
				lists = [];
			}
			for (const list of recounts) {
				const row = this.#rows.lists.get(listName(list.mapping, list.from));
				yield* recountList(this.#dialect, shard, list, row as ListRow);
			}
			for (const one of some) {
				const { outboxEntry, besideEntry } = one.writes;
				const entry = one.shard === shard ? outboxEntry : besideEntry;
				if (entry !== undefined) entries.push({ one, shard, entry });
			}
		}
		setLists(this.#dialect, last, lists);
		const keys = this.#insertEntries(last, entries);
		return {
			last,
			outcomes: () => {
				this.#rows.noteLists();
				return results.map((result): TransactionOutcome | null => {
					if (result === null || !("writes" in result)) return result;
					const { shard, beside, writes, lists } = result;
					const own = keys.get(result);
					return {
						result: writes.result,
						lists: lists.map(({ mapping, from }) => {
							const row = this.#rows.lists.get(listName(mapping, from));
							return { ...(row as ListRow), mapping };
						}),
						outboxKey: own?.get(shard) ?? null,
						...(beside && { besideKey: own?.get(beside) ?? null }),
					};
				});
			},
			wrote: () => this.#written(),
		};
	}

	#written(): readonly string[] {
		const names: string[] = [];
		for (const created of this.#rows.created.values()) names.push(...created);
		for (const { objects, edges } of this.#changes.values()) {
			names.push(...objects.keys(), ...edges.keys());
		}
		return names;
	}

	#writeChanges(batch: StatementBatch<P>, shard: P): void {
		const dialect = this.#dialect;
		const { objects, edges } = this.#changesOf(shard);
		const edgesToWrite = [...edges].map(([name, edge]) => ({
			...edge,
			exists: this.#rows.hasRow(name),
		}));
		batch.writeAll(shard, [
			...updateObjects(dialect, this.#model, shard, objects, this.#rows.now),
			...writeEdges(dialect, shard, edgesToWrite),
			...deleteEdges(dialect, shard, this.#purged),
		]);
	}

	/** Inserts the entries of all shards at once. The database gives the rows of one INSERT consecutive ids: the keys are known then. */
	#insertEntries(
		batch: StatementBatch<P>,
		entries: readonly EntryToWrite<P>[],
	): ReadonlyMap<Decided<P>, ReadonlyMap<P, OutboxKey>> {
		const keys = new Map<Decided<P>, Map<P, OutboxKey>>();
		const { outbox } = this.#dialect;
		const { isShared } = outbox;
		const { table } = outbox.of(entries.map(({ shard }) => shard.number));
		const { maxRows } = this.#dialect;
		const inserts = insertsOf(this.#dialect, {
			name: "insert outbox",
			into: `${table} (${isShared ? "entry, ts, shard" : "entry, ts"})`,
			rows: entries.map(({ shard: { number }, entry }) => [
				...[JSON.stringify(entry), this.#rows.now],
				...(isShared ? [number] : []),
			]),
		});
		for (const [nth, write] of inserts.entries()) {
			const some = entries.slice(nth * maxRows, (nth + 1) * maxRows);
			const [{ shard: first }] = some as [EntryToWrite<P>];
			batch.write(first, write, ({ firstId }) => {
				for (const [at, { one, shard }] of some.entries()) {
					const own = keys.get(one) ?? new Map<P, OutboxKey>();
					const key = { shard: shard.number, local: firstId + at };
					keys.set(one, own.set(shard, key));
				}
			});
		}
		return keys;
	}

	#changesOf(shard: P): ShardChanges {
		let changes = this.#changes.get(shard);
		if (changes === undefined) {
			changes = { objects: new Map(), lists: new Map(), edges: new Map() };
			this.#changes.set(shard, changes);
		}
		return changes;
	}

	#apply(
		one: ShardTransaction<P>,
		writes: TransactionWrites<unknown>,
		changes: ReturnType<typeof computeListChanges>,
	): void {
		for (const { id, data } of writes.objects ?? []) {
			this.#rows.objects.set(id, data);
			this.#changesOf(one.shard).objects.set(id, data);
		}
		for (const edge of changes.edges) {
			const name = edgeName(edge.mapping, edge);
			this.#rows.edges.set(name, edge);
			this.#changesOf(shardOf(one, edge)).edges.set(name, edge);
		}
		for (const row of changes.lists) {
			const name = listName(row.mapping, row.from);
			this.#rows.lists.set(name, row);
			this.#changesOf(shardOf(one, row)).lists.set(name, row);
		}
	}

	*#renumber(
		one: ShardTransaction<P>,
		edges: readonly EdgePosition[],
	): Procedure<P, void> {
		for (const edge of highestFirst(edges)) {
			const name = listName(edge.mapping, edge.from);
			const row = this.#rows.lists.get(name) as ListRow;
			const shard = shardOf(one, edge);
			const next = yield* renumberList(this.#dialect, shard, edge, row);
			this.#rows.lists.set(name, next);
		}
		yield* this.#rows.readAgain();
	}
}
