import type { Cells } from "../../storage/mysql/binlog/binlogTypes.ts";
import type { MovedTable } from "./movedTables.ts";
import { type Key, keyOf } from "./rowSql.ts";

/** A row that has to be compared once more. */
export interface TouchedKey {
	readonly table: MovedTable;
	readonly key: Key;
	/** Which change of the stream touched it last. */
	readonly change: number;
	readonly at: number;
	/** Whether it was not the same, rather than changed. */
	readonly isSuspect: boolean;
	/** How often it differed while nothing touched it. */
	looks: number;
}

/** Rows that changed since they were compared, the longest untouched first. */
export class TouchedKeys {
	readonly #keys = new Map<string, TouchedKey>();
	readonly #ids = new Map<MovedTable, number>();
	/** Counts batches of changes. */
	change = 0;

	get size(): number {
		return this.#keys.size;
	}

	touchRow(table: MovedTable, cells: Cells): void {
		this.touch(table, keyOf(cells, table, table.identity));
	}

	touch(table: MovedTable, key: Key, isSuspect = false): void {
		const id = this.#idOf(table, key);
		this.#keys.delete(id);
		this.#keys.set(id, {
			table,
			key,
			change: this.change,
			// Nothing is known to have changed it lately.
			at: isSuspect ? 0 : performance.now(),
			isSuspect,
			looks: 0,
		});
	}

	/** Those that nothing touched for so long, at most so many. */
	quiet(forMs: number, limit: number): readonly TouchedKey[] {
		const before = performance.now() - forMs;
		const found: TouchedKey[] = [];
		for (const key of this.#keys.values()) {
			if (found.length >= limit) break;
			if (key.at <= before) found.push(key);
		}
		return found;
	}

	/** Whether one was not the same when its chunk was compared, and nothing touched it since. */
	get hasSuspects(): boolean {
		for (const { isSuspect } of this.#keys.values()) if (isSuspect) return true;
		return false;
	}

	/** Whether nothing touched it since. */
	isLatest(key: TouchedKey): boolean {
		return this.#keys.get(this.#idOf(key.table, key.key)) === key;
	}

	/** Those of a table, which is compared anew. */
	forget(table: MovedTable): void {
		for (const [id, key] of this.#keys) {
			if (key.table === table) this.#keys.delete(id);
		}
	}

	delete(key: TouchedKey): void {
		if (this.isLatest(key)) this.#keys.delete(this.#idOf(key.table, key.key));
	}

	#idOf(table: MovedTable, key: Key): string {
		let id = this.#ids.get(table);
		if (id === undefined) {
			id = this.#ids.size;
			this.#ids.set(table, id);
		}
		return `${id}:${key.join()}`;
	}
}
