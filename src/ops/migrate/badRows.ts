import {
	appendFileSync,
	existsSync,
	readFileSync,
	renameSync,
	writeFileSync,
} from "node:fs";
import { temporaryName } from "../../util/temporaryName.ts";
import type { Missing } from "../import/lineReader.ts";
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
	/** What it refers to and is not here, if that is why. */
	readonly missing?: Missing;
	/** See `HangsOn`; none: it is to be decided what becomes of the row. */
	readonly hangsOn?: HangsOn;
}

/**
 * Why nothing has to be decided about a bad row: it belongs to a row that is marked
 * as deleted in the old database, or to another bad row, with which it comes.
 */
export type HangsOn = "deleted" | "refused";

/** Beside the mapping, as `NAME.bad.ndjson`: those of the last full pass and of passes since. */
export class BadRows {
	readonly #file: string;
	/** Whether the file ends with a whole line. */
	#isWhole = false;

	constructor(file: string) {
		this.#file = file;
	}

	/** A full pass begins. What passes before it refused stays until it ends: it may be killed, and somebody may follow the log before it continues. */
	begin(): void {
		this.#append([PASS]);
	}

	/** The full pass has ended that was begun last: of these types and edges, only what was refused since then is bad. */
	end(names: readonly string[]): void {
		const lines = this.#lines();
		const began = lines.findLastIndex((line) => "pass" in line);
		const isOld = (line: FileLine) =>
			"pass" in line || names.includes(nameOfKey(line.key));
		const kept = lines.filter((line, at) => at > began || !isOld(line));
		const temporary = temporaryName(this.#file);
		writeFileSync(temporary, textOf(kept));
		renameSync(temporary, this.#file);
	}

	add(rows: readonly (BadRow | GoodRow)[]): void {
		if (rows.length > 0) this.#append(rows);
	}

	/** Each row once, with its last reason. */
	read(): readonly BadRow[] {
		const rows = new Map<string, BadRow>();
		for (const line of this.#lines()) {
			if ("pass" in line) continue;
			if (line.reason === null) rows.delete(line.key);
			else rows.set(line.key, line);
		}
		return [...rows.values()];
	}

	#append(lines: readonly FileLine[]): void {
		// What a kill has cut would spoil the line after it.
		const isCut =
			!this.#isWhole &&
			existsSync(this.#file) &&
			!/(?:^|\n)$/.test(readFileSync(this.#file, "utf8"));
		appendFileSync(this.#file, `${isCut ? "\n" : ""}${textOf(lines)}`);
		this.#isWhole = true;
	}

	#lines(): readonly FileLine[] {
		if (!existsSync(this.#file)) return [];
		return readFileSync(this.#file, "utf8")
			.split("\n")
			.flatMap((line) => {
				// One that was being written at a kill may be cut.
				try {
					return [JSON.parse(line) as FileLine];
				} catch {
					return [];
				}
			});
	}
}

/** The first line of a full pass. */
const PASS = { pass: "full" } as const;

type FileLine = BadRow | GoodRow | typeof PASS;

function textOf(lines: readonly FileLine[]): string {
	return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

export interface BadGroup {
	readonly reason: string;
	/** As of each of its rows; null: they are to be decided. */
	readonly hangsOn: HangsOn | null;
	readonly rows: number;
	/** Keys. */
	readonly examples: readonly string[];
}

const EXAMPLES = 3;
const ORDER: readonly (HangsOn | null)[] = [null, "refused", "deleted"];

/** By reason, without what differs from row to row: first what is to be decided, and of that the most frequent. */
export function groupByReason(rows: readonly BadRow[]): readonly BadGroup[] {
	const groups = Map.groupBy(rows, ({ reason, hangsOn = "" }) => {
		const same = reason.replaceAll(/"(?:[^"\\]|\\.)*"/g, "…");
		return `${hangsOn} ${same.replaceAll(/\d+/g, "…")}`;
	});
	return [...groups.values()]
		.map((some) => ({
			reason: some[0]?.reason ?? "",
			hangsOn: some[0]?.hangsOn ?? null,
			rows: some.length,
			examples: some.slice(0, EXAMPLES).map(({ key }) => key),
		}))
		.toSorted(
			(a, b) =>
				ORDER.indexOf(a.hangsOn) - ORDER.indexOf(b.hangsOn) || b.rows - a.rows,
		);
}
