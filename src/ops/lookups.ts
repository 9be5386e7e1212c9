import { readDecisive, valuesOrThrow } from "../graph/store/readUncached.ts";
import type { Id } from "../id/ids.ts";
import { RESERVED_LOOKUPS } from "../model/reservedNames.ts";
import type { LookupKey, LookupRow } from "../storage/rows.ts";
import type { Storage } from "../storage/storage.ts";

/** The lookup that holds the keys of imported objects. */
export const IMPORT_LOOKUP = RESERVED_LOOKUPS.import;

/** The lookup that holds the state of imports: the lease and the numbering. Its rows name no object. */
export const IMPORT_STATE_LOOKUP = RESERVED_LOOKUPS.importState;

const NO_OBJECT = "0" as Id;

/** A row whose token is a state; null if there is none. */
export async function readState(
	storage: Storage,
	{ name, key }: LookupKey,
): Promise<LookupRow | null> {
	const [row = null] = await readDecisive(storage, "lookups", [{ name, key }]);
	return row;
}

/** The row with the new state, or null if another process has changed it since `row` was read. */
export async function changeState(
	storage: Storage,
	{ name, key }: LookupKey,
	row: LookupRow | null,
	token: string,
): Promise<LookupRow | null> {
	const expect = row && { id: row.id, token: row.token };
	const [changed] = valuesOrThrow(
		await storage.compareAndSetLookups([
			{ name, key, expect, next: { id: NO_OBJECT, token } },
		]),
	);
	return changed?.token === token ? changed : null;
}
