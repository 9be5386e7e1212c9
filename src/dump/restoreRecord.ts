import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { CorkboardError } from "../errors.ts";
import { RESERVED_LOOKUPS } from "../model/reservedNames.ts";
import type { LookupKey } from "../storage/rows.ts";
import { type Database, placeOfLookup } from "./databases.ts";
import type { Dump } from "./manifest.ts";
import type { RestoreTarget } from "./target/restoreTarget.ts";

/** Where the record is, from before the first row is written until the restore is done. */
export const RESTORE_RECORD: LookupKey = {
	name: RESERVED_LOOKUPS.restoreState,
	key: "restore",
};

/**
 * How far a restore is. Each step is written when what it names is done:
 *
 * - `begun`: rows may be missing.
 * - `loaded`: every table was as in the dump. From here on, tables may differ from it.
 * - `raised`: no local id is given twice. Outboxes may be delivered, and rows repaired.
 */
const step = z.enum(["begun", "loaded", "raised"]);

const record = z.object({
	step,
	/** The id of the dump. */
	dump: z.string(),
	/** A hash of the databases that are restored. */
	databases: z.string(),
	/** ISO 8601, in UTC. */
	began: z.string(),
	/** Made up by each run: a run that finds another one's has been taken over. */
	run: z.string(),
});
export type RestoreRecord = Readonly<z.infer<typeof record>>;

/** A new record, of a restore that has not begun. */
export function newRecord(
	{ head }: Pick<Dump, "head">,
	restored: readonly Database[],
	began: Date,
): RestoreRecord {
	const names = restored.map(({ name }) => name).join();
	return {
		step: "begun",
		dump: head.id,
		databases: createHash("sha256").update(names).digest("base64url"),
		began: began.toISOString(),
		run: newRun(),
	};
}

function newRun(): string {
	return randomBytes(6).toString("base64url");
}

/** Null: no restore is under way. Throws BAD_DATA for a record that this program does not know. */
function parseRecord(text: string | null): RestoreRecord | null {
	if (text === null) return null;
	try {
		return record.parse(JSON.parse(text));
	} catch (cause) {
		throw new CorkboardError(
			"BAD_DATA",
			"The record of a restore in this fleet is of another version of corkboard. Continue with that version, or empty the databases.",
			{ cause },
		);
	}
}

/** The record that this process holds. */
export class HeldRecord {
	readonly #target: RestoreTarget;
	readonly #database: Database;
	#record: RestoreRecord;

	private constructor(
		target: RestoreTarget,
		database: Database,
		taken: RestoreRecord,
	) {
		this.#target = target;
		this.#database = database;
		this.#record = taken;
	}

	/** Replaces what was read by `wanted`, or takes over what was read to resume it. */
	static async take(
		target: RestoreTarget,
		databases: readonly Database[],
		before: RestoreRecord | null,
		wanted: RestoreRecord,
	): Promise<HeldRecord> {
		const held = new HeldRecord(
			target,
			placeOfLookup(databases, RESTORE_RECORD),
			wanted,
		);
		await held.#change(before, wanted);
		return held;
	}

	get record(): RestoreRecord {
		return this.#record;
	}

	/** Throws CONFLICT if another run has taken it over: this process may have been paused. */
	async requireHeld(): Promise<void> {
		const found = await this.#target.lookup(this.#database, RESTORE_RECORD);
		if (found !== print(this.#record)) throw takenOver();
	}

	async advance(step: RestoreRecord["step"]): Promise<void> {
		const next = { ...this.#record, step };
		await this.#change(this.#record, next);
		this.#record = next;
	}

	async #change(
		before: RestoreRecord | null,
		next: RestoreRecord,
	): Promise<void> {
		const isChanged = await this.#target.changeLookup(
			this.#database,
			RESTORE_RECORD,
			before && print(before),
			print(next),
		);
		if (!isChanged) throw takenOver();
	}
}

export async function readRecord(
	target: RestoreTarget,
	databases: readonly Database[],
): Promise<RestoreRecord | null> {
	const place = placeOfLookup(databases, RESTORE_RECORD);
	return parseRecord(await target.lookup(place, RESTORE_RECORD));
}

/** The record as a run takes it over. */
export function resumed(found: RestoreRecord): RestoreRecord {
	return { ...found, run: newRun() };
}

/** As it is stored. */
export function print({ step, dump, databases, began, run }: RestoreRecord) {
	return JSON.stringify({ step, dump, databases, began, run });
}

function takenOver(): CorkboardError {
	return new CorkboardError(
		"CONFLICT",
		"Another run has begun a restore into this fleet, or resumed this one. Run one at a time.",
	);
}
