import { type Id, unpackId } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import { edgeName, listName } from "./keys.ts";
import {
	type Edge,
	type ListKey,
	type ListRow,
	PRESENT,
	REMOVED,
	type Transaction,
	type TransactionReads,
	type TransactionWrites,
} from "./storage.ts";

/**
 * The rules of a transaction that hold on every kind of shard, as pure
 * functions. A broken rule is a mistake in the calling code: a TypeError.
 */
export function checkTransaction(transaction: Transaction<unknown>): void {
	const { shard, lists = [], objects = [], edges = [] } = transaction;
	const around = transaction.neighbors ?? [];
	for (const id of [...lists.map(({ from }) => from), ...objects]) {
		const got = unpackId(id).shard;
		if (got !== shard) {
			throw new TypeError(
				`expected only keys of shard ${shard} but got: ${id} of shard ${got}`,
			);
		}
	}
	const locked = new Set(
		lists.map(({ mapping, from }) => listName(mapping, from)),
	);
	for (const { mapping, from } of [...edges, ...around]) {
		if (!locked.has(listName(mapping, from))) {
			throw new TypeError(
				`expected only edges of the lists that are locked but got: one of ${listName(mapping, from)}`,
			);
		}
	}
}

/** What has to be written to the lists and their edges. */
export interface ListChanges {
	readonly edges: readonly (Edge & { readonly mapping: Mapping })[];
	/** Rows of the lists whose edges change. */
	readonly lists: readonly (ListRow & { readonly mapping: Mapping })[];
}

/**
 * The edges to write, and the lists' own rows brought in line with them: a
 * count changes by what the edge was under the lock and what it becomes, so
 * that two first likes at once count as one (PROTOCOLS §1).
 */
export function computeListChanges(
	transaction: Transaction<unknown>,
	seen: TransactionReads,
	effects: TransactionWrites<unknown>,
): ListChanges {
	const wanted = effects.edges ?? [];
	if (wanted.length === 0) return { edges: [], lists: [] };
	const lists = new Map<string, ListRow & { mapping: Mapping }>();
	transaction.lists?.forEach(({ mapping, from }, index) => {
		const row = seen.lists[index] as ListRow;
		lists.set(listName(mapping, from), { ...row, mapping });
	});
	const before = new Map<string, Edge | null>();
	transaction.edges?.forEach((key, index) => {
		before.set(edgeName(key.mapping, key), seen.edges[index] ?? null);
	});
	const created = new Set(seen.created);
	const changed = new Set<string>();
	const written = new Set<string>();

	for (const edge of wanted) {
		const name = edgeName(edge.mapping, edge);
		const list = listName(edge.mapping, edge.from);
		const row = lists.get(list);
		if (row === undefined || !(before.has(name) || created.has(edge.to))) {
			throw new TypeError(
				`expected only edges that were read or lead to an object just created but got: ${name}`,
			);
		}
		if (written.has(name)) {
			throw new TypeError(`expected each edge once but got twice: ${name}`);
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

/** The new content of objects, each of which was locked and found, or just created. */
export function checkObjectWrites(
	transaction: Transaction<unknown>,
	seen: TransactionReads,
	effects: TransactionWrites<unknown>,
): void {
	const writable = new Set<Id>(seen.created);
	transaction.objects?.forEach((id, index) => {
		if (seen.objects[index]) writable.add(id);
	});
	for (const { id } of effects.objects ?? []) {
		if (!writable.has(id)) {
			throw new TypeError(
				`expected only objects that were locked and found, or just created, but got: ${id}`,
			);
		}
	}
}

/** What is to be renumbered or recounted was locked. */
export function checkListIsLocked(
	transaction: Transaction<unknown>,
	{ mapping, from }: ListKey,
): void {
	const name = listName(mapping, from);
	const locked = transaction.lists?.some(
		(list) => listName(list.mapping, list.from) === name,
	);
	if (!locked) {
		throw new TypeError(
			`expected one of the lists that are locked but got: ${name}`,
		);
	}
}

/** After one renumbering there are gaps everywhere; a `decide` that asks for more than two in a transaction would ask for ever. */
const MAX_RENUMBERINGS = 2;

export function checkRenumberCount(done: number, { mapping }: ListKey): void {
	if (done === MAX_RENUMBERINGS) {
		throw new TypeError(
			`expected at most ${MAX_RENUMBERINGS} renumberings in a transaction but got: another of ${mapping.name}`,
		);
	}
}

function checkEdge(edge: Omit<Edge, "from" | "to">, name: string): void {
	const { sequence, version, state } = edge;
	if (!Number.isSafeInteger(sequence) || sequence < 0) {
		throw new TypeError(
			`expected a sequence from 0 to 2^53 - 1 for ${name} but got: ${sequence}`,
		);
	}
	if (!Number.isSafeInteger(version) || version < 0) {
		throw new TypeError(
			`expected a version from 0 to 2^53 - 1 for ${name} but got: ${version}`,
		);
	}
	if (state !== PRESENT && state !== REMOVED) {
		throw new TypeError(
			`expected a state 0 or 1 for ${name} but got: ${state}`,
		);
	}
}
