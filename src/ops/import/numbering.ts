import { CorkboardError } from "../../errors.ts";
import type { Storage } from "../../storage/storage.ts";
import { changeState, IMPORT_STATE_LOOKUP, readState } from "../lookups.ts";

/**
 * The sequences of an import's edges: by line number, SPACING apart, the same in
 * all lists. So an edge and its inverse agree, and no list has to be read.
 *
 * They begin a day before the import. A line takes the sequences of one
 * millisecond, so a day has room for 86 million lines before a sequence lies in
 * the future, above edges that users create after the import. The next import
 * begins above the end of the last one.
 *
 * A lookup row keeps where an import began, so that a resumed run gives each
 * line the same sequence:
 *
 *     open BASE START     an import is running or was interrupted
 *     done TOP            the highest sequence of the last import
 */
export interface Numbering {
	/** When the import began; for a resumed import, its first run. Milliseconds since 1970. */
	readonly start: number;
	sequenceOf(line: number): number;
	/** The sequence of a line in a list with this last sequence: above it, unless this import wrote it. */
	sequenceInList(lastSequence: number, line: number): number;
	/** Call it before the first write. */
	open(): Promise<void>;
	/** Call it after the last line. */
	close(lines: number): Promise<void>;
}

const SPACING = 1_000;
const DAY_MS = 86_400_000;
/**
 * Sequences of imports modulo SPACING. Sequences of other writes are 0 modulo
 * SPACING (milliseconds of a clock), or follow one on the same list. So an edge
 * of an earlier run of this import differs from one that a user created since.
 */
const REMAINDER = 500;
/**
 * The sequence of an edge whose line says its time: within that millisecond, in
 * the order of the lines. `isOfImport` knows it by its remainder.
 */
export function sequenceAt(time: number, line: number): number {
	return time * 1_000 + REMAINDER + (line % (SPACING - REMAINDER));
}

/** Whether an import gave this sequence: that of another write is a whole millisecond, or follows one closely. */
export function isOfImport(sequence: number): boolean {
	return sequence % SPACING >= REMAINDER;
}

const KEY = { name: IMPORT_STATE_LOOKUP, key: "numbering" };

export async function readNumbering(
	storage: Storage,
	now: number,
): Promise<Numbering> {
	let row = await readState(storage, KEY);
	const [state, first, second] = row?.token.split(" ") ?? [];
	const began = state === "open" ? Number(second) : now;
	const base =
		state === "open"
			? Number(first)
			: Math.max(
					(now - DAY_MS) * 1_000 + REMAINDER,
					state === "done" ? Number(first) + SPACING : 0,
				);
	const opened = `open ${base} ${began}`;
	let isOpen = state === "open";

	async function change(token: string): Promise<void> {
		const changed = await changeState(storage, KEY, row, token);
		if (changed === null) {
			throw new CorkboardError(
				"IN_USE",
				"Another import changed the numbering of this import.",
			);
		}
		row = changed;
	}

	const sequenceOf = (line: number) => base + line * SPACING;
	return {
		start: began,
		sequenceOf,
		sequenceInList(last, line) {
			const wanted = sequenceOf(line);
			const isOwn = last >= base && (last - base) % SPACING === 0;
			return isOwn || last < wanted ? wanted : last + SPACING;
		},
		async open() {
			if (isOpen) return;
			await change(opened);
			isOpen = true;
		},
		async close(lines) {
			if (!isOpen) return;
			await change(`done ${sequenceOf(lines)}`);
			isOpen = false;
		},
	};
}
