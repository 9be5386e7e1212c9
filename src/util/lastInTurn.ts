/**
 * The last so many things that were added. A thing that another one takes the place
 * of is let go of: in turn, whether or not it was used meanwhile, because to add one
 * again costs little and to note each use would cost more.
 */
export class LastInTurn<T> {
	readonly #things: (T | undefined)[];
	readonly #letGo: (thing: T) => void;
	#next = 0;

	constructor(size: number, letGo: (thing: T) => void) {
		this.#things = new Array<T | undefined>(size).fill(undefined);
		this.#letGo = letGo;
	}

	add(thing: T): void {
		const former = this.#things[this.#next];
		this.#things[this.#next] = thing;
		this.#next = (this.#next + 1) % this.#things.length;
		if (former !== undefined) this.#letGo(former);
	}
}
