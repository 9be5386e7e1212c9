import type { LocalCache } from "../../cache/localCache.ts";
import { isByTime, isDescending } from "../../storage/order.ts";
import {
	type ListKey,
	type ListRow,
	type Position,
	PRESENT,
	type TransactionWrites,
} from "../../storage/rows.ts";
import type { Head } from "./head.ts";

/** A list that was changed, and the head that was cached of it. */
interface Changed {
	readonly list: ListKey;
	readonly former: Head;
	readonly version: number;
	readonly edge: Position;
	readonly before: ListRow;
	readonly after: ListRow;
}

/**
 * What one write makes of the cached heads of its lists: the process that wrote an
 * edge reads none of its lists again for it. A head is kept with the edge if nobody
 * else has changed the list since the write began, before it locked the list: what
 * others commit later ends it as any other entry. Only of lists by time: in others
 * an edge may move, and their rows do not show it.
 */
export class WrittenHeads {
	readonly #cache: LocalCache<Head>;
	readonly #lists: readonly ListKey[];
	/** What the lists had when the write began. */
	readonly #versions: readonly number[];
	#changed: readonly Changed[] = [];

	/** Called before anything is locked. */
	constructor(cache: LocalCache<Head>, lists: readonly ListKey[]) {
		this.#cache = cache;
		this.#lists = lists;
		this.#versions = lists.map((list) => this.#versionOf(list));
	}

	/** After COMMIT, and before the heads are dropped. `before` are the rows of the lists as locked, `after` those of some as committed. */
	committed(
		edges: NonNullable<TransactionWrites<unknown>["edges"]>,
		before: readonly ListRow[],
		after: readonly (ListRow & ListKey)[],
	): void {
		this.#changed = this.#lists.flatMap((list, at): readonly Changed[] => {
			const { mapping, from } = list;
			const version = this.#versions[at] as number;
			if (version !== this.#versionOf(list)) return [];
			if (!isByTime(mapping) || !isDescending(mapping)) return [];
			const isOwn = (key: ListKey) =>
				key.mapping === mapping && key.from === from;
			const row = after.find(isOwn);
			const [edge, ...others] = edges.filter(isOwn);
			if (row === undefined || edge?.state !== PRESENT || others.length > 0) {
				return [];
			}
			const former = this.#cache.get(this.#cache.partition(mapping.name), from);
			if (former === undefined) return [];
			const locked = before[at] as ListRow;
			return [{ list, former, version, edge, before: locked, after: row }];
		});
	}

	/** After they were dropped so many times, and are nowhere else. */
	dropped(times: number): void {
		for (const { list, former, version, ...change } of this.#changed) {
			if (this.#versionOf(list) !== version + times) continue;
			const { edge, before, after } = change;
			const head = former.withFirst(edge, before, after);
			if (head === null) continue;
			const partition = this.#cache.partition(list.mapping.name);
			this.#cache.keep(partition, list.from, head, former.end);
		}
	}

	#versionOf({ mapping, from }: ListKey): number {
		return this.#cache.versionOf(this.#cache.partition(mapping.name), from);
	}
}
