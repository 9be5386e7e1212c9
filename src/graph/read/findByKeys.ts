import { CorkboardError } from "../../errors.ts";
import {
	type GivenKey,
	keyOfContent,
	type Lookup,
	normalizeKey,
} from "../../model/types.ts";
import type { KeyResult } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { ReadStore } from "../store/store.ts";
import type { Node } from "../types.ts";

/**
 * The objects that hold natural keys, hidden ones too. A lookup row leads
 * to its object before a change of the key is committed, and until the row is
 * released after it. So the object has the last word (docs/consistency.md "4.
 * Reservations (natural keys)"). Keys are given as clients send them.
 */
export function findByKeys(
	/** For a request, with its own objects, so that it sees one state of each. */
	store: Pick<ReadStore, "readLookups" | "readObjects">,
	lookup: Lookup,
	keys: readonly GivenKey[],
	call?: CallOptions,
): MaybePromise<readonly KeyResult<Node | null>[]> {
	const normalized = keys.map((key) => normalizeKey(lookup, key));
	const wanted = normalized.filter((key) => key !== null);
	const rows =
		wanted.length === 0
			? []
			: store.readLookups(
					wanted.map((key) => ({ name: lookup.name, key })),
					call,
				);
	return andThen(rows, (found) => {
		let nextRow = 0;
		const rows = normalized.map((key) =>
			key === null ? NOBODY : (found[nextRow++] ?? NOBODY),
		);
		const ids = rows.flatMap((found) =>
			found instanceof CorkboardError || found.row === null
				? []
				: [found.row.id],
		);
		const objects = ids.length === 0 ? [] : store.readObjects(ids, call);
		return andThen(objects, (objects) => {
			let next = 0;
			return rows.map((found, at) => {
				if (found instanceof CorkboardError) return found;
				if (found.row === null) return null;
				const object = objects[next++];
				if (object instanceof CorkboardError) return object;
				const node = object?.node ?? null;
				return node !== null && holdsKey(lookup, node, normalized[at] as string)
					? node
					: null;
			});
		});
	});
}

/** No object has a key that lacks a part. */
const NOBODY = { row: null };

function holdsKey(lookup: Lookup, { type, data }: Node, key: string): boolean {
	return type === lookup.type && keyOfContent(lookup, data) === key;
}
