import { CorkboardError } from "../../errors.ts";
import type { Store } from "../../graph/store/store.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import { modShard } from "../../storage/modShard.ts";
import { isEpoch, MAX_EPOCH } from "../../storage/renumbering.ts";
import type {
	EdgeKey,
	ListKey,
	LookupKey,
	RenumberingKey,
} from "../../storage/rows.ts";
import type { ReadKey, ReadKind, ReadResult } from "../../storage/storage.ts";
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
		const texts = await this.#read("objects", unique, placeOf);
		return new Map(
			unique.map((id, at) => {
				const text = texts[at] ?? null;
				return [id, text === UNREAD ? UNREAD : parseContent(text)];
			}),
		);
	}

	edges(keys: readonly EdgeKey[]) {
		return this.#read("edges", keys, ({ from }) => placeOf(from));
	}

	counts(lists: readonly ListKey[]) {
		return this.#read("counts", lists, ({ from }) => placeOf(from));
	}

	/** The renumberings of each list after an epoch. One that is no number is reported as such. */
	renumberings(lists: readonly RenumberingKey[]) {
		return this.#read(
			"renumberings",
			lists.map((list) => ({
				...list,
				since: isEpoch(list.since) ? list.since : MAX_EPOCH,
			})),
			({ from }) => placeOf(from),
		);
	}

	lookups(keys: readonly LookupKey[]) {
		const { modShards } = this.store.storage.map;
		return this.#read("lookups", keys, ({ key }) =>
			databaseName("mod", modShard(key, modShards)),
		);
	}

	async #read<K extends ReadKind>(
		kind: K,
		keys: readonly ReadKey<K>[],
		placeOf: (key: ReadKey<K>) => string,
	): Promise<readonly (ReadResult<K> | Unread)[]> {
		if (keys.length === 0) return [];
		const results = await this.store.storage.read(kind, keys);
		return results.map((result, at) => {
			if (!(result instanceof CorkboardError)) return result;
			this.#unchecked.note(placeOf(keys[at] as ReadKey<K>), result);
			return UNREAD;
		});
	}
}

function placeOf(id: Id): string {
	return databaseName("db", unpackId(id).shard);
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
