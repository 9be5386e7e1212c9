import { type Id, unpackId } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import { isFeedShard, shardInIds } from "./feedShards.ts";
import { edgeName, listName } from "./keys.ts";
import {
	type Edge,
	type EdgePosition,
	type ListKey,
	type ListRow,
	PRESENT,
	REMOVED,
	type Transaction,
	type TransactionReads,
	type TransactionWrites,
} from "./rows.ts";

/**
 * Rules of a transaction that both drivers enforce. A TypeError means a mistake
 * in the calling code.
 */
export function checkTransaction(transaction: Transaction<unknown>): void {
	const { shard, lists = [], objects = [], edges = [] } = transaction;
	const neighbors = transaction.neighbors ?? [];
	const hasObjects =
		objects.length > 0 || (transaction.creates?.length ?? 0) > 0;
	if (isFeedShard(shard) && hasObjects) throw feedListsOnly(shard);
	for (const list of lists) {
		const own = shardOfLocked(transaction, list);
		if (isFeedShard(own) && list.mapping.place !== "FEEDS") {
			throw feedListsOnly(own);
		}
		checkShard(own, list.from);
	}
	for (const id of objects) checkShard(shard, id);
	const locked = new Set(
		lists.map(({ mapping, from }) => listName(mapping, from)),
	);
	for (const { mapping, from } of [...edges, ...neighbors]) {
		if (!locked.has(listName(mapping, from))) {
			throw new TypeError(
				`An edge of ${listName(mapping, from)} can only be read if the list is locked.`,
			);
		}
	}
}

/** The shard that has a list of a transaction: its own, or the one beside it. */
export function shardOfLocked(
	{ shard, beside }: Pick<Transaction<unknown>, "shard" | "beside">,
	{ mapping, from }: ListKey,
): number {
	if (beside === undefined) return shard;
	const isBeside =
		shardInIds(shard) === shardInIds(beside)
			? (mapping.place === "FEEDS") === isFeedShard(beside)
			: unpackId(from).shard === shardInIds(beside);
	return isBeside ? beside : shard;
}

function checkShard(shard: number, id: Id): void {
	const got = unpackId(id).shard;
	if (got === shardInIds(shard)) return;
	throw new TypeError(
		`A transaction on shard ${shard} cannot use ${id}, which is on shard ${got}.`,
	);
}

function feedListsOnly(shard: number): TypeError {
	return new TypeError(
		`A transaction on shard ${shard} can use feed lists only.`,
	);
}

/** Rows of lists and edges to write. */
interface ListChanges {
	readonly edges: readonly (Edge & { readonly mapping: Mapping })[];
	/** Rows of the lists whose edges change. */
	readonly lists: readonly (ListRow & { readonly mapping: Mapping })[];
}

/**
 * The edges to write and the updated rows of their lists. A count changes by the
 * edge's state under the lock and its new state, so that two concurrent first
 * likes count as one (docs/consistency.md, 1. Lists and counts).
 */
export function computeListChanges(
	transaction: Transaction<unknown>,
	reads: TransactionReads,
	writes: TransactionWrites<unknown>,
): ListChanges {
	const wanted = writes.edges ?? [];
	if (wanted.length === 0) return { edges: [], lists: [] };
	const lists = new Map<string, ListRow & { mapping: Mapping }>();
	transaction.lists?.forEach(({ mapping, from }, index) => {
		const row = reads.lists[index] as ListRow;
		lists.set(listName(mapping, from), { ...row, mapping });
	});
	const before = new Map<string, Edge | null>();
	transaction.edges?.forEach((key, index) => {
		before.set(edgeName(key.mapping, key), reads.edges[index] ?? null);
	});
	const created = new Set(reads.created);
	const changed = new Set<string>();
	const written = new Set<string>();

	for (const edge of wanted) {
		const name = edgeName(edge.mapping, edge);
		const list = listName(edge.mapping, edge.from);
		const row = lists.get(list);
		if (row === undefined || !(before.has(name) || created.has(edge.to))) {
			throw new TypeError(
				`Edge ${name} can only be written if it was read or leads to an object just created.`,
			);
		}
		if (written.has(name)) {
			throw new TypeError(`Edge ${name} is written twice.`);
		}
		written.add(name);
		checkEdge(edge, name);
		const was = before.get(name)?.state === PRESENT ? 1 : 0;
		const is = edge.state === PRESENT ? 1 : 0;
		changed.add(list);
		lists.set(list, {
			...row,
			count: row.count + is - was,
			lastSequence: Math.max(row.lastSequence, edge.sequence),
		});
	}
	return {
		edges: wanted,
		lists: [...lists]
			.filter(([name]) => changed.has(name))
			.map(([, row]) => row),
	};
}

/** Objects can only be written if they were locked and found, or just created. */
export function checkObjectWrites(
	transaction: Transaction<unknown>,
	reads: TransactionReads,
	writes: TransactionWrites<unknown>,
): void {
	const writable = new Set<Id>(reads.created);
	transaction.objects?.forEach((id, index) => {
		if (reads.objects[index]) writable.add(id);
	});
	for (const { id } of writes.objects ?? []) {
		if (!writable.has(id)) {
			throw new TypeError(
				`Object ${id} can only be written if it was locked and found, or just created.`,
			);
		}
	}
}

/** The edges to delete for good, as they were read: present ones count, and the version of one that is not old keeps late deliveries from it. */
export function edgesToPurge(
	transaction: Transaction<unknown>,
	reads: TransactionReads,
	{ purge = [], edges = [] }: TransactionWrites<unknown>,
): readonly (Edge & { readonly mapping: Mapping })[] {
	if (purge.length === 0) return [];
	const readAt = new Map(
		(transaction.edges ?? []).map((key, at) => [
			edgeName(key.mapping, key),
			at,
		]),
	);
	const written = new Set(edges.map((edge) => edgeName(edge.mapping, edge)));
	return purge.map((key) => {
		const name = edgeName(key.mapping, key);
		const edge = reads.edges[readAt.get(name) ?? -1];
		if (edge?.state !== REMOVED || written.has(name)) {
			throw new TypeError(
				`Edge ${name} can only be purged if it was read and is removed.`,
			);
		}
		return { ...edge, mapping: key.mapping };
	});
}

/** Only a locked list can be renumbered or recounted. */
export function checkListIsLocked(
	transaction: Transaction<unknown>,
	{ mapping, from }: ListKey,
): void {
	const name = listName(mapping, from);
	const locked = transaction.lists?.some(
		(list) => listName(list.mapping, list.from) === name,
	);
	if (!locked) {
		throw new TypeError(`List ${name} is not locked.`);
	}
}

/** One renumbering makes all the room that was asked for. A `decide` that needs more than two would never end. */
const MAX_RENUMBERINGS = 2;

/** Lists can be renumbered if they are locked, and not over and over. */
export function checkRenumbering(
	transaction: Transaction<unknown>,
	done: number,
	edges: readonly EdgePosition[],
): void {
	for (const edge of edges) checkListIsLocked(transaction, edge);
	if (done === MAX_RENUMBERINGS) {
		const [{ mapping }] = edges as [EdgePosition];
		throw new TypeError(
			`A transaction can renumber lists ${MAX_RENUMBERINGS} times at most; this one renumbers ${mapping.name} again.`,
		);
	}
}

function checkEdge(edge: Omit<Edge, "from" | "to">, name: string): void {
	const { sequence, version, state } = edge;
	if (!Number.isSafeInteger(sequence) || sequence < 0) {
		throw new TypeError(
			`The sequence of ${name} must be from 0 to 2^53 - 1, got ${sequence}.`,
		);
	}
	if (!Number.isSafeInteger(version) || version < 0) {
		throw new TypeError(
			`The version of ${name} must be from 0 to 2^53 - 1, got ${version}.`,
		);
	}
	if (state !== PRESENT && state !== REMOVED) {
		throw new TypeError(`The state of ${name} must be 0 or 1, got ${state}.`);
	}
}
