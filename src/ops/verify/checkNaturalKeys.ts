import { reservationsOf } from "../../graph/outbox/naturalKeys.ts";
import { normalizeKey, type ObjectType } from "../../model/types.ts";
import { type ActiveObject, damageOf } from "./activeObject.ts";
import type { Damage } from "./damage.ts";
import { lookupTopic } from "./pendingEntries.ts";
import { type Reader, UNREAD } from "./reader.ts";
import { repairNaturalKey } from "./repairNaturalKey.ts";

/** Whether the lookup rows of active objects' natural keys are theirs, with the token in the object. */
export async function checkNaturalKeys(
	reader: Reader,
	type: ObjectType,
	active: readonly ActiveObject[],
): Promise<readonly Damage[]> {
	const { store } = reader;
	const wanted = active.flatMap(({ id, data }) => {
		const reservations = reservationsOf(store, id, data);
		const unreserved = type.lookups
			.filter(
				({ name, key }) =>
					typeof data[key] === "string" &&
					!reservations.some((reservation) => reservation.name === name),
			)
			.map((lookup) => ({
				name: lookup.name,
				key: normalizeKey(lookup, data[lookup.key] as string),
				token: null,
			}));
		return [...reservations, ...unreserved].map(({ name, key, token }) => ({
			id,
			data,
			name,
			key,
			token,
		}));
	});
	const rows = await reader.lookups(wanted);
	return wanted.flatMap(
		({ id, data, name, key, token }, at): readonly Damage[] => {
			const row = rows[at] ?? null;
			if (row === UNREAD || (row?.id === id && row.token === token)) return [];
			return [
				{
					...damageOf(reader, id, data),
					kind: "lookup missing",
					part: name,
					description: `${type.name} ${id}: its ${name} has no lookup, or another object's`,
					evidence: JSON.stringify([data, row]),
					topics: [lookupTopic(name, key), id],
					repair: () => repairNaturalKey(store, id, name),
				},
			];
		},
	);
}
