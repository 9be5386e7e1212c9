import type { Id } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";
import { edgeName, listName } from "../keys.ts";
import type {
	Edge,
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
	checkRenumberCount,
	checkTransaction,
	computeListChanges,
} from "../transactionRules.ts";
import type { CommitDecision, MysqlTransaction } from "./driver/host.ts";
import { lockLists, recountList, renumberList, writeLists } from "./lists.ts";
import {
	type EdgeToWrite,
	readNeighbors,
	selectEdges,
	writeEdges,
} from "./mappings.ts";
import { insertObjects, lockObjects, updateObjects } from "./objects.ts";
import { insertOutboxEntries } from "./outbox.ts";
import type { Shard } from "./shards.ts";

/** What became of one of the transactions that ran as one. */
export type SettledTransaction =
	| { readonly result: unknown; readonly outboxKey: OutboxKey | null }
	| { readonly thrown: unknown };

/** How long a burial and COMMIT may take together: less than a tombstone lives (PROTOCOLS §2, §3). Milliseconds. */
const COMMIT_MS = 1_000;

/**
 * Whether it can share a database transaction with others: none of what it does
 * before `decide` would have to be taken back if `decide` throws, and all that
 * it sees can be told from what those before it have changed.
 */
export function isGroupable({
	creates = [],
	neighbors: around = [],
}: Transaction<unknown>): boolean {
	return creates.length === 0 && around.length === 0;
}

/**
 * Transactions of one shard as one of the database. What they lock is locked
 * together, lists first; each then decides in turn on what was read, with what
 * those before it have decided; and the outcome is written once. One that throws
 * leaves no trace and does not disturb the others. Answers for as many as it
 * dealt with: one that renumbers or recounts goes alone.
 */
export async function runTransactionGroup(
	statements: MysqlTransaction,
	model: Model,
	shard: Shard,
	transactions: readonly Transaction<unknown>[],
): Promise<CommitDecision<readonly SettledTransaction[]>> {
	const work = new Work(statements, model, shard, transactions);
	await work.see();
	const outcomes: (Decided | { readonly thrown: unknown })[] = [];
	for (const transaction of transactions) {
		const decided = await work.decide(transaction, outcomes.length > 0);
		if (decided === "alone") break;
		outcomes.push(decided);
		if ("effects" in decided && decided.effects.recount !== undefined) break;
	}
	if (!outcomes.some((outcome) => "effects" in outcome)) {
		return { value: outcomes as { thrown: unknown }[], commit: false };
	}
	return work.finish(outcomes);
}

interface Decided {
	readonly transaction: Transaction<unknown>;
	readonly effects: TransactionWrites<unknown>;
}

/** One database transaction: what was read under its locks, as changed so far, and what of it is to be written. */
class Work {
	readonly #statements: MysqlTransaction;
	readonly #model: Model;
	readonly #shard: Shard;
	readonly #transactions: readonly Transaction<unknown>[];
	#now = 0;
	#created: readonly Id[] = [];
	#lists = new Map<string, ListRow>();
	#objects = new Map<Id, JsonObject>();
	#edges = new Map<string, Edge>();
	#around: readonly Neighbors[] = [];
	/** Edges that have a row, whatever is decided about them. */
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
	}

	/** Locks and reads. The clock is read under the locks. */
	async see(): Promise<void> {
		const lists = this.#transactions.flatMap(({ lists = [] }) => lists);
		const objects = this.#transactions.flatMap(({ objects = [] }) => objects);
		const creates = this.#transactions.flatMap(({ creates = [] }) => creates);
		if (lists.length > 0) {
			this.#lists = new Map(
				await lockLists(this.#statements, this.#shard, lists),
			);
		}
		if (objects.length > 0) {
			this.#objects = new Map(
				await lockObjects(this.#statements, this.#model, this.#shard, objects),
			);
		}
		await this.#seeEdges();
		this.#now = Date.now() * 1_000;
		if (creates.length > 0) {
			this.#created = await insertObjects(
				this.#statements,
				this.#model,
				this.#shard,
				creates,
				this.#now,
			);
		}
	}

	/** `"alone"`: it cannot go with those before it. */
	async decide(
		transaction: Transaction<unknown>,
		hasCompany: boolean,
	): Promise<Decided | { readonly thrown: unknown } | "alone"> {
		for (let renumberings = 0; ; renumberings += 1) {
			const seen = this.#seenBy(transaction);
			let effects: TransactionWrites<unknown>;
			try {
				effects = transaction.decide(seen);
				const { renumber, recount } = effects;
				if (renumber === undefined) {
					checkObjectWrites(transaction, seen, effects);
					for (const list of recount ?? [])
						checkListIsLocked(transaction, list);
					const changes = computeListChanges(transaction, seen, effects);
					if (recount !== undefined && hasCompany) return "alone";
					this.#apply(effects, changes);
					return { transaction, effects };
				}
				checkRenumberCount(renumberings, renumber);
				checkListIsLocked(transaction, renumber);
			} catch (thrown) {
				return { thrown };
			}
			if (hasCompany) return "alone";
			await this.#renumber(effects.renumber as ListKey);
		}
	}

	/** Writes what was decided. */
	async finish(
		outcomes: readonly (Decided | { readonly thrown: unknown })[],
	): Promise<CommitDecision<readonly SettledTransaction[]>> {
		const decided = outcomes.filter((outcome) => "effects" in outcome);
		await updateObjects(
			this.#statements,
			this.#model,
			this.#shard,
			this.#changedObjects,
			this.#now,
		);
		await writeEdges(
			this.#statements,
			this.#shard,
			[...this.#changedEdges].map(
				([name, edge]): EdgeToWrite => ({
					...edge,
					exists: this.#existing.has(name),
				}),
			),
		);
		await writeLists(this.#statements, this.#shard, [
			...this.#changedLists.values(),
		]);
		for (const { effects } of decided) {
			for (const list of effects.recount ?? []) {
				const row = this.#lists.get(listName(list.mapping, list.from));
				await recountList(this.#statements, this.#shard, list, row as ListRow);
			}
		}
		const withEntry = decided.filter(
			({ effects }) => effects.outboxEntry !== undefined,
		);
		const locals = await insertOutboxEntries(
			this.#statements,
			this.#shard,
			withEntry.map(({ effects }) => effects.outboxEntry as JsonObject),
			this.#now,
		);
		const localOf = new Map(withEntry.map((one, at) => [one, locals[at]]));
		const value = outcomes.map((outcome): SettledTransaction => {
			if (!("effects" in outcome)) return outcome;
			const local = localOf.get(outcome);
			const outboxKey =
				local === undefined ? null : { shard: this.#shard.number, local };
			return { result: outcome.effects.result, outboxKey };
		});
		const hooks = decided.flatMap(
			({ transaction: { beforeCommit } }) => beforeCommit ?? [],
		);
		if (hooks.length === 0) return { value, commit: true };
		const commitBy = performance.now() + COMMIT_MS;
		await Promise.all(hooks.map((beforeCommit) => beforeCommit()));
		return { value, commit: true, commitBy };
	}

	async #seeEdges(): Promise<void> {
		const around = this.#transactions.flatMap(
			({ neighbors: around = [] }) => around,
		);
		const keys = new Map(
			[...this.#transactions.flatMap(({ edges = [] }) => edges), ...around].map(
				(key) => [edgeName(key.mapping, key), key],
			),
		);
		if (keys.size === 0) return;
		this.#edges = new Map(
			await selectEdges(this.#statements, this.#shard, [...keys.values()]),
		);
		this.#existing = new Set(this.#edges.keys());
		this.#around = await readNeighbors(
			this.#statements,
			this.#shard,
			around,
			this.#edges,
		);
	}

	#seenBy({
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
			// Who creates or looks around goes alone: these are its own.
			neighbors: this.#around,
			created: this.#created,
			now: this.#now,
		};
	}

	#apply(
		effects: TransactionWrites<unknown>,
		changes: ReturnType<typeof computeListChanges>,
	): void {
		for (const { id, data } of effects.objects ?? []) {
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

	async #renumber(list: ListKey): Promise<void> {
		const name = listName(list.mapping, list.from);
		const row = this.#lists.get(name) as ListRow;
		this.#lists.set(
			name,
			await renumberList(this.#statements, this.#shard, list, row),
		);
		await this.#seeEdges();
	}
}
