import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { CorkboardError } from "../../errors.ts";
import { temporaryName } from "../../util/temporaryName.ts";
import type { Cursor } from "./sources/source.ts";

/** What one pass did. */
export interface PassReport {
	readonly kind: "full" | "changed" | "follow";
	/** The types and edges that it read, if not all. */
	readonly only?: readonly string[];
	/** Milliseconds since 1970. */
	readonly began: number;
	readonly seconds: number;
	/** Rows that it read; of a log that is followed, those that the log named. */
	readonly rows: number;
	readonly made: number;
	readonly changed: number;
	readonly deleted: number;
	readonly unchanged: number;
	/** Rows that were refused, and are to be decided. */
	readonly bad: number;
	/** Rows that were refused besides, because they belong to rows that are deleted there, or to others that were refused. */
	readonly withDeleted: number;
	readonly withRefused: number;
	readonly newerHere: number;
	readonly isFinished: boolean;
}

/** Whether it read all rows of all tables. */
export function isWhole({ kind, only, isFinished }: PassReport): boolean {
	return kind === "full" && only === undefined && isFinished;
}

/** Beside the mapping, as `NAME.state.json`. Without it the next pass begins at the first row. */
export interface MigrationState {
	readonly passes: readonly PassReport[];
	/** Where the last pass continues, if it is not finished. */
	readonly position: {
		readonly table: string;
		readonly after: Cursor;
		/** Lines that were written. */
		readonly lines: number;
	} | null;
	/** By table: the greatest value of its `changed` when the last pass began. */
	readonly marks: Readonly<Record<string, string>>;
	/** How far the log of the old database was followed; null if it is not. */
	readonly follow: {
		readonly position: string;
		/** When that began: a full pass that began later has what came before. Milliseconds since 1970. */
		readonly since: number;
	} | null;
	/** The sessions that were open when the setting that stops writes was first seen, and so may be older: see `OpenSessions`. */
	readonly stopped: {
		readonly setting: string;
		readonly pids: readonly number[];
	} | null;
}

export const EMPTY_STATE: MigrationState = {
	passes: [],
	position: null,
	marks: {},
	follow: null,
	stopped: null,
};

export function readMigrationState(file: string): MigrationState {
	if (!existsSync(file)) return EMPTY_STATE;
	try {
		const state = JSON.parse(readFileSync(file, "utf8"));
		if (Array.isArray(state?.passes)) return { ...EMPTY_STATE, ...state };
	} catch {}
	throw new CorkboardError(
		"BAD_DATA",
		`${file} is damaged. Delete it: the next pass then begins at the first row, finds what is there, and writes what differs.`,
	);
}

export function writeMigrationState(file: string, state: MigrationState): void {
	const temporary = temporaryName(file);
	writeFileSync(temporary, `${JSON.stringify(state, null, "\t")}\n`);
	renameSync(temporary, file);
}
