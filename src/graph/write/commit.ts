import { type Id, unpackId } from "../../id/ids.ts";
import type { Mapping, ObjectType } from "../../model/types.ts";
import type {
	EdgeState,
	Transaction,
	TransactionWrites,
} from "../../storage/storage.ts";
import { PRESENT, REMOVED } from "../../storage/storage.ts";
import type { JsonObject } from "../../util/json.ts";
import {
	deliverNow,
	type EdgeUpdate,
	invalidationsOf,
} from "../outbox/delivery.ts";
import type { Store } from "../store/store.ts";

/** What a transaction's `decide` answers: the value, and the debt it wrote, which is paid next. */
export interface DecideResult<T> {
	readonly value: T;
	readonly debt?: JsonObject | undefined;
}

/**
 * A write's three steps: commit, bury what it changed, pay what it owes. The
 * first alone decides whether it happened.
 */
export async function commit<T>(
	store: Store,
	transaction: Transaction<DecideResult<T>>,
): Promise<{ readonly value: T; readonly created: readonly Id[] }> {
	let created: readonly Id[] = [];
	const {
		result,
		outboxKey: debt,
		invalidated: cleared,
	} = await store.transact<DecideResult<T>>({
		...transaction,
		decide(seen) {
			created = seen.created;
			const effects = transaction.decide(seen);
			return store.sharesCaches
				? owingCaches(transaction, created, effects)
				: effects;
		},
	});
	if (debt !== null && result.debt !== undefined) {
		const { invalidations: _, ...others } = result.debt;
		const unpaid = { ...debt, entry: cleared ? others : result.debt };
		await deliverNow(store, unpaid);
	}
	return { value: result.value, created };
}

/** Shared caches are owed their clearing after the commit like everything else. */
function owingCaches<T>(
	transaction: Transaction<DecideResult<T>>,
	created: readonly Id[],
	effects: TransactionWrites<DecideResult<T>>,
): TransactionWrites<DecideResult<T>> {
	const { objects = [], edges = [], result } = effects;
	if (created.length + objects.length + edges.length === 0) return effects;
	const invalidations = invalidationsOf({
		objects: [...(transaction.objects ?? []), ...created],
		lists: transaction.lists ?? [],
	});
	const debt = {
		...effects.outboxEntry,
		invalidations,
	} as unknown as JsonObject;
	return { ...effects, outboxEntry: debt, result: { ...result, debt } };
}

/** Effects that carry a debt both to the outbox and to `commit`. */
export function decided<T>(
	value: T,
	debt?: JsonObject,
): Pick<TransactionWrites<DecideResult<T>>, "result" | "outboxEntry"> {
	return debt === undefined
		? { result: { value } }
		: { result: { value, debt }, outboxEntry: debt };
}

/**
 * The edges of the lists that follow an object's references, as its content
 * goes from `data` to `next`. The object is their source: its `version`, which
 * every change raises, is theirs.
 */
export function followEdges(
	type: ObjectType,
	id: Id,
	data: JsonObject | null,
	next: JsonObject,
): readonly EdgeUpdate[] {
	const edges: EdgeUpdate[] = [];
	for (const mapping of type.derivedMappings) {
		if (mapping.inverse?.kind !== "reference") continue;
		const { key } = mapping.inverse;
		const old = data?.active === false ? undefined : data?.[key];
		const now = next.active === false ? undefined : next[key];
		if (old === now) continue;
		if (typeof old === "string") {
			edges.push(followEdge(mapping, old as Id, id, REMOVED, next));
		}
		if (typeof now === "string") {
			edges.push(followEdge(mapping, now as Id, id, PRESENT, next));
		}
	}
	return edges;
}

export function followEdge(
	mapping: Mapping,
	from: Id,
	to: Id,
	state: EdgeState,
	content: JsonObject,
): EdgeUpdate {
	return {
		mapping: mapping.name,
		from,
		to,
		state,
		version: content.version as number,
		sequence: null,
	};
}

/** Those of a transaction's own shard, and those it owes. */
export function byShard(
	shard: number,
	edges: readonly EdgeUpdate[],
): {
	readonly here: readonly EdgeUpdate[];
	readonly owed: readonly EdgeUpdate[];
} {
	const isHere = (edge: EdgeUpdate) => unpackId(edge.from).shard === shard;
	return {
		here: edges.filter(isHere),
		owed: edges.filter((edge) => !isHere(edge)),
	};
}
