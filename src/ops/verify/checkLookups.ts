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

/** Compares lookup rows with the objects they name. Skips lookups whose rows name no object. */
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
				// The key may be an email address, which a report must not contain.
				description: `${name}${name === IMPORT_LOOKUP ? ` ${key}` : ""} → ${id}`,
				topics: [lookupTopic(name, key), id],
				repair: () => deleteLookup(store, row),
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
	if (data.state === "rejected") return "lookup to rejected";
	if (name === IMPORT_LOOKUP) return null;
	const isHeld = reservationsOf(store, id, data).some(
		(reservation) =>
			reservation.name === name &&
			reservation.key === key &&
			reservation.token === token,
	);
	return isHeld ? null : "lookup not held";
}
