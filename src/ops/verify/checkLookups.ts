import {
	IDEMPOTENCY_LOOKUP,
	reservationsOf,
} from "../../graph/outbox/parts/naturalKeys.ts";
import type { Store } from "../../graph/store/store.ts";
import { modShard } from "../../storage/modShard.ts";
import type { LookupRow } from "../../storage/rows.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import type { Damage, DamageKind } from "./damage.ts";
import { lookupTopic } from "./pendingEntries.ts";
import { databaseName, typeName } from "./places.ts";
import { type Reader, UNREAD, type Unread } from "./reader.ts";
import { isIdOfRow } from "./references.ts";
import {
	deleteLookup,
	lostKey,
	restoreNaturalKey,
} from "./repair/repairNaturalKey.ts";
import { bookkeepingProblem, type StoredContent } from "./storedContent.ts";

/** Compares lookup rows with the objects they name. Skips lookups whose rows name no object. */
export async function checkLookups(
	reader: Reader,
	rows: readonly LookupRow[],
): Promise<readonly Damage[]> {
	const { store } = reader;
	const known = rows.filter(
		({ name }) =>
			name === IMPORT_LOOKUP ||
			name === IDEMPOTENCY_LOOKUP ||
			store.model.lookups.has(name),
	);
	const contents = await reader.contents(
		known.map(({ id }) => id).filter(isIdOfRow),
	);
	return known.flatMap((row): readonly Damage[] => {
		const data = isIdOfRow(row.id) ? contents.get(row.id) : "absent";
		const kind = damageOf(store, row, data ?? "absent");
		if (kind === null) return [];
		const { id, name, key } = row;
		return [
			{
				kind,
				...lookupDamage(store, row),
				evidence: JSON.stringify([row, data]),
				topics: [lookupTopic(name, key), id],
				repair: () =>
					kind === "natural key lost"
						? restoreNaturalKey(store, row)
						: deleteLookup(store, row),
			},
		];
	});
}

/** A row on a mod shard that its key does not lead to. No request reads it. */
export function misplacedLookup(
	store: Store,
	row: LookupRow,
	shard: number,
): Damage | null {
	const own = modShard(row.key, store.storage.map.modShards);
	if (own === shard) return null;
	const { description, ...rest } = lookupDamage(store, row, shard);
	return {
		...rest,
		kind: "misplaced row",
		description: `${description} is in ${databaseName("mod", shard)}; its key belongs to ${databaseName("mod", own)}`,
		evidence: "",
		topics: [],
	};
}

export function lookupSubject({ name, key }: LookupRow): string {
	return `lookup ${name} ${key}`;
}

/** The key may be an e-mail address, which a report must not contain. */
function lookupDamage(
	{ storage }: Store,
	row: LookupRow,
	shard = modShard(row.key, storage.map.modShards),
): Pick<Damage, "subject" | "description" | "table" | "row"> {
	const { name, key, id } = row;
	const shown = name === IMPORT_LOOKUP ? ` ${key}` : "";
	return {
		subject: lookupSubject(row),
		description: `${name}${shown} → ${id}`,
		table: `${databaseName("mod", shard)}.lookups`,
		row: `name ${name}, id ${id}`,
	};
}

function damageOf(
	store: Store,
	row: LookupRow,
	data: StoredContent | Unread,
): DamageKind | null {
	const { name, key, id, token } = row;
	if (data === UNREAD || data === "not JSON") return null;
	const lookup = store.model.lookups.get(name);
	if (data === "absent") return "lookup to nothing";
	if (lookup !== undefined && typeName(store.model, id) !== lookup.type) {
		return "lookup to another type";
	}
	if (data.state === "rejected") return "lookup to rejected";
	if (name === IMPORT_LOOKUP || bookkeepingProblem(data) !== null) return null;
	if (lookup !== undefined && lostKey(store, lookup, data, token)) {
		return "natural key lost";
	}
	const isHeld = reservationsOf(store, id, data).some(
		(reservation) =>
			reservation.name === name &&
			reservation.key === key &&
			reservation.token === token,
	);
	return isHeld ? null : "lookup not held";
}
