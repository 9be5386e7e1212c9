import type { Id } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";
import { edgeName, listName } from "../keys.ts";
import { highestFirst } from "../renumbering.ts";
import type {
	Edge,
	EdgePosition,
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
} from "../transactionRules.ts";
import { recountList } from "./countLists.ts";
import type { CommitDecision, MysqlTransaction } from "./driver/host.ts";
import { lockLists, writeLists } from "./lists.ts";
import {
	type EdgeToWrite,
	readNeighbors,
	selectEdges,
	writeEdges,
} from "./mappings.ts";
import { insertObjects, lockObjects, updateObjects } from "./objects.ts";
import { insertOutboxEntries } from "./outbox.ts";
import { renumberList } from "./renumberings.ts";
import type { Shard } from "./shards.ts";
import { StatementBatch } from "./statementBatch.ts";

/** The result of one of the transactions that ran as a group. */
export type TransactionOutcome =
	| { readonly result: unknown; readonly outboxKey: OutboxKey | null }
	| { readonly thrown: unknown };

/** Time for `beforeCommit` and COMMIT together, in milliseconds: less than the life of a tombstone (docs/consistency.md, 3. Caches). */
const COMMIT_MS = 1_000;
/** Where the changes and `beforeCommit` took longer, it is called again after them, so that COMMIT has its time. */
const HOOKS_AGAIN_MS = COMMIT_MS / 4;

/**
 * Whether a transaction can run in a group: it does nothing before `decide` that
 * would have to be undone if `decide` throws, and all its reads can be updated
 * with the writes of those before it. One list, or else one object, is what the
 * group shares.
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

/**
 * Runs transactions of one shard as one database transaction. Their locks are
 * taken together, lists first. Each then decides in turn, on what was read and
 * what those before it decided, and the writes are sent once. One that throws
 * changes nothing and does not disturb the others. Returns results for as many
 * as it ran: one that renumbers or recounts runs alone.
 */
export async function runTransactionGroup(
	statements: MysqlTransaction,
	model: Model,
	shard: Shard,
	transactions: readonly Transaction<unknown>[],
): Promise<CommitDecision<readonly TransactionOutcome[]>> {
	const work = new Work(statements, model, shard, transactions);
	await work.readUnderLock();
	const results: (Decided | { readonly thrown: unknown })[] = [];
	for (const transaction of transactions) {
		const decided = await work.decide(transaction, results.length > 0);
		if (decided === "alone") break;
		results.push(decided);
		if ("writes" in decided && decided.writes.recount !== undefined) break;
	}
	if (!results.some((result) => "writes" in result)) {
		return { value: results as { thrown: unknown }[], commit: false };
	}
	return work.finish(results);
}

interface Decided {
	readonly transaction: Transaction<unknown>;
	readonly writes: TransactionWrites<unknown>;
}

/** One database transaction: what was read under its locks, as changed so far, and what is to be written. */
class Work {
	readonly #statements: MysqlTransaction;
	readonly #model: Model;
	readonly #shard: Shard;
	readonly #transactions: readonly Transaction<unknown>[];
	#now = 0;
	readonly #hooks: readonly (() => Promise<void>)[];
	#hooksBegan = 0;
	readonly #created: Id[] = [];
	readonly #lists = new Map<string, ListRow>();
	readonly #objects = new Map<Id, JsonObject>();
	readonly #edges = new Map<string, Edge>();
	#neighbors: readonly Neighbors[] = [];
	/** Edges that have a row before the transaction. */
	#existing: ReadonlySet<string> = new Set();
	readonly #changedObjects = new Map<Id, JsonObject>();
	readonly #changedLists = new Map<string, ListRow & { mapping: Mapping }>();
	readonly #changedEdges = new Map<string, Edge & { mapping: Mapping }>();

	constructor(
		statements: MysqlTransaction,
		model: Model,
		shard: Shard,
		transactions: readonly Transaction<unknown>[],
	) {
		for (const transaction of transactions) checkTransaction(transaction);
		this.#statements = statements;
		this.#model = model;
		this.#shard = shard;
		this.#transactions = transactions;
		this.#hooks = transactions.flatMap(
			({ beforeCommit }) => beforeCommit ?? [],
		);
	}

	/** Locks and reads, in one round trip: lists first, then objects, in one order in all transactions. The clock is read under the locks. */
	async readUnderLock(): Promise<void> {
		const batch = new StatementBatch(this.#statements);
		lockLists(
			batch,
			this.#shard,
			this.#transactions.flatMap(({ lists = [] }) => lists),
			this.#lists,
		);
		lockObjects(
			batch,
			this.#model,
			this.#shard,
			this.#transactions.flatMap(({ objects = [] }) => objects),
			this.#objects,
		);
		this.#readEdges(batch);
		insertObjects(
			batch,
			this.#model,
			this.#shard,
			this.#transactions.flatMap(({ creates = [] }) => creates),
			Date.now() * 1_000,
			this.#created,
		);
		// They do not reject: a failure of the batch waits for them.
		const sent = batch.send();
		const hooks = this.#hooks.length === 0 ? undefined : this.#runHooks();
		try {
			await sent;
		} finally {
			await hooks;
		}
		this.#now = Date.now() * 1_000;
		await this.#readNeighbors();
	}

	/** `"alone"`: it cannot run in a group with those before it. */
	async decide(
		transaction: Transaction<unknown>,
		isGrouped: boolean,
	): Promise<Decided | { readonly thrown: unknown } | "alone"> {
		for (let renumberings = 0; ; renumberings += 1) {
			const reads = this.#readsOf(transaction);
			let writes: TransactionWrites<unknown>;
			try {
				writes = transaction.decide(reads);
				const { renumber, recount } = writes;
				if (renumber === undefined) {
					checkObjectWrites(transaction, reads, writes);
					for (const list of recount ?? [])
						checkListIsLocked(transaction, list);
					const changes = computeListChanges(transaction, reads, writes);
					if (recount !== undefined && isGrouped) return "alone";
					this.#apply(writes, changes);
					return { transaction, writes };
				}
				checkRenumbering(transaction, renumberings, renumber);
			} catch (thrown) {
				return { thrown };
			}
			if (isGrouped) return "alone";
			await this.#renumber(writes.renumber ?? []);
		}
	}

	/** What was decided, for the host to send together with COMMIT. */
	async finish(
		results: readonly (Decided | { readonly thrown: unknown })[],
	): Promise<CommitDecision<readonly TransactionOutcome[]>> {
		const decided = results.filter((result) => "writes" in result);
		const batch = new StatementBatch(this.#statements);
		const locals = await this.#write(batch, decided);
		if (performance.now() - this.#hooksBegan > HOOKS_AGAIN_MS) {
			await this.#runHooks();
		}
		const { statements: last, use } = batch.take();
		return {
			last,
			valueOf: (answers) => {
				use(answers);
				const withEntry = decided.filter(
					({ writes }) => writes.outboxEntry !== undefined,
				);
				const localOf = new Map(withEntry.map((one, at) => [one, locals[at]]));
				return results.map((result): TransactionOutcome => {
					if (!("writes" in result)) return result;
					const local = localOf.get(result);
					const outboxKey =
						local === undefined ? null : { shard: this.#shard.number, local };
					return { result: result.writes.result, outboxKey };
				});
			},
			commit: true,
			...(this.#hooks.length > 0 && { commitBy: this.#hooksBegan + COMMIT_MS }),
		};
	}

	async #runHooks(): Promise<void> {
		this.#hooksBegan = performance.now();
		await Promise.all(this.#hooks.map((beforeCommit) => beforeCommit()));
	}

	/**
	 * Adds the changes to the batch, which is sent with COMMIT. Returns where the
	 * local ids of the outbox entries will be, in order.
	 */
	async #write(
		batch: StatementBatch,
		decided: readonly Decided[],
	): Promise<readonly number[]> {
		updateObjects(
			batch,
			this.#model,
			this.#shard,
			this.#changedObjects,
			this.#now,
		);
		writeEdges(
			batch,
			this.#shard,
			[...this.#changedEdges].map(
				([name, edge]): EdgeToWrite => ({
					...edge,
					exists: this.#existing.has(name),
				}),
			),
		);
		writeLists(batch, this.#shard, [...this.#changedLists.values()]);
		const recounts = decided.flatMap(({ writes: { recount = [] } }) => recount);
		if (recounts.length > 0) await batch.send();
		for (const list of recounts) {
			const row = this.#lists.get(listName(list.mapping, list.from));
			await recountList(this.#statements, this.#shard, list, row as ListRow);
		}
		const locals: number[] = [];
		insertOutboxEntries(
			batch,
			this.#shard,
			decided
				.map(({ writes }) => writes.outboxEntry)
				.filter((entry) => entry !== undefined),
			this.#now,
			locals,
		);
		return locals;
	}

	#readEdges(batch: StatementBatch): void {
		const keys = this.#transactions.flatMap(
			({ edges = [], neighbors = [] }) => [...edges, ...neighbors],
		);
		const distinct = new Map(
			keys.map((key) => [edgeName(key.mapping, key), key]),
		);
		this.#edges.clear();
		selectEdges(batch, this.#shard, [...distinct.values()], this.#edges);
	}

	/** They depend on the edges that were read. */
	async #readNeighbors(): Promise<void> {
		this.#existing = new Set(this.#edges.keys());
		this.#neighbors = await readNeighbors(
			this.#statements,
			this.#shard,
			this.#transactions.flatMap(({ neighbors = [] }) => neighbors),
			this.#edges,
		);
	}

	#readsOf({
		lists = [],
		objects = [],
		edges = [],
	}: Transaction<unknown>): TransactionReads {
		return {
			lists: lists.map(
				({ mapping, from }) =>
					this.#lists.get(listName(mapping, from)) as ListRow,
			),
			objects: objects.map((id) => this.#objects.get(id) ?? null),
			edges: edges.map(
				(key) => this.#edges.get(edgeName(key.mapping, key)) ?? null,
			),
			// Who creates or looks neighbors goes alone: these are its own.
			neighbors: this.#neighbors,
			created: this.#created,
			now: this.#now,
		};
	}

	#apply(
		writes: TransactionWrites<unknown>,
		changes: ReturnType<typeof computeListChanges>,
	): void {
		for (const { id, data } of writes.objects ?? []) {
			this.#objects.set(id, data);
			this.#changedObjects.set(id, data);
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
			this.#changedEdges.set(name, { ...edge, mapping });
		}
		for (const { mapping, ...row } of changes.lists) {
			const name = listName(mapping, row.from);
			this.#lists.set(name, row);
			this.#changedLists.set(name, { ...row, mapping });
		}
	}

	async #renumber(edges: readonly EdgePosition[]): Promise<void> {
		for (const edge of highestFirst(edges)) {
			const name = listName(edge.mapping, edge.from);
			const row = this.#lists.get(name) as ListRow;
			this.#lists.set(
				name,
				await renumberList(this.#statements, this.#shard, edge, row),
			);
		}
		const batch = new StatementBatch(this.#statements);
		this.#readEdges(batch);
		await batch.send();
		await this.#readNeighbors();
	}
}
