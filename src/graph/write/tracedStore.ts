import type {
	Trace,
	WriteDescription,
	WriteSummary,
	WriteTrace,
} from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type {
	OutboxKey,
	Storage,
	Transaction,
	TransactionWrites,
} from "../../storage/storage.ts";
import type { JsonObject } from "../../util/json.ts";
import { type Store, typeNameOf } from "../store/store.ts";

/**
 * The store as one request's writes use it when somebody wants an account of
 * them: it does the same, and tells `trace` of each transaction and of what
 * became of its debt. Names and numbers only: what is written is not told.
 */
export function tracedStore(store: Store, trace: Trace | undefined): Store {
	if (trace === undefined) return store;
	const { storage } = store;
	const call = { trace };
	const owing = new Map<string, WriteTrace>();

	async function transact<
		T,
		Done extends { readonly outboxKey: OutboxKey | null },
	>(
		transaction: Transaction<T>,
		run: (transaction: Transaction<T>, trace: WriteTrace) => Promise<Done>,
	): Promise<Done> {
		let decided = NOTHING;
		return told(
			trace as Trace,
			{
				verb: "transaction",
				changes: changedBy(store, transaction),
				shards: [transaction.shard],
			},
			async (telling) => {
				const done = await run(
					{
						...transaction,
						decide(seen) {
							const effects = transaction.decide(seen);
							decided = {
								rowsWritten: rowsOf(seen.created, effects),
								outbox: owedBy(effects.outboxEntry),
							};
							return effects;
						},
					},
					telling,
				);
				if (done.outboxKey !== null) owing.set(keyOf(done.outboxKey), telling);
				return done;
			},
			() => decided,
		);
	}

	return {
		...store,
		transact: (transaction) => transact(transaction, store.transact),
		compareAndSetLookups: (changes) =>
			told(
				trace,
				{
					verb: "reservation",
					changes: [...new Set(changes.map(({ name }) => name))],
					shards: [],
				},
				(telling) => store.compareAndSetLookups(changes, telling),
				(rows) => ({
					rowsWritten: rows.filter(
						(row, at) =>
							!(row instanceof CorkboardError) &&
							row?.token === changes[at]?.next?.token,
					).length,
					outbox: {},
				}),
			),
		invalidate: (changed) =>
			told(
				trace,
				{ verb: "invalidation", changes: ["shared caches"], shards: [] },
				(telling) => store.invalidate(changed, telling),
				() => NOTHING,
			),
		storage: over(storage, {
			readObjects: (ids) => storage.readObjects(ids, call),
			readEdges: (keys) => storage.readEdges(keys, call),
			readLookups: (keys) => storage.readLookups(keys, call),
			transact: (transaction) =>
				transact(transaction, (one, telling) => storage.transact(one, telling)),
			async deleteOutboxEntries(debts) {
				await told(
					trace,
					{
						verb: "outbox",
						changes: ["outbox"],
						shards: [...new Set(debts.map(({ shard }) => shard))],
					},
					(telling) => storage.deleteOutboxEntries(debts, telling),
					() => NOTHING,
				);
				for (const debt of debts) owing.get(keyOf(debt))?.delivered();
			},
		}),
	};
}

const NOTHING: WriteSummary = { rowsWritten: 0, outbox: {} };

async function told<T>(
	trace: Trace,
	write: WriteDescription,
	run: (telling: WriteTrace) => Promise<T>,
	written: (answer: T) => WriteSummary,
): Promise<T> {
	const telling = trace.startWrite(write);
	try {
		const answer = await run(telling);
		telling.end(written(answer));
		return answer;
	} catch (thrown) {
		telling.fail(thrown);
		throw thrown;
	}
}

/** Methods are called on the storage itself: it has private parts. */
function over(storage: Storage, own: Partial<Storage>): Storage {
	return new Proxy(storage, {
		get(target, name) {
			const found = Reflect.get(name in own ? own : target, name, target);
			return typeof found === "function" ? found.bind(target) : found;
		},
	});
}

function changedBy(
	{ model }: Store,
	{ creates = [], objects = [], lists = [] }: Transaction<unknown>,
): readonly string[] {
	return [
		...new Set([
			...creates.map(({ type }) => type),
			...objects.flatMap((id) => typeNameOf(model, id) ?? []),
			...lists.map(({ mapping }) => mapping.name),
		]),
	];
}

/** An object made and changed at once is one row. */
function rowsOf(
	created: readonly Id[],
	{ objects = [], edges = [] }: TransactionWrites<unknown>,
): number {
	const written = new Set([...created, ...objects.map(({ id }) => id)]);
	return written.size + edges.length;
}

function owedBy(debt: JsonObject | undefined): WriteSummary["outbox"] {
	const entries = Object.entries(debt ?? {}).map(
		([kind, part]) => [kind, lengthOf(part)] as const,
	);
	return Object.fromEntries(entries.filter(([, length]) => length > 0));
}

/** Of a list, or of the lists in a record. */
function lengthOf(part: unknown): number {
	if (Array.isArray(part)) return part.length;
	return typeof part === "object" && part !== null
		? Object.values(part).reduce((sum, one) => sum + lengthOf(one), 0)
		: 0;
}

function keyOf({ shard, local }: OutboxKey): string {
	return `${shard} ${local}`;
}
