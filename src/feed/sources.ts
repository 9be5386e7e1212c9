/** Through what an item comes into a home feed, by the app's name for it. */
export type Source = string;

/** The source of items that stand near those that a user liked or saved. */
export const RELATED: Source = "related";
/** Its number. What users follow is counted from 1 on. */
const RELATED_NUMBER = 0;

/** The sources of an app's feed, and the numbers that stand for them in the tables of pools. */
export class Sources {
	/** All sources in their order: what users follow, then what is related. */
	readonly names: readonly Source[];
	readonly #numbers: ReadonlyMap<Source, number>;

	/** `followed`: in the order of the app, in which each has its number. */
	constructor(followed: readonly Source[]) {
		this.names = [...followed, RELATED];
		this.#numbers = new Map([
			...followed.map((name, at) => [name, at + 1] as const),
			[RELATED, RELATED_NUMBER],
		]);
	}

	/** Throws a TypeError for a name that the app does not have. */
	numberOf(source: Source): number {
		const number = this.#numbers.get(source);
		if (number !== undefined) return number;
		throw new TypeError(
			`Expected a source but got: ${JSON.stringify(source)}.`,
		);
	}

	/** Throws a TypeError if there is none with this number: the data is damaged, or of another app. */
	nameOf(number: number): Source {
		const found = this.names.find((name) => this.#numbers.get(name) === number);
		if (found !== undefined) return found;
		throw new TypeError(`The stored source ${number} is invalid.`);
	}
}
