import { CorkboardError } from "../../errors.ts";
import type { ChangedKeys } from "../../freshness/changedKeys.ts";
import { OWN_DROPS } from "../../freshness/invalidator.ts";
import type { Id } from "../../id/ids.ts";
import { entryName, listName } from "../../storage/keys.ts";
import type {
	KeyResult,
	ListKey,
	ListRow,
	LookupChange,
	LookupRow,
	ObjectToCreate,
	OutboxKey,
	OutboxRow,
	TransactionResult,
} from "../../storage/rows.ts";
import { parseStoredObject } from "../../storage/storedObject.ts";
import { shardOfLocked } from "../../storage/transactionRules.ts";
import {
	type CallOptions,
	DECISIVE,
	type Trace,
	type WriteDescription,
	type WriteSummary,
	type WriteTrace,
} from "../../trace.ts";
import type { JsonObject } from "../../util/json.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import { type Delivery, deliverNow } from "../outbox/deliver.ts";
import { encodeEntry } from "../outbox/entry.ts";
import {
	invalidationsOf,
	withoutInvalidations,
} from "../outbox/invalidations.ts";
import type { Committed, Writer, WriteTransaction } from "../outbox/writer.ts";
import { type EntryJob, noQueue } from "../store/jobQueue.ts";
import type { Store } from "../store/store.ts";
import { typeNameOf } from "../store/typeName.ts";
import { WrittenHeads } from "../store/writtenHeads.ts";
import type { WrittenState } from "../types.ts";
import { describeWrite, summarizeWrite } from "./describeWrite.ts";

export interface Written<T> {
	readonly result: T;
	readonly created: readonly Id[];
	/** What delivery did before its deadline: callers need not read again what it knows. */
	readonly delivery: Delivery;
}

/**
 * The way of every write to the shards, in order: lock and read, decide, write,
 * commit, invalidate, deliver, confirm (docs/consistency.md "2. Writes
 * and the outbox"). The commit alone decides whether the write happened.
 *
 * With a trace, each call is one write of it: names and numbers, no content.
 */
export class WritePipeline implements Writer {
	readonly store: Store;
	readonly call: CallOptions;
	readonly #trace: Trace | undefined;
	readonly #ofRequest: boolean;
	/** Content of objects as last committed. */
	readonly #written = new Map<Id, JsonObject>();
	/** Counts of lists as committed, by the list's name. Null for a list that several transactions wrote, maybe at once. */
	#counts = new Map<string, number | null>();
	/** Transactions of this pipeline whose outbox entries are not delivered yet. */
	readonly #undelivered = new Map<string, WriteTrace>();
	/** What the transactions of each write in progress changed, including those of its delivery. */
	readonly #changes = new Set<ChangedKeys[]>();

	/**
	 * `call.signal` is ignored: a write that was started is finished. The writes
	 * of a request do not wait until their delivered outbox entries are deleted,
	 * and remember which objects they wrote.
	 */
	constructor(
		store: Store,
		{ trace }: CallOptions = {},
		{ ofRequest = false } = {},
	) {
		this.store = store;
		this.#ofRequest = ofRequest;
		this.call = trace === undefined ? DECISIVE : { ...DECISIVE, trace };
		this.#trace = trace;
	}

	/** Steps 1 to 5. The outbox entry covers the invalidation too, and is left to the caller or the outbox worker. */
	async transactWithInvalidations<T>(
		transaction: WriteTransaction<T>,
	): Promise<Committed<T>> {
		const { store } = this;
		const { own, beside: ofBeside } = keysByShard(transaction);
		const hasKeys = own.objects.length + own.lists.length > 0;
		const changed = changedBy(transaction);
		// A delivery may continue when a later write has begun: its counts are too old for that one.
		const counts = this.#counts;
		const trace = this.#trace?.startWrite(describeWrite(store, transaction));
		let summary = NOTHING_WRITTEN;
		let created: readonly Id[] = [];
		let outboxEntry: JsonObject | undefined;
		let beside: JsonObject | undefined;
		let objects: ReturnType<typeof transaction.decide>["objects"];
		let edges: ReturnType<typeof transaction.decide>["edges"];
		let rows: readonly ListRow[] = [];
		const heads = this.#ofRequest
			? new WrittenHeads(store.headCache.local, changed.lists)
			: null;
		/** Whether changes were sent with COMMIT, or may have been. */
		let mayBeCommitted = false;
		let committed: TransactionResult<T>;
		try {
			// 1. Lock and read: the storage port begins a transaction on one shard,
			// locks lists, then objects, and inserts new objects.
			committed = await store.storage.transact<T>(
				{
					...transaction,
					decide(reads) {
						// 2. Decide, synchronously; again after a deadlock or a renumbering.
						mayBeCommitted = false;
						const decision = transaction.decide(reads);
						mayBeCommitted = true;
						created = reads.created;
						objects = decision.objects;
						edges = decision.edges;
						rows = reads.lists;
						// 3. Write: the port writes objects, edges, counts and the outbox row.
						const { entry, hides: _, ...writes } = decision;
						const invalidates =
							store.sharesCaches && hasKeys && changesAny(decision, created);
						outboxEntry = encodeEntry({
							...entry,
							...(invalidates && { invalidations: invalidationsOf(own) }),
						});
						beside =
							invalidates && ofBeside
								? encodeEntry({ invalidations: invalidationsOf(ofBeside) })
								: undefined;
						summary = summarizeWrite(created, decision, outboxEntry);
						return {
							...writes,
							...(outboxEntry !== undefined && { outboxEntry }),
							...(beside !== undefined && { besideEntry: beside }),
						};
					},
				},
				trace,
			);
			// 4. Commit: sent with step 3, and done when the port's `transact` resolves.
		} catch (error) {
			// The outcome of COMMIT may be unknown. If it takes effect later, those who
			// find its outbox entry do this again.
			if (mayBeCommitted) await store.invalidator.invalidate(changed, trace);
			else store.invalidator.invalidateLocally(changed);
			trace?.fail(error);
			throw error;
		}

		// 5. Invalidate: this process's caches, the shared caches, other processes.
		for (const changes of this.#changes) changes.push(changed);
		heads?.committed(edges ?? [], rows, committed.lists);
		const invalidated = await store.invalidator.invalidate(changed, trace);
		if (invalidated) heads?.dropped(OWN_DROPS);
		trace?.end(summary);
		if (this.#ofRequest) {
			this.#remember(transaction, created, objects);
			for (const { mapping, from, count } of committed.lists) {
				const list = listName(mapping, from);
				counts.set(list, counts.has(list) ? null : count);
			}
		}
		const { outboxKey, besideKey, result } = committed;
		if (outboxKey !== null && trace !== undefined) {
			this.#undelivered.set(entryName(outboxKey), trace);
		}
		const row =
			outboxKey === null
				? null
				: { ...outboxKey, entry: outboxEntry as JsonObject };
		const besideRow = besideKey
			? { ...besideKey, entry: beside as JsonObject }
			: null;
		return { result, created, row, besideRow, invalidated };
	}

	/** What this pipeline committed since the last call. */
	takeWritten(): WrittenState {
		const objects = [...this.#written].map(([id, data]) => ({
			id,
			type: typeNameOf(this.store.model, id) as string,
			data: parseStoredObject(id, JSON.stringify(data)),
		}));
		this.#written.clear();
		const counts = this.#counts;
		this.#counts = new Map();
		return { objects, counts };
	}

	#remember(
		{ creates = [] }: WriteTransaction<unknown>,
		created: readonly Id[],
		objects: ReturnType<WriteTransaction<unknown>["decide"]>["objects"] = [],
	): void {
		const all = [
			...created.map((id, at) => ({
				id,
				data: (creates[at] as ObjectToCreate).data,
			})),
			...objects,
		];
		for (const { id, data } of all) {
			// Others may activate a pending object: what became of it has to be read.
			if (data.state === undefined) this.#written.set(id, data);
			else this.#written.delete(id);
		}
	}

	/**
	 * Steps 1 to 5 of a delivery. The entry that is being delivered is on another
	 * shard, as a rule, and does not cover this invalidation. So the transaction
	 * writes an entry of its own, which is deleted once the invalidation was acknowledged.
	 */
	async transact<T>(transaction: WriteTransaction<T>): Promise<Committed<T>> {
		const committed = await this.transactWithInvalidations(transaction);
		const { row, invalidated } = committed;
		if (row === null || !invalidated) return committed;
		if (Object.keys(withoutInvalidations(row).entry).length > 0)
			return committed;
		await this.deleteOutboxEntries([row]);
		return { ...committed, row: null };
	}

	/** Steps 1 to 7. `alsoDeliver`: entries that earlier transactions of the same write committed. */
	async write<T>(
		transaction: WriteTransaction<T>,
		alsoDeliver: (result: T) => readonly OutboxRow[] = () => [],
	): Promise<Written<T>> {
		let hides = false;
		const changes: ChangedKeys[] = [];
		this.#changes.add(changes);
		try {
			const { result, created, row, besideRow, invalidated } =
				await this.transactWithInvalidations({
					...transaction,
					decide(reads) {
						const decision = transaction.decide(reads);
						hides = decision.hides === true;
						return decision;
					},
				});
			const committedAt = performance.now();

			// 6. Deliver what the entry promises to other shards, if that is soon done.
			// What was invalidated just now need not be invalidated again.
			const rows = [row, besideRow].filter((one) => one != null);
			const delivery = await deliverNow(this, [
				...alsoDeliver(result),
				...(invalidated ? rows.map(withoutInvalidations) : rows),
			]);

			// 7. Confirm: a write that hides something waits until no other process
			// shows it any more, as far as that is soon known.
			if (hides) {
				await this.store.invalidator.untilInvalidated(
					mergedChanges(changes),
					CONFIRM_MS - (performance.now() - committedAt),
				);
			}
			return { result, created, delivery };
		} finally {
			this.#changes.delete(changes);
		}
	}

	compareAndSetLookups(
		changes: readonly LookupChange[],
	): Promise<readonly KeyResult<LookupRow | null>[]> {
		return this.#traced(
			{
				verb: "reservation",
				changes: [...new Set(changes.map(({ name }) => name))],
				shards: [],
			},
			(trace) =>
				this.store.storage
					.compareAndSetLookups(changes, trace)
					.finally(() => this.store.invalidator.invalidateLookups(changes)),
			(rows) => ({
				rowsWritten: rows.filter(
					(row, at) =>
						!(row instanceof CorkboardError) &&
						row?.token === changes[at]?.next?.token,
				).length,
				outbox: {},
			}),
		);
	}

	invalidate(changed: ChangedKeys): Promise<boolean> {
		return this.#traced(
			{ verb: "invalidation", changes: ["shared caches"], shards: [] },
			(trace) => this.store.invalidator.invalidate(changed, trace),
		);
	}

	deleteOutboxEntries(rows: readonly OutboxKey[]): MaybePromise<void> {
		const { storage, outboxDeletions } = this.store;
		const note = () => {
			for (const row of rows) {
				this.#undelivered.get(entryName(row))?.delivered();
				this.#undelivered.delete(entryName(row));
			}
		};
		if (this.#ofRequest && !storage.map.hasSingleWriter) {
			outboxDeletions.add(rows);
			note();
			return;
		}
		return this.#traced(
			{
				verb: "outbox",
				changes: ["outbox"],
				shards: [...new Set(rows.map(({ shard }) => shard))],
			},
			(trace) => storage.deleteOutboxEntries(rows, trace),
		).then(note);
	}

	get defersJobs(): boolean {
		return this.#ofRequest;
	}

	async enqueueJobs(
		jobs: readonly EntryJob[],
	): Promise<readonly KeyResult<null>[]> {
		const queue = this.store.jobs?.queue;
		return queue === undefined ? jobs.map(noQueue) : queue.enqueue(jobs, true);
	}

	async #traced<T>(
		start: WriteDescription,
		run: (trace: WriteTrace | undefined) => Promise<T>,
		summaryOf: (result: T) => WriteSummary = () => NOTHING_WRITTEN,
	): Promise<T> {
		if (this.#trace === undefined) return run(undefined);
		const trace = this.#trace.startWrite(start);
		try {
			const result = await run(trace);
			trace.end(summaryOf(result));
			return result;
		} catch (error) {
			trace.fail(error);
			throw error;
		}
	}
}

/** How long after its commit a write that hides something waits for its invalidations. Milliseconds. */
const CONFIRM_MS = 2_000;

const NOTHING_WRITTEN: WriteSummary = { rowsWritten: 0, outbox: {} };

/** Whether anything is written that readers may have in a cache. */
function changesAny<T>(
	{
		objects = [],
		edges = [],
		recount = [],
	}: ReturnType<WriteTransaction<T>["decide"]>,
	created: readonly Id[],
): boolean {
	return [created, objects, edges, recount].some(({ length }) => length > 0);
}

/** All that a transaction locks counts as changed. What it creates is cached nowhere, not even as absent. */
function changedBy({
	objects = [],
	lists = [],
}: WriteTransaction<unknown>): Required<ChangedKeys> {
	return { objects, lists };
}

/** The same by the outbox that names it: each shard's names what changes on that shard. */
function keysByShard(transaction: WriteTransaction<unknown>): {
	readonly own: Required<ChangedKeys>;
	readonly beside: ChangedKeys | undefined;
} {
	const changed = changedBy(transaction);
	if (transaction.beside === undefined) {
		return { own: changed, beside: undefined };
	}
	const isOwn = (list: ListKey) =>
		shardOfLocked(transaction, list) === transaction.shard;
	return {
		own: { ...changed, lists: changed.lists.filter(isOwn) },
		beside: { lists: changed.lists.filter((list) => !isOwn(list)) },
	};
}

function mergedChanges(changes: readonly ChangedKeys[]): ChangedKeys {
	return {
		objects: changes.flatMap(({ objects = [] }) => objects),
		lists: changes.flatMap(({ lists = [] }) => lists),
	};
}
