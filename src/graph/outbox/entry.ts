import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
import type { EdgeState } from "../../storage/rows.ts";
import type { JsonObject } from "../../util/json.ts";
import type { EntryJob } from "../store/jobQueue.ts";
import type { Reservation } from "./parts/naturalKeys.ts";

/**
 * What one transaction promises to other shards and to shared caches: one
 * outbox row, committed with the transaction and deleted when every part of it
 * was acknowledged (docs/consistency.md "2. Writes and the outbox").
 *
 * Delivery is idempotent: edges are applied by version and natural keys by
 * compare-and-set. Anyone may deliver an entry twice, late or out of order.
 */
export interface OutboxEntry {
	/** Edges of lists on other shards. */
	readonly edges?: readonly EdgeUpdate[];
	/** Objects that wait for their natural keys. Their lookups, edges and links wait with them. */
	readonly pendingObjects?: readonly Id[];
	/** Reservations that a change began: released unless their objects hold them, which each object's lock decides. */
	readonly reservations?: readonly Reservation[];
	/** Reservations that no object holds any more or ever will, such as those that a change replaced. */
	readonly releases?: readonly Reservation[];
	/** Keys that no two objects compete for, such as those of an import. */
	readonly lookups?: readonly NaturalKey[];
	/** Edges to objects that are found by natural key, or created. */
	readonly links?: readonly Link[];
	/** Jobs to enqueue: they exist if and only if the write was committed. */
	readonly jobs?: readonly EntryJob[];
	/** What shared caches have to delete. */
	readonly invalidations?: EntryInvalidations;
}

/** An edge as it has to become, unless the list has a newer version of it. */
export interface EdgeUpdate {
	readonly mapping: string;
	readonly from: Id;
	readonly to: Id;
	readonly state: EdgeState;
	readonly version: number;
	/** The source's sequence, or that of the object's content; null if the list itself decides: in other lists that follow a reference. */
	readonly sequence: number | null;
	/** The neighbor that the edge was asked to stand next to. */
	readonly before?: Id;
	readonly after?: Id;
}

export interface NaturalKey {
	readonly name: string;
	readonly key: string;
	readonly id: Id;
}

/**
 * An edge from `from` to the object that holds a natural key. Delivery finds
 * that object, or creates it on `shard` with `data`.
 */
export interface Link {
	readonly mapping: string;
	readonly from: Id;
	/** The sequence of the edge and of its inverse. */
	readonly sequence: number;
	/** The type's name; its first natural key in `data` is the one to look for. */
	readonly type: string;
	readonly data: JsonObject;
	readonly shard: number;
}

export interface EntryInvalidations {
	readonly objects: readonly Id[];
	readonly lists: readonly { readonly mapping: string; readonly from: Id }[];
}

/** The JSON of an outbox row, without empty parts; undefined for an entry that promises nothing. */
export function encodeEntry(entry: OutboxEntry): JsonObject | undefined {
	const parts = Object.entries(entry).filter(
		([, part]) =>
			part !== undefined && (!Array.isArray(part) || part.length > 0),
	);
	return parts.length === 0
		? undefined
		: (Object.fromEntries(parts) as JsonObject);
}

/** The mapping that an entry names. */
export function mappingNamed(model: Model, name: string): Mapping {
	const mapping = model.mappings.get(name);
	if (mapping === undefined) {
		throw new CorkboardError(
			"BAD_DATA",
			`The outbox entry names the mapping ${name}, which the model does not have.`,
		);
	}
	return mapping;
}
