import { activateObjects } from "../../graph/outbox/activateObjects.ts";
import { reservationsOf } from "../../graph/outbox/naturalKeys.ts";
import { valuesOrThrow } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import type { Id } from "../../id/ids.ts";
import {
	type Mapping,
	normalizeKey,
	type ObjectType,
} from "../../model/types.ts";
import { type LookupRow, PRESENT } from "../../storage/storage.ts";
import type { JsonObject } from "../../util/json.ts";
import type { Damage } from "./damage.ts";
import { edgeTopic, lookupTopic } from "./pendingEntries.ts";
import { repairListEdge, repairNaturalKey } from "./repair.ts";
import {
	isActiveContent,
	readContents,
	type StoredContent,
} from "./storedContent.ts";

interface ActiveObject {
	readonly id: Id;
	readonly data: JsonObject;
}

/** Checks the JSON, references, list edges and natural keys of objects of one type. */
export async function checkObjects(
	store: Store,
	type: ObjectType,
	objects: ReadonlyMap<Id, StoredContent>,
): Promise<readonly Damage[]> {
	const damages: Damage[] = [];
	const active: ActiveObject[] = [];
	for (const [id, data] of objects) {
		if (data === "not JSON") {
			damages.push({
				kind: "not JSON",
				description: `${type.name} ${id}`,
				topics: [id],
			});
		} else if (data !== "absent" && data.state === "pending") {
			damages.push({
				kind: "pending",
				description: `${type.name} ${id}`,
				topics: [id],
				repair: async () => {
					const writer = new WritePipeline(store);
					const { failures } = await activateObjects(writer, [id]);
					for (const error of failures.values()) throw error;
				},
			});
		} else if (isActiveContent(data)) {
			active.push({ id, data });
		}
	}
	return [
		...damages,
		...(await checkReferences(store, type, active)),
		...(await checkLists(store, type, active)),
		...(await checkNaturalKeys(store, type, active)),
	];
}

async function checkReferences(
	store: Store,
	type: ObjectType,
	active: readonly ActiveObject[],
): Promise<readonly Damage[]> {
	const named = active.flatMap(({ id, data }) =>
		type.references.flatMap(({ key, field }) => {
			const target = data[key];
			return typeof target === "string"
				? [{ id, field, target: target as Id }]
				: [];
		}),
	);
	const contents = await readContents(
		store.storage,
		named.map(({ target }) => target),
	);
	return named
		.filter(({ target }) => contents.get(target) === "absent")
		.map(({ id, field, target }) => ({
			kind: "reference to nothing",
			description: `${type.name} ${id}: its ${field} ${target} does not exist`,
			topics: [],
		}));
}

async function checkLists(
	store: Store,
	type: ObjectType,
	active: readonly ActiveObject[],
): Promise<readonly Damage[]> {
	const keys = active.flatMap(({ id, data }) =>
		type.derivedMappings.flatMap((mapping) => {
			const from = referencedOwner(mapping, data);
			return from === null ? [] : [{ mapping, from, to: id }];
		}),
	);
	if (keys.length === 0) return [];
	const edges = valuesOrThrow(await store.storage.readEdges(keys));
	return keys
		.filter((_, at) => edges[at]?.state !== PRESENT)
		.map(({ mapping, from, to }) => ({
			kind: "list lacks object",
			description: `${mapping.name} of ${from} lacks the ${type.name} ${to}`,
			topics: [edgeTopic(mapping.name, from, to), to],
			repair: () => repairListEdge(store, { mapping, from }, to),
		}));
}

function referencedOwner(mapping: Mapping, data: JsonObject): Id | null {
	if (mapping.inverse?.kind !== "reference") return null;
	const from = data[mapping.inverse.key];
	return typeof from === "string" ? (from as Id) : null;
}

async function checkNaturalKeys(
	store: Store,
	type: ObjectType,
	active: readonly ActiveObject[],
): Promise<readonly Damage[]> {
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
				id,
				token: null,
			}));
		return [...reservations, ...unreserved];
	});
	if (wanted.length === 0) return [];
	const rows = valuesOrThrow(await store.storage.readLookups(wanted));
	return wanted
		.filter(({ id, token }, at) => {
			const row = rows[at] as LookupRow | null;
			return row?.id !== id || row.token !== token;
		})
		.map(({ name, key, id }) => ({
			kind: "lookup missing",
			description: `${type.name} ${id}: its ${name} has no lookup, or another object's`,
			topics: [lookupTopic(name, key), id],
			repair: () => repairNaturalKey(store, id, name),
		}));
}
