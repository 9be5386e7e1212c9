import {
	IDEMPOTENCY_LOOKUP,
	reservationsOf,
} from "../../graph/outbox/naturalKeys.ts";
import type { Store } from "../../graph/store/store.ts";
import type { LookupRow } from "../../storage/storage.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import type { Damage, DamageKind } from "./damage.ts";
import { lookupTopic } from "./pendingEntries.ts";
import { deleteLookup } from "./repair.ts";
import { readContents, type StoredContent } from "./storedContent.ts";

/** What is wrong with lookup rows, held against the objects they lead to. Rows of lookups that are of no object are left alone. */
export async function checkLookups(
	store: Store,
	rows: readonly LookupRow[],
): Promise<readonly Damage[]> {
	const { model, storage } = store;
	const known = rows.filter(
		({ name }) =>
			name === IMPORT_LOOKUP ||
			name === IDEMPOTENCY_LOOKUP ||
			model.lookups.has(name),
	);
	const contents = await readContents(
		storage,
		known.map(({ id }) => id),
	);
	return known.flatMap((row): readonly Damage[] => {
		const kind = damageOf(store, row, contents.get(row.id) ?? "absent");
		if (kind === null) return [];
		const { name, key, id } = row;
		return [
			{
				kind,
				// An e-mail address is a key too, and reports are passed around.
				what: `${name}${name === IMPORT_LOOKUP ? ` ${key}` : ""} → ${id}`,
				about: [lookupTopic(name, key), id],
				mend: () => deleteLookup(store, row),
			},
		];
	});
}

function damageOf(
	store: Store,
	{ name, key, id, token }: LookupRow,
	data: StoredContent,
): DamageKind | null {
	if (data === "absent") return "lookup to nothing";
	if (data === "not JSON") return null;
	if (data.state === "rejected") return "lookup to the dead";
	if (name === IMPORT_LOOKUP) return null;
	const isHeld = reservationsOf(store, id, data).some(
		(claim) =>
			claim.name === name && claim.key === key && claim.token === token,
	);
	return isHeld ? null : "lookup not held";
}
