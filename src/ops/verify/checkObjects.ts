import { activateObjects } from "../../graph/outbox/activateObjects.ts";
import { reservationsOf } from "../../graph/outbox/naturalKeys.ts";
import type { Store } from "../../graph/store/store.ts";
import { valuesOrThrow } from "../../graph/store/unwrap.ts";
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

/** What is wrong with objects of one type: their text, what they refer to, the lists that should have them, their natural keys. */
export async function checkObjects(
	store: Store,
	type: ObjectType,
	objects: ReadonlyMap<Id, StoredContent>,
): Promise<readonly Damage[]> {
	const damages: Damage[] = [];
	const living: ActiveObject[] = [];
	for (const [id, data] of objects) {
		if (data === "not JSON") {
			damages.push({
				kind: "not JSON",
				what: `${type.name} ${id}`,
				about: [id],
			});
		} else if (data !== "absent" && data.state === "pending") {
			damages.push({
				kind: "pending",
				what: `${type.name} ${id}`,
				about: [id],
				mend: async () => {
					const writer = new WritePipeline(store);
					const { failures } = await activateObjects(writer, [id]);
					for (const error of failures.values()) throw error;
				},
			});
		} else if (isActiveContent(data)) {
			living.push({ id, data });
		}
	}
	return [
		...damages,
		...(await checkReferences(store, type, living)),
		...(await checkLists(store, type, living)),
		...(await checkNames(store, type, living)),
	];
}

async function checkReferences(
	store: Store,
	type: ObjectType,
	living: readonly ActiveObject[],
): Promise<readonly Damage[]> {
	const named = living.flatMap(({ id, data }) =>
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
			what: `${type.name} ${id}: its ${field} is ${target}, which is not there`,
			about: [],
		}));
}

async function checkLists(
	store: Store,
	type: ObjectType,
	living: readonly ActiveObject[],
): Promise<readonly Damage[]> {
	const keys = living.flatMap(({ id, data }) =>
		type.derivedMappings.flatMap((mapping) => {
			const from = referred(mapping, data);
			return from === null ? [] : [{ mapping, from, to: id }];
		}),
	);
	if (keys.length === 0) return [];
	const edges = valuesOrThrow(await store.storage.readEdges(keys));
	return keys
		.filter((_, at) => edges[at]?.state !== PRESENT)
		.map(({ mapping, from, to }) => ({
			kind: "list lacks object",
			what: `${mapping.name} of ${from} lacks the ${type.name} ${to}`,
			about: [edgeTopic(mapping.name, from, to), to],
			mend: () => repairListEdge(store, { mapping, from }, to),
		}));
}

function referred(mapping: Mapping, data: JsonObject): Id | null {
	if (mapping.inverse?.kind !== "reference") return null;
	const from = data[mapping.inverse.key];
	return typeof from === "string" ? (from as Id) : null;
}

async function checkNames(
	store: Store,
	type: ObjectType,
	living: readonly ActiveObject[],
): Promise<readonly Damage[]> {
	const wanted = living.flatMap(({ id, data }) => {
		const claims = reservationsOf(store, id, data);
		const bare = type.lookups
			.filter(
				({ name, key }) =>
					typeof data[key] === "string" &&
					!claims.some((claim) => claim.name === name),
			)
			.map((lookup) => ({
				name: lookup.name,
				key: normalizeKey(lookup, data[lookup.key] as string),
				id,
				token: null,
			}));
		return [...claims, ...bare];
	});
	if (wanted.length === 0) return [];
	const rows = valuesOrThrow(await store.storage.readLookups(wanted));
	return wanted
		.filter(({ id, token }, at) => {
			const row = rows[at] as LookupRow | null;
			return row?.id !== id || row.token !== token;
		})
		.map(({ name, key, id }) => ({
			kind: "name not held",
			what: `${type.name} ${id}: its ${name} is not its own in the lookups`,
			about: [lookupTopic(name, key), id],
			mend: () => repairNaturalKey(store, id, name),
		}));
}
