import { CorkboardError } from "../../errors.ts";
import { GtidSet } from "../../storage/mysql/driver/gtidSet.ts";

/** How far a stream of changes is. */
export interface Position {
	/** Every transaction that was given out, of all servers together. */
	readonly gtids: string;
	/** The server whose log had the last changes, by ranges of shards such as `0-255`. */
	readonly owners: ByRange;
	/** Transactions that shards had when they were dumped, by ranges of shards: what they changed there is not given out again. Absent once all of them are in `gtids`. */
	readonly dumped?: ByRange;
	/** How much was given out of the dump that the stream begins with. Absent after the dump. */
	readonly dump?: DumpPlace;
}

/** A text for each shard, by ranges of shards such as `0-255`. */
type ByRange = Readonly<Record<string, string>>;

/** A place in the files of a dump. */
export interface DumpPlace {
	/** The id of the dump. */
	readonly id: string;
	/** The file whose rows were given out last; empty: none was. */
	readonly file: string;
	/** How many of its rows were. */
	readonly rows: number;
}

/** Copies of shards, each from one moment. */
export interface CopiedShards {
	/** What each had, as a set of GTIDs. */
	readonly sets: ReadonlyMap<number, string>;
	/** When the first was begun. ISO 8601. */
	readonly begun: string;
}

/** One word, for `--since`. */
export function printPosition(position: Position): string {
	return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** Throws BAD_USER_INPUT for what `printPosition` did not print. */
export function parsePosition(text: string): Position {
	try {
		const { gtids, owners, dumped, dump } = JSON.parse(
			Buffer.from(text, "base64url").toString("utf8"),
		);
		const isKnown =
			isGtidSet(gtids) &&
			isByRange(owners) &&
			(dumped === undefined ||
				(isByRange(dumped) && Object.values(dumped).every(isGtidSet))) &&
			(dump === undefined || isDumpPlace(dump));
		if (isKnown) {
			return {
				gtids,
				owners,
				...(dumped !== undefined && { dumped }),
				...(dump !== undefined && { dump }),
			};
		}
	} catch {
		// Said below.
	}
	throw new CorkboardError(
		"BAD_USER_INPUT",
		`${JSON.stringify(text.slice(0, 60))} is no position of a stream of changes. A position is the value of "position" in a line whose "op" is "position".`,
	);
}

/** Throws if its numbers are none. */
function isGtidSet(value: unknown): value is string {
	return typeof value === "string" && new GtidSet(value).size > 0;
}

function isByRange(value: unknown): value is ByRange {
	return (
		typeof value === "object" &&
		value !== null &&
		Object.entries(value).every(
			([range, text]) => /^\d+-\d+$/.test(range) && typeof text === "string",
		)
	);
}

function isDumpPlace(value: unknown): value is DumpPlace {
	if (typeof value !== "object" || value === null) return false;
	const { id, file, rows }: Partial<Record<keyof DumpPlace, unknown>> = value;
	return (
		typeof id === "string" &&
		typeof file === "string" &&
		Number.isSafeInteger(rows)
	);
}

export function byShard(ranges: ByRange): Map<number, string> {
	const shards = new Map<number, string>();
	for (const [range, text] of Object.entries(ranges)) {
		const [first = 0, last = -1] = range.split("-").map(Number);
		for (let shard = first; shard <= last; shard++) shards.set(shard, text);
	}
	return shards;
}

export function byRange(shards: ReadonlyMap<number, string>): ByRange {
	const runs: { first: number; last: number; text: string }[] = [];
	for (const [shard, text] of [...shards].toSorted(([a], [b]) => a - b)) {
		const last = runs.at(-1);
		if (last?.text === text && last.last === shard - 1) last.last = shard;
		else runs.push({ first: shard, last: shard, text });
	}
	return Object.fromEntries(
		runs.map(({ first, last, text }) => [`${first}-${last}`, text]),
	);
}
