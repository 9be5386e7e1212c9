import { CorkboardError } from "../../errors.ts";
import { valuesOrThrow } from "../../graph/store/readUncached.ts";
import type { Id } from "../../id/ids.ts";
import type { LookupRow, Storage } from "../../storage/storage.ts";
import { IMPORT_STATE_LOOKUP } from "../lookups.ts";

/**
 * The sequences of an import's edges: the file's order, SPACING apart, on all
 * lists alike, so that an edge and its inverse agree and no list has to be
 * asked.
 *
 * They begin a day before the import does. A line takes a millisecond's worth
 * of sequences, so a day has room for 86 million lines before one would reach
 * into the future, where it would stand above likes made after the import. The
 * next import begins above the last one's end.
 *
 * Where an import began is kept as a lookup row until it has ended, so that a
 * run that goes on after a kill gives each line the sequence it would have had:
 *
 *     open BASE START     an import is under way or was broken off
 *     done TOP            the last one's highest sequence
 */
export interface Numbering {
	/** Milliseconds: when the import began, the runs that were broken off included. */
	readonly start: number;
	sequenceOf(line: number): number;
	/** A line's place in a list whose last sequence is this: above it, unless it is this import's own. */
	sequenceInList(lastSequence: number, line: number): number;
	/** Call it before anything is written. */
	open(): Promise<void>;
	/** Call it when all lines are written. */
	close(lines: number): Promise<void>;
}

const SPACING = 1_000;
const DAY_MS = 86_400_000;
/**
 * All sequences of imports are this modulo SPACING. Those of writes are a
 * clock's milliseconds, 0, and those after them on the same list: that tells
 * an edge of this import, by an earlier run, from one made by a user since.
 */
const REMAINDER = 500;
const KEY = "numbering";

export async function readNumbering(
	storage: Storage,
	now: number,
): Promise<Numbering> {
	let row = await readRow(storage);
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
		const [answer] = valuesOrThrow(
			await storage.compareAndSetLookups([
				{
					name: IMPORT_STATE_LOOKUP,
					key: KEY,
					expect: row === null ? null : { id: row.id, token: row.token },
					next: { id: NOBODY, token: token },
				},
			]),
		);
		if (answer?.token !== token) {
			throw new CorkboardError(
				"IN_USE",
				"Another import changed the numbering of this one meanwhile.",
			);
		}
		row = answer;
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

/** The row leads to no object. */
const NOBODY = "0" as Id;

async function readRow(storage: Storage): Promise<LookupRow | null> {
	const keys = [{ name: IMPORT_STATE_LOOKUP, key: KEY }];
	const [row = null] = valuesOrThrow(await storage.readLookups(keys));
	return row;
}
