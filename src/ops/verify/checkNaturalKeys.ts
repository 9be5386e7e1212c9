import {
	isSameReservation,
	reservationsOf,
} from "../../graph/outbox/parts/naturalKeys.ts";
import type { Id } from "../../id/ids.ts";
import { keyOfContent, type ObjectType } from "../../model/types.ts";
import type { Damage } from "./damage.ts";
import { lookupTopic } from "./pendingEntries.ts";
import { nameOfObject } from "./places.ts";
import { type ActiveObject, damageOf, type Reader, UNREAD } from "./reader.ts";
import { isIdOfRow } from "./references.ts";
import { repairNaturalKey } from "./repair/repairNaturalKey.ts";

/** Whether the lookup rows of active objects' natural keys are theirs, with the token in the object. */
export async function checkNaturalKeys(
	reader: Reader,
	type: ObjectType,
	active: readonly ActiveObject[],
): Promise<readonly Damage[]> {
	const { store } = reader;
	const wanted = active.flatMap(({ id, data }) => {
		const reservations = reservationsOf(store, id, data);
		const unreserved = type.lookups.flatMap((lookup) => {
			const { name } = lookup;
			const key = keyOfContent(lookup, data);
			return key === null || reservations.some((one) => one.name === name)
				? []
				: [{ name, key, token: null }];
		});
		return [...reservations, ...unreserved].map(({ name, key, token }) => ({
			id,
			data,
			name,
			key,
			token,
		}));
	});
	const rows = await reader.lookups(wanted);
	const contents = await reader.contents(
		rows.flatMap((row, at) =>
			row !== UNREAD && isIdOfRow(row?.id) && row?.id !== wanted[at]?.id
				? [row?.id as Id]
				: [],
		),
	);
	return wanted.flatMap(
		({ id, data, name, key, token }, at): readonly Damage[] => {
			const row = rows[at] ?? null;
			if (row === UNREAD || (row?.id === id && row.token === token)) return [];
			const other = row === null ? undefined : contents.get(row.id);
			if (
				row !== null &&
				typeof other === "object" &&
				other.state !== "rejected" &&
				reservationsOf(store, row.id, other).some((one) =>
					isSameReservation(one, row),
				)
			) {
				const [one, two] = [id, row.id].map((id) =>
					nameOfObject(store.model, id),
				);
				return [
					{
						...damageOf(reader, id, data),
						kind: "natural key twice",
						part: name,
						description: `${one} and ${two} have the same ${name}; it leads to ${row.id}`,
						evidence: JSON.stringify([data, row, other]),
						topics: [lookupTopic(name, key), id],
						repair: () => repairNaturalKey(store, id, name),
					},
				];
			}
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
