import { CorkboardError } from "../errors.ts";
import { type Id, unpackId } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import {
	type DebtKey,
	type DebtRow,
	type Edge,
	type EdgeKey,
	type EdgeState,
	type Effects,
	type ListKey,
	PRESENT,
	REMOVED,
	type Seen,
} from "../storage/port.ts";
import type { JsonObject } from "../util/json.ts";
import { payClaims } from "./claims.ts";
import type { Claim } from "./names.ts";
import { between, nextSequence, type Place } from "./sequences.ts";
import { settleNames } from "./settle.ts";
import { type Changed, listKey, type Store } from "./store.ts";

/**
 * What a transaction owes to other shards: one outbox row, committed with it,
 * gone when all of it was acknowledged (PROTOCOLS §2). Paying is idempotent:
 * edges are applied by version, names by compare-and-set, so paying twice, late
 * or out of order is harmless, and anyone may pay.
 */
export interface Debt {
	/** Edges of lists on other shards. */
	readonly edges?: readonly OwedEdge[];
	/** Objects that wait for their natural keys. Their edges wait for them. */
	readonly names?: readonly Id[];
	/** Claims of a natural key that were begun, or are to be given up: released unless the object holds them. */
	readonly claims?: readonly Claim[];
	/** Keys that nobody else claims, such as those of an import. */
	readonly keys?: readonly OwedKey[];
	/** What shared caches have to forget. */
	readonly caches?: OwedCaches;
}

export interface OwedCaches {
	readonly objects: readonly Id[];
	readonly lists: readonly { readonly mapping: string; readonly from: Id }[];
}

export interface OwedEdge {
	readonly mapping: string;
	readonly from: Id;
	readonly to: Id;
	readonly state: EdgeState;
	readonly version: number;
	/** The source's sequence; null where the list itself decides: in a list that follows a reference. */
	readonly sequence: number | null;
	/** The neighbour it was asked to stand next to. */
	readonly before?: Id;
	readonly after?: Id;
}

export type OwedKey = Omit<Claim, "nonce">;

/** Edges of one payment go in transactions of at most this many. */
const EDGES_PER_TRANSACTION = 500;

export function toDebt(debt: Debt): JsonObject | undefined {
	const parts = Object.entries(debt).filter(
		([, part]) => !Array.isArray(part) || part.length > 0,
	);
	return parts.length === 0
		? undefined
		: (Object.fromEntries(parts) as JsonObject);
}

/** Pay what is owed and forget it. Of many debts, one that cannot be paid stays owed and is thrown after the others are paid. */
export async function pay(
	store: Store,
	debts: readonly DebtRow[],
): Promise<void> {
	const rows = debts.map((row) => ({ row, debt: row.debt as unknown as Debt }));
	const failures: unknown[] = [];
	const unpaid = new Set<DebtRow>();
	const failed = (row: DebtRow, error: unknown) => {
		unpaid.add(row);
		failures.push(error);
	};

	const edges: { row: DebtRow; edge: OwedEdge }[] = [];
	for (const { row, debt } of rows) {
		try {
			const dead = new Set<Id>();
			for (const [id, fate] of await settleNames(store, debt.names ?? [])) {
				if (fate === "dead") dead.add(id);
			}
			await payClaims(store, debt.claims ?? []);
			await payKeys(
				store,
				(debt.keys ?? []).filter(({ id }) => !dead.has(id)),
			);
			if (debt.caches !== undefined) await payCaches(store, debt.caches);
			for (const edge of debt.edges ?? []) {
				if (!dead.has(edge.from) && !dead.has(edge.to)) {
					edges.push({ row, edge });
				}
			}
		} catch (error) {
			failed(row, error);
		}
	}
	await payEdges(store, edges, failed);

	const paid: DebtKey[] = debts.filter((row) => !unpaid.has(row));
	if (paid.length > 0) await store.storage.settle(paid);
	if (failures.length > 0) throw failures[0];
}

export function owedCaches({ objects = [], lists = [] }: Changed): OwedCaches {
	return {
		objects,
		lists: lists.map(({ mapping, from }) => ({ mapping: mapping.name, from })),
	};
}

async function payCaches(
	store: Store,
	{ objects, lists }: OwedCaches,
): Promise<void> {
	const cleared = await store.clear({
		objects,
		lists: lists.map(({ mapping, from }) => ({
			mapping: mappingOf(store, mapping),
			from,
		})),
	});
	if (!cleared) throw notCleared();
}

/** A write whose shared caches did not acknowledge is not paid. */
export function notCleared(): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"A shared cache did not acknowledge that it forgot what was changed.",
	);
}

async function payKeys(store: Store, keys: readonly OwedKey[]): Promise<void> {
	if (keys.length === 0) return;
	const answers = await store.setLookups(
		keys.map(({ name, key, id }) => ({
			name,
			key,
			expect: null,
			next: { id, nonce: "" },
		})),
	);
	for (const answer of answers) {
		if (answer instanceof CorkboardError) throw answer;
	}
}

async function payEdges(
	store: Store,
	owed: readonly { readonly row: DebtRow; readonly edge: OwedEdge }[],
	failed: (row: DebtRow, error: unknown) => void,
): Promise<void> {
	const byShard = Map.groupBy(owed, ({ edge }) => unpackId(edge.from).shard);
	await Promise.all(
		[...byShard].map(async ([shard, all]) => {
			for (let at = 0; at < all.length; at += EDGES_PER_TRANSACTION) {
				const some = all.slice(at, at + EDGES_PER_TRANSACTION);
				try {
					await applyEdges(
						store,
						shard,
						some.map(({ edge }) => edge),
					);
				} catch (error) {
					for (const { row } of some) failed(row, error);
				}
			}
		}),
	);
}

/** Apply owed edges whose lists are on one shard, each if its version is greater than what stands there. */
export async function applyEdges(
	store: Store,
	shard: number,
	owed: readonly OwedEdge[],
): Promise<void> {
	const edges = edgesToRead(store, owed);
	const { cleared } = await store.transact({
		shard,
		lists: edges.lists,
		edges: edges.keys,
		around: edges.around,
		decide: (seen) => decideEdges(edges, seen),
	});
	if (!cleared) throw notCleared();
}

/** Owed edges, made ready to be read and decided in a transaction of their shard. */
export interface EdgesToRead {
	readonly owed: readonly OwedEdge[];
	readonly lists: readonly ListKey[];
	readonly keys: readonly EdgeKey[];
	readonly around: readonly EdgeKey[];
}

export function edgesToRead(
	store: Store,
	owed: readonly OwedEdge[],
): EdgesToRead {
	// One edge may be owed twice, by a like and the unlike after it: the last word is the greater version.
	const latest = new Map<string, OwedEdge>();
	for (const edge of owed) {
		const key = `${edge.mapping} ${edge.from} ${edge.to}`;
		const other = latest.get(key);
		if (other === undefined || other.version < edge.version) {
			latest.set(key, edge);
		}
	}
	const unique = [...latest.values()];
	const keys = unique.map((edge) => ({
		mapping: mappingOf(store, edge.mapping),
		from: edge.from,
		to: edge.to,
	}));
	const lists = new Map<string, ListKey>();
	for (const { mapping, from } of keys) {
		lists.set(listKey({ mapping, from }), { mapping, from });
	}
	const around = unique.flatMap((edge, at) => {
		const beside = edge.before ?? edge.after;
		return beside === undefined
			? []
			: [{ ...(keys[at] as EdgeKey), to: beside }];
	});
	return { owed: unique, lists: [...lists.values()], keys, around };
}

/**
 * The edges as they shall stand. `seen` is what a transaction read that asked
 * for nothing but these edges; one that reads more passes on its own parts.
 */
export function decideEdges(
	toRead: EdgesToRead,
	seen: Pick<Seen, "lists" | "edges" | "around" | "now">,
): Effects<undefined> {
	const tops = new Map(
		toRead.lists.map((list, at) => [
			listKey(list),
			seen.lists[at]?.lastSequence ?? 0,
		]),
	);
	const changed: (EdgeKey & Omit<Edge, "from" | "to">)[] = [];
	let nextAround = 0;
	for (const [at, edge] of toRead.owed.entries()) {
		const key = toRead.keys[at] as EdgeKey;
		const old = seen.edges[at] ?? null;
		const isPlaced = edge.before !== undefined || edge.after !== undefined;
		const around = isPlaced ? seen.around[nextAround++] : undefined;
		if (old !== null && old.version >= edge.version) continue;
		const list = listKey(key);
		const top = tops.get(list) as number;
		let place: Place;
		if (edge.sequence !== null) {
			place = edge.sequence;
		} else if (edge.state === REMOVED) {
			place = old?.sequence ?? nextSequence(top, seen.now);
		} else if (around?.edge?.state === PRESENT) {
			place = between(key.mapping, edge.to, around, edge.before === undefined);
		} else {
			// On top; also where the neighbour has left meanwhile.
			place = nextSequence(top, seen.now);
		}
		if (place === "no gap") return { result: undefined, renumber: key };
		tops.set(list, Math.max(top, place));
		changed.push({
			...key,
			sequence: place,
			state: edge.state,
			version: edge.version,
		});
	}
	return { result: undefined, edges: changed };
}

export function mappingOf(store: Store, name: string): Mapping {
	const mapping = store.model.mappings.get(name);
	if (mapping === undefined) {
		throw new CorkboardError(
			"BAD_DATA",
			`expected the model to have a mapping named ${name}, which is owed edges`,
		);
	}
	return mapping;
}
