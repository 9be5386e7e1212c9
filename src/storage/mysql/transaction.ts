import type { Id } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";
import { edgeName, listName } from "../keys.ts";
import { highestFirst } from "../renumbering.ts";
import type {
	Edge,
	EdgeKey,
	EdgePosition,
	ListKey,
	ListRow,
	Neighbors,
	OutboxKey,
	Transaction,
	TransactionReads,
	TransactionWrites,
} from "../storage.ts";
import {
	checkListIsLocked,
	checkObjectWrites,
	checkRenumbering,
	checkTransaction,
	computeListChanges,
	edgesToPurge,
	shardOfLocked,
} from "../transactionRules.ts";
import { recountList } from "./countLists.ts";
import type { CommitDecision, MysqlTransaction } from "./driver/host.ts";
import { lockLists, writeLists } from "./lists.ts";
import {
	deleteEdges,
	type EdgeToWrite,
	readNeighbors,
	selectListsAndEdges,
	writeEdges,
} from "./mappings.ts";
import { insertObjects, lockObjects, updateObjects } from "./objects.ts";
import { insertOutboxEntries } from "./outbox.ts";
import { renumberList } from "./renumberings.ts";
import type { KeyOnShard, Shard } from "./shards.ts";
import { StatementBatch } from "./statementBatch.ts";

/** The result of one of the transactions that ran as a group. */
export type TransactionOutcome =
	| {
			readonly result: unknown;
			readonly outboxKey: OutboxKey | null;
			readonly besideKey?: OutboxKey | null;
	  }
	| { readonly thrown: unknown };

/** Time for `beforeCommit` and COMMIT together, in milliseconds: less than the life of a tombstone (docs/consistency.md, 3. Caches). */
const COMMIT_MS = 1_000;
/** Where the changes and `beforeCommit` took longer, it is called again after them, so that COMMIT has its time. */
const HOOKS_AGAIN_MS = COMMIT_MS / 4;

/**
 * Whether a transaction can wait in a group for the row that they share: it does
 * nothing before `decide` that would have to be undone if `decide` throws, and all
 * its reads can be updated with the writes of those before it. One list, or else
 * one object, is what the group shares.
 */
export function isGroupable({
	lists = [],
	objects = [],
	creates = [],
	neighbors = [],
}: Transaction<unknown>): boolean {
	return (
		creates.length === 0 &&
		neighbors.length === 0 &&
		(lists.length === 1 || (lists.length === 0 && objects.length === 1))
	);
}

/** A transaction and the shard that it changes, or both. */
export interface ShardTransaction {
	readonly shard: Shard;
	/** The transaction's `beside`, on the same host. */
	readonly beside?: Shard;
	readonly transaction: Transaction<unknown>;
}

/** Null for one that did not run, because it cannot run with those before it. */
export type GroupOutcomes = readonly (TransactionOutcome | null)[];

/**
 * Runs transactions of shards of one host as one database transaction. Their
 * locks are taken together, in one order in all transactions: lists first, shard
 * by shard. Each then decides in turn, on what was read and what those before it
 * decided, and the writes are sent once. One that throws changes nothing and does
 * not disturb the others. One that renumbers or recounts runs alone, and after it
 * nothing of its shard. Null: one that creates objects threw, and each has to run
 * by itself.
 */
export async function runTransactionGroup(
	statements: MysqlTransaction,
	model: Model,
	transactions: readonly ShardTransaction[],
): Promise<CommitDecision<GroupOutcomes | null>> {
	const work = new Work(statements, model, transactions);
	await work.readUnderLock();
	const results: (Decided | Thrown | null)[] = [];
	/** Of these nothing more is decided. */
	const ended = new Set<Shard>();
	for (const one of transactions) {
		const { shard, beside = shard } = one;
		if (ended.has(shard) || ended.has(beside)) {
			results.push(null);
			continue;
		}
		const decided = await work.decide(one, transactions.length > 1);
		if (decided === "alone") ended.add(shard).add(beside);
		results.push(decided === "alone" ? null : decided);
		if (decided !== "alone" && "thrown" in decided) {
			const isLeft = (one.transaction.creates ?? []).length > 0;
			if (isLeft && transactions.length > 1) {
				return { value: null, commit: false };
			}
		}
	}
	if (!results.some((result) => result !== null && "writes" in result)) {
		return { value: results as (Thrown | null)[], commit: false };
	}
	return work.finish(results);
}

interface Decided extends ShardTransaction {
	readonly writes: TransactionWrites<unknown>;
}

interface Thrown {
	readonly thrown: unknown;
}

/** What is locked and read on one shard. */
interface ShardKeys {
	readonly lists: ListKey[];
	readonly objects: Id[];
	readonly edges: EdgeKey[];
}

/** What changes on one shard. */
interface ShardChanges {
	readonly objects: Map<Id, JsonObject>;
	readonly lists: Map<string, ListRow & { mapping: Mapping }>;
	readonly edges: Map<string, Edge & { mapping: Mapping }>;
}

/** One database transaction: what was read under its locks, as changed so far, and what is to be written. */
class Work {
	readonly #statements: MysqlTransaction;
	readonly #model: Model;
	readonly #transactions: readonly ShardTransaction[];
	/** In the order of their numbers. */
	readonly #keys: ReadonlyMap<Shard, ShardKeys>;
	readonly #hooks: readonly (() => Promise<void>)[];
	#hooksBegan = 0;
	#now = 0;
	readonly #created = new Map<Transaction<unknown>, Id[]>();
	readonly #lists = new Map<string, ListRow>();
	readonly #objects = new Map<Id, JsonObject>();
	readonly #edges = new Map<string, Edge>();
	#neighbors: readonly Neighbors[] = [];
	/** Edges that have a row before the transaction. */
	#existing: ReadonlySet<string> = new Set();
	readonly #changes = new Map<Shard, ShardChanges>();
	/** Of a transaction that runs alone. */
	readonly #purged: (Edge & { readonly mapping: Mapping })[] = [];

	constructor(
		statements: MysqlTransaction,
		model: Model,
		transactions: readonly ShardTransaction[],
	) {
		for (const { transaction } of transactions) checkTransaction(transaction);
		this.#statements = statements;
		this.#model = model;
		this.#transactions = transactions;
		this.#keys = keysByShard(transactions);
		this.#hooks = transactions.flatMap(
			({ transaction: { beforeCommit } }) => beforeCommit ?? [],
		);
	}

	/** Locks and reads, in one round trip: lists first, then objects, in one order in all transactions. The clock is read under the locks. */
	async readUnderLock(): Promise<void> {
		const batch = this.#batch();
		for (const [shard, { lists }] of this.#keys) {
			batch.to(shard);
			lockLists(batch, shard, lists);
		}
		for (const [shard, { objects }] of this.#keys) {
			batch.to(shard);
			lockObjects(batch, this.#model, shard, objects, this.#objects);
		}
		const lists = new Map<string, KeyOnShard<ListKey>>();
		for (const [shard, keys] of this.#keys) {
			for (const key of keys.lists) {
				lists.set(listName(key.mapping, key.from), { key, shard });
			}
		}
		this.#read(batch, [...lists.values()]);
		const now = Date.now() * 1_000;
		for (const { shard, transaction } of this.#transactions) {
			const { creates = [] } = transaction;
			if (creates.length === 0) continue;
			const created: Id[] = [];
			this.#created.set(transaction, created);
			batch.to(shard);
			insertObjects(batch, this.#model, shard, creates, now, created);
		}
		const sent = batch.send();
		// They do not reject: a failure of the batch waits for them.
		const hooks = this.#hooks.length === 0 ? undefined : this.#runHooks();
		try {
			await sent;
		} finally {
			await hooks;
		}
		this.#now = Date.now() * 1_000;
		await this.#readNeighbors();
	}

	/** `"alone"`: it cannot run with others. */
	async decide(
		one: ShardTransaction,
		isGrouped: boolean,
	): Promise<Decided | Thrown | "alone"> {
		const { transaction } = one;
		for (let renumberings = 0; ; renumberings += 1) {
			const reads = this.#readsOf(transaction);
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
					return { ...one, writes };
				}
				checkRenumbering(transaction, renumberings, renumber);
			} catch (thrown) {
				return { thrown };
			}
			if (isGrouped) return "alone";
			await this.#renumber(one, writes.renumber ?? []);
		}
	}

	/** What was decided, for the host to send together with COMMIT. */
	async finish(
		results: readonly (Decided | Thrown | null)[],
	): Promise<CommitDecision<GroupOutcomes>> {
		const decided = results.filter(
			(result) => result !== null && "writes" in result,
		);
		const batch = this.#batch();
		const keys = new Map<Decided, Map<Shard, OutboxKey>>();
		for (const shard of this.#keys.keys()) {
			const some = decided.filter(
				(one) => one.shard === shard || one.beside === shard,
			);
			if (some.length === 0) continue;
			batch.to(shard);
			await this.#write(batch, shard, some, (one, local) => {
				const own = keys.get(one) ?? new Map<Shard, OutboxKey>();
				keys.set(one, own.set(shard, { shard: shard.number, local }));
			});
		}
		if (performance.now() - this.#hooksBegan > HOOKS_AGAIN_MS) {
			await this.#runHooks();
		}
		const { statements: last, use } = batch.take();
		return {
			last,
			valueOf: (answers) => {
				use(answers);
				return results.map((result): TransactionOutcome | null => {
					if (result === null || !("writes" in result)) return result;
					const { shard, beside, writes } = result;
					const own = keys.get(result);
					return {
						result: writes.result,
						outboxKey: own?.get(shard) ?? null,
						...(beside && { besideKey: own?.get(beside) ?? null }),
					};
				});
			},
			commit: true,
			wrote: () => this.#written(),
			...(this.#hooks.length > 0 && { commitBy: this.#hooksBegan + COMMIT_MS }),
		};
	}

	/** Names of the objects and edges. */
	#written(): readonly string[] {
		const names: string[] = [];
		for (const created of this.#created.values()) names.push(...created);
		for (const { objects, edges } of this.#changes.values()) {
			names.push(...objects.keys(), ...edges.keys());
		}
		return names;
	}

	async #runHooks(): Promise<void> {
		if (this.#hooks.length === 0) return;
		this.#hooksBegan = performance.now();
		await Promise.all(this.#hooks.map((beforeCommit) => beforeCommit()));
	}

	/** Adds the changes of one shard to the batch, which is sent with COMMIT. Its results bring the local ids of the outbox entries. */
	async #write(
		batch: StatementBatch,
		shard: Shard,
		decided: readonly Decided[],
		inserted: (one: Decided, local: number) => void,
	): Promise<void> {
		const { objects, lists, edges } = this.#changesOf(shard);
		updateObjects(batch, this.#model, shard, objects, this.#now);
		writeEdges(
			batch,
			shard,
			[...edges].map(
				([name, edge]): EdgeToWrite => ({
					...edge,
					exists: this.#existing.has(name),
				}),
			),
		);
		deleteEdges(batch, shard, this.#purged);
		writeLists(batch, shard, [...lists.values()]);
		const recounts = decided.flatMap((one) =>
			(one.writes.recount ?? []).filter((list) => shardOf(one, list) === shard),
		);
		if (recounts.length > 0) await batch.send();
		for (const list of recounts) {
			const row = this.#lists.get(listName(list.mapping, list.from));
			await recountList(this.#statements, shard, list, row as ListRow);
		}
		const withEntry: Decided[] = [];
		const entries: JsonObject[] = [];
		for (const one of decided) {
			const { outboxEntry, besideEntry } = one.writes;
			const entry = one.shard === shard ? outboxEntry : besideEntry;
			if (entry === undefined) continue;
			withEntry.push(one);
			entries.push(entry);
		}
		insertOutboxEntries(batch, shard, entries, this.#now, (ids) => {
			for (const [at, one] of withEntry.entries()) {
				inserted(one, ids[at] as number);
			}
		});
	}

	/** Statements of one shard need no number: it is that of the transaction. */
	#batch(): StatementBatch {
		return new StatementBatch(this.#statements, this.#keys.size > 1);
	}

	/** Lists that are locked, and all edges. */
	#read(
		batch: StatementBatch,
		lists: readonly KeyOnShard<ListKey>[] = [],
	): void {
		const distinct = new Map<string, KeyOnShard<EdgeKey>>();
		for (const [shard, { edges }] of this.#keys) {
			for (const key of edges) {
				distinct.set(edgeName(key.mapping, key), { key, shard });
			}
		}
		this.#edges.clear();
		selectListsAndEdges(batch, lists, [...distinct.values()], {
			lists: this.#lists,
			edges: this.#edges,
		});
	}

	/** They depend on the edges that were read. Who looks for neighbors runs alone. */
	async #readNeighbors(): Promise<void> {
		this.#existing = new Set(this.#edges.keys());
		const [only] = this.#transactions;
		const keys = only?.transaction.neighbors ?? [];
		if (only === undefined || keys.length === 0) return;
		this.#neighbors = await readNeighbors(
			this.#statements,
			only.shard,
			keys,
			this.#edges,
		);
	}

	#readsOf(transaction: Transaction<unknown>): TransactionReads {
		const { lists = [], objects = [], edges = [] } = transaction;
		return {
			lists: lists.map(
				({ mapping, from }) =>
					this.#lists.get(listName(mapping, from)) as ListRow,
			),
			objects: objects.map((id) => this.#objects.get(id) ?? null),
			edges: edges.map(
				(key) => this.#edges.get(edgeName(key.mapping, key)) ?? null,
			),
			neighbors: this.#neighbors,
			created: this.#created.get(transaction) ?? [],
			now: this.#now,
		};
	}

	#changesOf(shard: Shard): ShardChanges {
		let changes = this.#changes.get(shard);
		if (changes === undefined) {
			changes = { objects: new Map(), lists: new Map(), edges: new Map() };
			this.#changes.set(shard, changes);
		}
		return changes;
	}

	#apply(
		one: ShardTransaction,
		writes: TransactionWrites<unknown>,
		changes: ReturnType<typeof computeListChanges>,
	): void {
		for (const { id, data } of writes.objects ?? []) {
			this.#objects.set(id, data);
			this.#changesOf(one.shard).objects.set(id, data);
		}
		for (const {
			mapping,
			from,
			to,
			sequence,
			state,
			version,
		} of changes.edges) {
			const name = edgeName(mapping, { from, to });
			const edge = { from, to, sequence, state, version };
			this.#edges.set(name, edge);
			const { edges } = this.#changesOf(shardOf(one, { mapping, from }));
			edges.set(name, { ...edge, mapping });
		}
		for (const { mapping, ...row } of changes.lists) {
			const name = listName(mapping, row.from);
			this.#lists.set(name, row);
			const { lists } = this.#changesOf(
				shardOf(one, { mapping, from: row.from }),
			);
			lists.set(name, { ...row, mapping });
		}
	}

	async #renumber(
		one: ShardTransaction,
		edges: readonly EdgePosition[],
	): Promise<void> {
		for (const edge of highestFirst(edges)) {
			const name = listName(edge.mapping, edge.from);
			const row = this.#lists.get(name) as ListRow;
			this.#lists.set(
				name,
				await renumberList(this.#statements, shardOf(one, edge), edge, row),
			);
		}
		const batch = this.#batch();
		this.#read(batch);
		await batch.send();
		await this.#readNeighbors();
	}
}

function keysByShard(
	transactions: readonly ShardTransaction[],
): ReadonlyMap<Shard, ShardKeys> {
	const keys = new Map<Shard, ShardKeys>();
	const keysOf = (shard: Shard) => {
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
		for (const edge of edges) keysOf(shardOf(one, edge)).edges.push(edge);
		for (const edge of neighbors) keysOf(shardOf(one, edge)).edges.push(edge);
	}
	return keys.size === 1
		? keys
		: new Map([...keys].sort(([a], [b]) => a.number - b.number));
}

/** The shard that has a list of the transaction. */
function shardOf(
	{ shard, beside, transaction }: ShardTransaction,
	list: ListKey,
): Shard {
	if (beside === undefined) return shard;
	return shardOfLocked(transaction, list) === beside.number ? beside : shard;
}
