/** An item that waits for its rows. */
interface Entry<Item> {
	readonly item: Item;
	readonly rows: readonly string[];
	/** Whether it may run in one group with other items of its first row. */
	readonly groupable: boolean;
	running: boolean;
}

type Soon<T> = (start: (entry: T) => void, entry: T) => void;

/**
 * Items that lock the same row run one after another, in order of arrival; others
 * run side by side. So a hot row, or one that another process keeps locked, holds
 * one connection and not the whole pool, and the items that wait for it run in
 * groups, each in one transaction: 8,752 changes of a list a second instead of
 * 1,030 (docs/consistency.md, 1. Lists and counts).
 */
export class LockQueue<Item> {
	readonly #run: (items: readonly Item[]) => Promise<number>;
	readonly #maxTogether: number;
	readonly #maxWaiting: number;
	readonly #soon: Soon<Entry<Item>>;
	/** By row: running and waiting items in order of arrival. */
	readonly #lines = new Map<string, Entry<Item>[]>();
	#waiting = 0;

	/** `run` returns how many of its items, from the first, are done: at least one. The others stay in the queue. It never rejects. */
	constructor(options: {
		readonly run: (items: readonly Item[]) => Promise<number>;
		readonly maxTogether: number;
		readonly maxWaiting: number;
		/** When what was added begins (default: after all that is to be done now), so that those which come together run together. */
		readonly soon?: Soon<Entry<Item>>;
	}) {
		this.#run = options.run;
		this.#maxTogether = options.maxTogether;
		this.#maxWaiting = options.maxWaiting;
		this.#soon = options.soon ?? process.nextTick;
	}

	/** False if too many items wait already. `rows` are names without duplicates; items that run `together` share the first. */
	add(item: Item, rows: readonly string[], together: boolean): boolean {
		if (this.#waiting >= this.#maxWaiting) return false;
		const groupable = together && rows.length > 0;
		const entry: Entry<Item> = { item, rows, groupable, running: false };
		this.#waiting += 1;
		for (const row of rows) {
			const line = this.#lines.get(row);
			if (line === undefined) this.#lines.set(row, [entry]);
			else line.push(entry);
		}
		this.#soon(this.#start, entry);
		return true;
	}

	/** Whether some item runs or waits for the row. */
	has(row: string): boolean {
		return this.#lines.has(row);
	}

	/** Starts the item, and those that can run with it, if it is the first of all its rows. */
	readonly #start = (entry: Entry<Item>): void => {
		const group = new Set<Entry<Item>>();
		if (entry.running || !this.#isNext(entry, group)) return;
		group.add(entry);
		if (entry.groupable) {
			const line = this.#lineOf(entry.rows[0]);
			while (group.size < this.#maxTogether) {
				const next = line[group.size];
				if (!next?.groupable || !this.#isNext(next, group)) break;
				group.add(next);
			}
		}
		const entries = [...group];
		for (const one of entries) one.running = true;
		this.#run(entries.map(({ item }) => item)).then((done) => {
			entries.forEach((one, index) => {
				if (index < done) this.#remove(one);
				else one.running = false;
			});
			for (const row of new Set(entries.flatMap(({ rows }) => rows))) {
				const [first] = this.#lineOf(row);
				if (first !== undefined) this.#start(first);
			}
		});
	};

	/** Whether only items of the group are before it. */
	#isNext(entry: Entry<Item>, group: ReadonlySet<Entry<Item>>): boolean {
		return entry.rows.every(
			(row) => this.#lineOf(row).find((other) => !group.has(other)) === entry,
		);
	}

	#lineOf(row = ""): readonly Entry<Item>[] {
		return this.#lines.get(row) ?? [];
	}

	#remove(entry: Entry<Item>): void {
		this.#waiting -= 1;
		for (const row of entry.rows) {
			const line = this.#lines.get(row) ?? [];
			line.splice(line.indexOf(entry), 1);
			if (line.length === 0) this.#lines.delete(row);
		}
	}
}
