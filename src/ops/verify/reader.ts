import { CorkboardError } from "../../errors.ts";
import type { Store } from "../../graph/store/store.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import { modShard } from "../../storage/modShard.ts";
import { isEpoch, MAX_EPOCH } from "../../storage/renumbering.ts";
import type {
	Edge,
	EdgeKey,
	KeyResult,
	ListCount,
	ListKey,
	LookupKey,
	LookupRow,
	Renumbering,
	RenumberingKey,
} from "../../storage/rows.ts";
import type { JsonObject } from "../../util/json.ts";
import type { Damage } from "./damage.ts";
import { databaseName, placeOfObject } from "./places.ts";
import { parseContent, type StoredContent } from "./storedContent.ts";
import type { Unchecked } from "./unchecked.ts";

/** Instead of a row whose host did not answer: nothing can be said about it. */
export const UNREAD = "unread";
export type Unread = typeof UNREAD;

/** Reads what checks compare, past all caches. What does not answer is noted as unchecked, and read as `UNREAD`. */
export class Reader {
	readonly store: Store;
	readonly #unchecked: Unchecked;

	constructor(store: Store, unchecked: Unchecked) {
		this.store = store;
		this.#unchecked = unchecked;
	}

	async contents(
		ids: Iterable<Id>,
	): Promise<ReadonlyMap<Id, StoredContent | Unread>> {
		const unique = [...new Set(ids)];
		if (unique.length === 0) return new Map();
		const texts = this.#answered(
			await this.store.storage.read("objects", unique),
			(at) => databaseName("db", unpackId(unique[at] as Id).shard),
		);
		return new Map(
			unique.map((id, at) => {
				const text = texts[at] ?? null;
				return [id, text === UNREAD ? UNREAD : parseContent(text)];
			}),
		);
	}

	async edges(
		keys: readonly EdgeKey[],
	): Promise<readonly (Edge | null | Unread)[]> {
		if (keys.length === 0) return [];
		return this.#answered(await this.store.storage.read("edges", keys), (at) =>
			databaseName("db", unpackId((keys[at] as EdgeKey).from).shard),
		);
	}

	async counts(
		lists: readonly ListKey[],
	): Promise<readonly (ListCount | Unread)[]> {
		if (lists.length === 0) return [];
		return this.#answered(
			await this.store.storage.read("counts", lists),
			(at) => databaseName("db", unpackId((lists[at] as ListKey).from).shard),
		);
	}

	/** The renumberings of each list after an epoch. */
	async renumberings(
		lists: readonly RenumberingKey[],
	): Promise<readonly (readonly Renumbering[] | Unread)[]> {
		if (lists.length === 0) return [];
		return this.#answered(
			await this.store.storage.read(
				"renumberings",
				// An epoch that is no number is reported as such.
				lists.map((list) => ({
					...list,
					since: isEpoch(list.since) ? list.since : MAX_EPOCH,
				})),
			),
			(at) => databaseName("db", unpackId((lists[at] as ListKey).from).shard),
		);
	}

	async lookups(
		keys: readonly LookupKey[],
	): Promise<readonly (LookupRow | null | Unread)[]> {
		if (keys.length === 0) return [];
		const { storage } = this.store;
		return this.#answered(await storage.read("lookups", keys), (at) =>
			databaseName(
				"mod",
				modShard((keys[at] as LookupKey).key, storage.map.modShards),
			),
		);
	}

	#answered<T>(
		results: readonly KeyResult<T>[],
		placeAt: (at: number) => string,
	): readonly (T | Unread)[] {
		return results.map((result, at) => {
			if (!(result instanceof CorkboardError)) return result;
			this.#unchecked.note(placeAt(at), result);
			return UNREAD;
		});
	}
}

export interface ActiveObject {
	readonly id: Id;
	readonly data: JsonObject;
	/** What its references lead to, by key: those that are an id of an object of their type. */
	readonly references: ReadonlyMap<string, Id>;
}

/** What of a damage is the same for all damage of an object. */
export function damageOf(
	{ store: { model } }: Reader,
	id: Id,
	data: StoredContent,
): Pick<Damage, "subject" | "evidence" | "topics" | "table" | "row"> {
	return {
		subject: `object ${id}`,
		evidence: JSON.stringify(data),
		topics: [],
		...placeOfObject(model, id),
	};
}
