import { CorkboardError } from "../errors.ts";
import type { Mapping, Model } from "../model/types.ts";
import type { CallOptions } from "../trace.ts";
import { STORAGE_CHANNELS } from "./diagnostics.ts";
import type { ListCount, ListKey, Scan } from "./rows.ts";
import type { ReadKind, WalkKind } from "./storage.ts";

/** What metrics call the reads of each kind. */
export const READ_VERBS: Readonly<Record<ReadKind, string>> = {
	objects: "readObjects",
	lists: "scanLists",
	edges: "readEdges",
	renumberings: "readRenumberings",
	counts: "countLists",
	longestLists: "longestLists",
	lookups: "readLookups",
	entries: "readEntries",
	outboxes: "readOutboxes",
	outboxSizes: "outboxSizes",
};

export const WALK_VERBS: Readonly<Record<WalkKind, string>> = {
	objects: "walkObjects",
	edges: "walkEdges",
	lists: "walkLists",
	outbox: "walkOutbox",
	lookups: "walkLookups",
};

/** Every call of the storage port starts here. Throws if its signal is aborted already. */
export function startCall(
	verb: string,
	keys: number,
	call?: CallOptions,
): void {
	call?.signal?.throwIfAborted();
	if (STORAGE_CHANNELS.storage.hasSubscribers)
		STORAGE_CHANNELS.storage.publish({ verb, keys });
}

/** A sequence that is not an integer would match nothing, and SQLite takes a negative limit as none. */
export function checkScan({ limit, after, before }: Scan): void {
	if (!Number.isSafeInteger(limit) || limit < 0) {
		throw new TypeError(
			`The limit of a scan must be an integer of at least 0, got ${limit}.`,
		);
	}
	for (const position of [after, before]) {
		if (position !== undefined && !Number.isSafeInteger(position.sequence)) {
			throw new TypeError(
				`The sequence of a position must be an integer, got ${position.sequence}.`,
			);
		}
	}
}

export function unknownShard(
	kind: "shard" | "mod shard",
	shard: number,
): CorkboardError {
	return new CorkboardError(
		"NOT_FOUND",
		`No range of the topology covers ${kind} ${shard}.`,
	);
}

export function readOnlyError(host: string): TypeError {
	return new TypeError(`${host} was opened read-only and takes no writes.`);
}

/** The count of a list that no shard holds. */
export function emptyCount({ from }: ListKey): ListCount {
	const row = { from, count: 0, lastSequence: 0, epoch: 0 };
	return { ...row, edges: 0, highest: 0, newestEpoch: 0 };
}

/** The number of the type that owns the lists of a mapping. */
export function ownerOf(model: Model, mapping: Mapping): number {
	return model.objects.get(mapping.from ?? "")?.number ?? 0;
}
