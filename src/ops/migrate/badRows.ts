import {
	appendFileSync,
	existsSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import { nameOfKey } from "./keys.ts";

/** A row that is not bad any more. */
export interface GoodRow {
	readonly key: string;
	readonly reason: null;
}

/** A row that could not be taken over. */
export interface BadRow {
	readonly key: string;
	readonly reason: string;
	/** The key of the object that it refers to and that is not here, if that is why. */
	readonly missing?: string;
}

/** Beside the mapping, as `NAME.bad.ndjson`: those of the last full pass and of passes since. */
export class BadRows {
	readonly #file: string;

	constructor(file: string) {
		this.#file = file;
	}

	/** Forgets the rows of these types and edges. */
	clear(names: readonly string[]): void {
		const kept = this.read().filter(
			({ key }) => !names.includes(nameOfKey(key)),
		);
		writeFileSync(this.#file, "");
		this.add(kept);
	}

	add(rows: readonly (BadRow | GoodRow)[]): void {
		if (rows.length === 0) return;
		const lines = rows.map((row) => `${JSON.stringify(row)}\n`);
		appendFileSync(this.#file, lines.join(""));
	}

	/** Each row once, with its last reason. */
	read(): readonly BadRow[] {
		if (!existsSync(this.#file)) return [];
		const rows = new Map<string, BadRow>();
		for (const line of readFileSync(this.#file, "utf8").split("\n")) {
			// The last line may be cut, after a kill.
			try {
				const row = JSON.parse(line) as BadRow | GoodRow;
				if (row.reason === null) rows.delete(row.key);
				else rows.set(row.key, row);
			} catch {}
		}
		return [...rows.values()];
	}
}

export interface BadGroup {
	readonly reason: string;
	readonly rows: number;
	/** Keys. */
	readonly examples: readonly string[];
}

const EXAMPLES = 3;

/** By reason, without what differs from row to row, the most frequent first. */
export function groupByReason(rows: readonly BadRow[]): readonly BadGroup[] {
	const groups = Map.groupBy(rows, ({ reason }) =>
		reason.replaceAll(/"(?:[^"\\]|\\.)*"/g, "…").replaceAll(/\d+/g, "…"),
	);
	return [...groups.values()]
		.map((some) => ({
			reason: some[0]?.reason ?? "",
			rows: some.length,
			examples: some.slice(0, EXAMPLES).map(({ key }) => key),
		}))
		.toSorted((a, b) => b.rows - a.rows);
}
