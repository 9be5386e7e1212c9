/** Most headers that are remembered; clients send few different ones. */
const MAX_REMEMBERED = 100;

/** A function of a header, with its last results. */
export class Remembered<T> {
	readonly #of: (header: string | undefined) => T;
	readonly #known = new Map<string | undefined, T>();

	constructor(of: (header: string | undefined) => T) {
		this.#of = of;
	}

	get(header: string | undefined): T {
		const known = this.#known.get(header);
		if (known !== undefined || this.#known.has(header)) return known as T;
		const value = this.#of(header);
		if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
		this.#known.set(header, value);
		return value;
	}
}
