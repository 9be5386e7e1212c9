import { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import {
	type Edge,
	type EdgeKey,
	type EdgeState,
	type ListKey,
	type OutboxKey,
	type OutboxRow,
	PRESENT,
	REMOVED,
	type TransactionReads,
	type TransactionWrites,
} from "../../storage/storage.ts";
import { deadlineIn, withDeadline } from "../../util/deadline.ts";
import type { JsonObject } from "../../util/json.ts";
import { distinctLists, lastSequencesOf } from "../store/lastSequences.ts";
import { type ChangedKeys, listKey, type Store } from "../store/store.ts";
import { valuesOrThrow } from "../store/unwrap.ts";
import { activateObjects } from "./activateObjects.ts";
import type { Reservation } from "./naturalKeys.ts";
import { resolveReservations } from "./reservations.ts";
import {
	type NewSequence,
	nextSequence,
	sequenceBetween,
} from "./sequences.ts";

/** How long an answer waits for what is owed elsewhere; the sweeper pays what takes longer. Milliseconds. */
const PAY_DEADLINE_MS = 2_000;

/**
 * What a transaction owes to other shards: one outbox row, committed with it,
 * gone when all of it was acknowledged (PROTOCOLS §2). Paying is idempotent:
 * edges are applied by version, names by compare-and-set, so paying twice, late
 * or out of order is harmless, and anyone may pay.
 */
export interface OutboxEntry {
	/** Edges of lists on other shards. */
	readonly edges?: readonly EdgeUpdate[];
	/** Objects that wait for their natural keys. Their edges wait for them. */
	readonly pendingObjects?: readonly Id[];
	/** Claims of a natural key that were begun, or are to be given up: released unless the object holds them. */
	readonly reservations?: readonly Reservation[];
	/** Keys that nobody else claims, such as those of an import. */
	readonly lookups?: readonly NaturalKey[];
	/** What shared caches have to forget. */
	readonly invalidations?: EntryInvalidations;
}

export interface EntryInvalidations {
	readonly objects: readonly Id[];
	readonly lists: readonly { readonly mapping: string; readonly from: Id }[];
}

export interface EdgeUpdate {
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

export type NaturalKey = Omit<Reservation, "token">;

/** Owed edges go in transactions of at most this many. */
const EDGES_PER_TRANSACTION = 500;

export function encodeEntry(debt: OutboxEntry): JsonObject | undefined {
	const parts = Object.entries(debt).filter(
		([, part]) => !Array.isArray(part) || part.length > 0,
	);
	return parts.length === 0
		? undefined
		: (Object.fromEntries(parts) as JsonObject);
}

/** Pay what is owed and forget it, or throw. */
export async function deliver(
	store: Store,
	rows: readonly OutboxRow[],
): Promise<void> {
	const unpaid = await deliverTogether(store, rows);
	for (const error of unpaid.values()) throw error;
}

/** Pay what a write that is done owes, if it can be done soon; else the sweeper does, and tells of what it cannot pay. */
export async function deliverNow(store: Store, row: OutboxRow): Promise<void> {
	try {
		await withDeadline(deliver(store, [row]), deadlineIn(PAY_DEADLINE_MS));
	} catch {
		// It stays owed: that is no failure of the write.
	}
}

/**
 * Pay many debts in as few calls as one, and forget those that were paid.
 * Answers those that were not, each with an error, which may be another's: what
 * a call fails of, all that were in it stay owed. One at a time tells them apart.
 */
export async function deliverTogether(
	store: Store,
	rows: readonly OutboxRow[],
): Promise<ReadonlyMap<OutboxRow, unknown>> {
	const unpaid = new Map<OutboxRow, unknown>();
	const isPaid = (row: OutboxRow) => !unpaid.has(row);
	const debts = rows.map((row) => row.entry as unknown as OutboxEntry);
	try {
		const fates = await activateObjects(
			store,
			debts.flatMap(({ pendingObjects: names = [] }) => names),
		);
		const isDead = (id: Id) => fates.get(id) === "dead";
		await resolveReservations(
			store,
			debts.flatMap(({ reservations: claims = [] }) => claims),
		);
		const keys = debts.flatMap(({ lookups: keys = [] }) => keys);
		// One that leads elsewhere was made by another import, whose object has it.
		await insertLookups(
			store,
			keys.filter(({ id }) => !isDead(id)),
		);
		await payCaches(
			store,
			debts.flatMap(({ invalidations: caches }) => caches ?? []),
		);
		const owers = new Map<EdgeUpdate, OutboxRow>();
		for (const [at, { edges = [] }] of debts.entries()) {
			for (const edge of edges) {
				if (isDead(edge.from) || isDead(edge.to)) continue;
				owers.set(edge, rows[at] as OutboxRow);
			}
		}
		await applyEdges(store, [...owers.keys()], (edges, error) => {
			for (const edge of edges) unpaid.set(owers.get(edge) as OutboxRow, error);
		});
		const paid: readonly OutboxKey[] = rows.filter(isPaid);
		if (paid.length > 0) await store.storage.deleteOutboxEntries(paid);
	} catch (error) {
		for (const row of rows.filter(isPaid)) unpaid.set(row, error);
	}
	return unpaid;
}

export function invalidationsOf({
	objects = [],
	lists = [],
}: ChangedKeys): EntryInvalidations {
	return {
		objects,
		lists: lists.map(({ mapping, from }) => ({ mapping: mapping.name, from })),
	};
}

async function payCaches(
	store: Store,
	owed: readonly EntryInvalidations[],
): Promise<void> {
	if (owed.length === 0) return;
	const cleared = await store.invalidate({
		objects: owed.flatMap(({ objects }) => objects),
		lists: owed.flatMap(({ lists }) =>
			lists.map(({ mapping, from }) => ({
				mapping: mappingOf(store, mapping),
				from,
			})),
		),
	});
	if (!cleared) throw invalidationFailed();
}

/** A write whose shared caches did not acknowledge is not paid. */
export function invalidationFailed(): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"A shared cache did not acknowledge that it forgot what was changed.",
	);
}

/** Make keys lead to their objects. Answers those that do not: they led to another object, and go on doing so. */
export async function insertLookups(
	store: Store,
	keys: readonly NaturalKey[],
): Promise<readonly NaturalKey[]> {
	if (keys.length === 0) return [];
	const rows = valuesOrThrow(
		await store.compareAndSetLookups(
			keys.map(({ name, key, id }) => ({
				name,
				key,
				expect: null,
				next: { id, token: "" },
			})),
		),
	);
	return keys.filter(({ id }, at) => rows[at]?.id !== id);
}

/**
 * Apply owed edges on the shards of their lists, each if its version is greater
 * than what stands there. `failed` is told of those of a transaction that failed.
 */
export async function applyEdges(
	store: Store,
	owed: readonly EdgeUpdate[],
	failed: (edges: readonly EdgeUpdate[], error: unknown) => void = (
		_,
		error,
	) => {
		throw error;
	},
): Promise<void> {
	const byShard = Map.groupBy(owed, ({ from }) => unpackId(from).shard);
	await Promise.all(
		[...byShard].map(async ([shard, all]) => {
			for (let at = 0; at < all.length; at += EDGES_PER_TRANSACTION) {
				const some = all.slice(at, at + EDGES_PER_TRANSACTION);
				try {
					await applyOnShard(store, shard, some);
				} catch (error) {
					failed(some, error);
				}
			}
		}),
	);
}

async function applyOnShard(
	store: Store,
	shard: number,
	owed: readonly EdgeUpdate[],
): Promise<void> {
	const edges = edgesToRead(store, owed);
	const { invalidated: cleared } = await store.transact({
		shard,
		lists: edges.lists,
		edges: edges.keys,
		neighbors: edges.around,
		decide: (seen) => decideEdges(edges, seen),
	});
	if (!cleared) throw invalidationFailed();
}

/** Owed edges, made ready to be read and decided in a transaction of their shard. */
export interface EdgesToRead {
	readonly updates: readonly EdgeUpdate[];
	readonly lists: readonly ListKey[];
	readonly keys: readonly EdgeKey[];
	readonly around: readonly EdgeKey[];
}

export function edgesToRead(
	store: Store,
	owed: readonly EdgeUpdate[],
): EdgesToRead {
	// One edge may be owed twice, by a like and the unlike after it: the last word is the greater version.
	const latest = new Map<string, EdgeUpdate>();
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
	const around = unique.flatMap((edge, at) => {
		const beside = edge.before ?? edge.after;
		return beside === undefined
			? []
			: [{ ...(keys[at] as EdgeKey), to: beside }];
	});
	return { updates: unique, lists: distinctLists(keys), keys, around };
}

/**
 * The edges as they shall stand. `seen` is what a transaction read that asked
 * for nothing but these edges; one that reads more passes on its own parts.
 */
export function decideEdges(
	toRead: EdgesToRead,
	seen: Pick<TransactionReads, "lists" | "edges" | "neighbors" | "now">,
): TransactionWrites<undefined> {
	const tops = lastSequencesOf(toRead.lists, seen);
	const changed: (EdgeKey & Omit<Edge, "from" | "to">)[] = [];
	let nextAround = 0;
	for (const [at, edge] of toRead.updates.entries()) {
		const key = toRead.keys[at] as EdgeKey;
		const old = seen.edges[at] ?? null;
		const isPlaced = edge.before !== undefined || edge.after !== undefined;
		const around = isPlaced ? seen.neighbors[nextAround++] : undefined;
		if (old !== null && old.version >= edge.version) continue;
		const list = listKey(key);
		const top = tops.get(list) as number;
		let place: NewSequence;
		if (edge.sequence !== null) {
			place = edge.sequence;
		} else if (edge.state === REMOVED) {
			place = old?.sequence ?? nextSequence(top, seen.now);
		} else if (around?.edge?.state === PRESENT) {
			place = sequenceBetween(
				key.mapping,
				edge.to,
				around,
				edge.before === undefined,
			);
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
