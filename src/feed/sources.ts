/**
 * Through what a pin comes into a home feed, and the number that stands for it
 * in the tables of pools.
 */
export const SOURCES = {
	/** Saved by a user whom the receiver follows. */
	user: 1,
	/** Saved on a board that the receiver follows. */
	board: 2,
	/** Filed under an interest that the receiver follows. */
	interest: 3,
	/** Saved next to pins that the receiver saved or liked. */
	related: 4,
} as const;

export type Source = keyof typeof SOURCES;

export const SOURCE_NAMES = Object.keys(SOURCES) as readonly Source[];

/** The source with this number. Throws a TypeError if there is none: the data is damaged. */
export function sourceOf(number: number): Source {
	const source = SOURCE_NAMES.find((name) => SOURCES[name] === number);
	if (source === undefined) {
		throw new TypeError(`The stored source ${number} is invalid.`);
	}
	return source;
}
