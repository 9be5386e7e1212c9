type Interval = readonly [first: number, last: number];

/**
 * A set of GTIDs as MySQL writes them: `UUID:1-5:7,UUID:TAG:3`. It only grows.
 * Numbers beyond 2^53 are refused: a server that commits 100,000 transactions a
 * second gets there after 2,800 years.
 */
export class GtidSet {
	/** By `UUID` or `UUID:TAG`: ascending, and none touches the next. */
	readonly #intervals = new Map<string, readonly Interval[]>();

	/** Reads a set as a server printed it. */
	constructor(text = "") {
		for (const part of text.split(",")) {
			const [uuid = "", ...rest] = part.trim().toLowerCase().split(":");
			let source = uuid;
			for (const each of rest) {
				const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(each) ?? [];
				// What is no interval is a tag, to which the next ones belong.
				if (first === undefined) source = `${uuid}:${each}`;
				else this.#addInterval(source, [numberOf(first), numberOf(last)]);
			}
		}
	}

	/** How many transactions are in it. */
	get size(): number {
		return [...this.#intervals.values()]
			.flat()
			.reduce((sum, [first, last]) => sum + last - first + 1, 0);
	}

	/** Whether one transaction, `UUID:NUMBER`, is in it. */
	has(gtid: string): boolean {
		const [source, number] = split(gtid);
		return this.#holds(source, number, number);
	}

	/** Whether the transaction that its server gave the number before is in it; true for a server's first. */
	hasPredecessorOf(gtid: string): boolean {
		const [source, number] = split(gtid);
		return number === 1 || this.#holds(source, number - 1, number - 1);
	}

	contains(other: GtidSet): boolean {
		return [...other.#intervals].every(([source, intervals]) =>
			intervals.every(([first, last]) => this.#holds(source, first, last)),
		);
	}

	/** What is in both. */
	intersection(other: GtidSet): GtidSet {
		const both = new GtidSet();
		for (const [source, intervals] of this.#intervals) {
			for (const [first, last] of intervals) {
				for (const [from, to] of other.#intervals.get(source) ?? []) {
					const shared = [Math.max(first, from), Math.min(last, to)] as const;
					if (shared[0] <= shared[1]) both.#addInterval(source, shared);
				}
			}
		}
		return both;
	}

	/** What is in it of the servers that gave transactions of another set their numbers. */
	ofSourcesIn(other: GtidSet): GtidSet {
		const some = new GtidSet();
		for (const [source, intervals] of this.#intervals) {
			if (!other.#intervals.has(source)) continue;
			some.#intervals.set(source, intervals);
		}
		return some;
	}

	add(gtid: string): void {
		const [source, number] = split(gtid);
		this.#addInterval(source, [number, number]);
	}

	toString(): string {
		return [...this.#intervals]
			.map(
				([source, intervals]) =>
					`${source}:${intervals.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(":")}`,
			)
			.join(",");
	}

	#holds(source: string, from: number, to: number): boolean {
		const some = this.#intervals.get(source) ?? [];
		return some.some(([first, last]) => first <= from && to <= last);
	}

	#addInterval(source: string, [from, to]: Interval): void {
		const known = this.#intervals.get(source) ?? [];
		const before = known.filter(([, last]) => last < from - 1);
		const after = known.filter(([first]) => first > to + 1);
		const touched = known.slice(before.length, known.length - after.length);
		this.#intervals.set(source, [
			...before,
			[
				Math.min(from, touched[0]?.[0] ?? from),
				Math.max(to, touched.at(-1)?.[1] ?? to),
			],
			...after,
		]);
	}
}

function split(gtid: string): readonly [source: string, number: number] {
	const colon = gtid.lastIndexOf(":");
	return [gtid.slice(0, colon).toLowerCase(), numberOf(gtid.slice(colon + 1))];
}

function numberOf(text: string | undefined): number {
	const number = Number(text);
	if (Number.isSafeInteger(number) && number > 0) return number;
	throw new RangeError(`A GTID has a number from 1 to 2^53, got ${text}.`);
}
