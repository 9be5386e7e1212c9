import { CorkboardError } from "../../errors.ts";
import { GtidSet } from "../../storage/mysql/driver/gtidSet.ts";

/** How far a stream of changes is. */
export interface Position {
	/** Every transaction that was given out, of all servers together. */
	readonly gtids: string;
	/** The server whose log had the last changes, by ranges of shards such as `0-255`. */
	readonly owners: Readonly<Record<string, string>>;
}

/** One word, for `--since`. */
export function printPosition(position: Position): string {
	return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** Throws BAD_USER_INPUT for what `printPosition` did not print. */
export function parsePosition(text: string): Position {
	try {
		const { gtids, owners } = JSON.parse(
			Buffer.from(text, "base64url").toString("utf8"),
		);
		if (typeof gtids === "string" && gtids !== "" && isOwners(owners)) {
			// Throws where it is no set.
			if (new GtidSet(gtids).size > 0) return { gtids, owners };
		}
	} catch {
		// Said below.
	}
	throw new CorkboardError(
		"BAD_USER_INPUT",
		`${JSON.stringify(text.slice(0, 60))} is no position of a stream of changes. A position is the value of "position" in a line whose "op" is "position".`,
	);
}

function isOwners(value: unknown): value is Position["owners"] {
	return (
		typeof value === "object" &&
		value !== null &&
		Object.entries(value).every(
			([range, owner]) => /^\d+-\d+$/.test(range) && typeof owner === "string",
		)
	);
}

export function ownersByShard(owners: Position["owners"]): Map<number, string> {
	const byShard = new Map<number, string>();
	for (const [range, owner] of Object.entries(owners)) {
		const [first = 0, last = -1] = range.split("-").map(Number);
		for (let shard = first; shard <= last; shard++) byShard.set(shard, owner);
	}
	return byShard;
}

export function ownersByRange(
	byShard: ReadonlyMap<number, string>,
): Position["owners"] {
	const runs: { first: number; last: number; owner: string }[] = [];
	for (const [shard, owner] of [...byShard].toSorted(([a], [b]) => a - b)) {
		const last = runs.at(-1);
		if (last?.owner === owner && last.last === shard - 1) last.last = shard;
		else runs.push({ first: shard, last: shard, owner });
	}
	return Object.fromEntries(
		runs.map(({ first, last, owner }) => [`${first}-${last}`, owner]),
	);
}
