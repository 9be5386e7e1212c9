/** For which the rows of a second are counted. Milliseconds. */
const SPEED_MS = 5_000;

/** How many rows a second are done. */
export class Meter {
	#marks: { readonly at: number; readonly rows: number }[] = [];

	/** A new count begins. */
	begin(rows = 0): void {
		this.#marks = [{ at: performance.now(), rows }];
	}

	/** So many are done. */
	mark(rows: number): void {
		const at = performance.now();
		this.#marks.push({ at, rows });
		while (at - (this.#marks[0]?.at ?? at) > SPEED_MS) this.#marks.shift();
	}

	get perSecond(): number {
		const [first] = this.#marks;
		const last = this.#marks.at(-1);
		if (first === undefined || last === undefined || first === last) return 0;
		return ((last.rows - first.rows) / (performance.now() - first.at)) * 1_000;
	}
}
