import { activateObjects } from "../../graph/outbox/parts/activateObjects.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import type { Id } from "../../id/ids.ts";
import type { StoredTypes } from "../../model/storedTypes.ts";
import { keyFields, type Model, type ObjectType } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";
import { checkLists } from "./checkLists.ts";
import { checkNaturalKeys } from "./checkNaturalKeys.ts";
import type { Damage } from "./damage.ts";
import { nameOfObject } from "./places.ts";
import {
	type ActiveObject,
	damageOf,
	type Reader,
	UNREAD,
	type Unread,
} from "./reader.ts";
import { readReference } from "./references.ts";
import { repairBookkeeping } from "./repair/repairObject.ts";
import {
	bookkeepingProblem,
	describeValue,
	isActiveContent,
	type StoredContent,
	stateProblem,
} from "./storedContent.ts";

/** Checks the JSON, fields, references, list edges and natural keys of objects of one type. */
export async function checkObjects(
	reader: Reader,
	type: ObjectType,
	contents: ReadonlyMap<Id, StoredContent | Unread>,
	types: StoredTypes | undefined,
): Promise<readonly Damage[]> {
	const damages: Damage[] = [];
	const active: ActiveObject[] = [];
	for (const [id, data] of contents) {
		if (data === UNREAD) continue;
		const found = ownDamage(reader, type, id, data);
		if (found !== null) damages.push(found);
		if (!isActiveContent(data) || isOfNoUse(found)) continue;
		damages.push(...fieldDamages(reader, type, { id, data }, types));
		const references = new Map<string, Id>();
		for (const reference of type.references) {
			const read = readReference(reader.store, type, reference, data);
			if ("target" in read) {
				if (read.target !== null) references.set(reference.key, read.target);
				continue;
			}
			damages.push({
				...damageOf(reader, id, data),
				kind: "damaged reference",
				part: reference.field,
				description: `${nameOfObject(reader.store.model, id)}: ${read.problem}`,
			});
		}
		active.push({ id, data, references });
	}
	return [
		...damages,
		...(await checkTargets(reader, type, active)),
		...(await checkLists(reader, type, active)),
		...(await checkNaturalKeys(reader, type, active)),
	];
}

/** Nothing more can be said about the object before this is repaired. */
function isOfNoUse(damage: Damage | null): boolean {
	return damage !== null && damage.kind !== "pending";
}

function ownDamage(
	reader: Reader,
	type: ObjectType,
	id: Id,
	data: StoredContent,
): Damage | null {
	if (data === "absent") return null;
	const { store } = reader;
	const damage = damageOf(reader, id, data);
	const name = nameOfObject(store.model, id);
	if (data === "not JSON") {
		return { ...damage, kind: "not JSON", description: name };
	}
	const other = typeOfContent(store.model, type, data);
	if (other !== null) {
		return {
			...damage,
			kind: "another type",
			description: `${name}: it has the fields of a ${other}`,
		};
	}
	const state = stateProblem(data);
	if (state !== null) {
		return {
			...damage,
			kind: "unknown state",
			description: `${name}: ${state}`,
		};
	}
	const bookkeeping = bookkeepingProblem(data);
	if (bookkeeping !== null) {
		return {
			...damage,
			kind: "damaged bookkeeping",
			description: `${name}: ${bookkeeping}`,
			repair: () => repairBookkeeping(store, type, id),
		};
	}
	if (data.state !== "pending") return null;
	return {
		...damage,
		kind: "pending",
		description: name,
		topics: [id],
		repair: async () => {
			const { failures } = await activateObjects(new WritePipeline(store), [
				id,
			]);
			for (const error of failures.values()) throw error;
		},
	};
}

/**
 * The type whose fields an object has, if it lies in the table of another one: it
 * lacks a field that every object of its own type has, and has one that only the
 * other type has. One sign alone may be left of a change of the SDL.
 */
function typeOfContent(
	model: Model,
	type: ObjectType,
	data: JsonObject,
): string | null {
	const lacksOwn = [...type.stored]
		.filter(({ required }) => required)
		.some(({ key }) => data[key] === undefined);
	if (!lacksOwn) return null;
	const own = new Set(keysOf(type));
	const foreign = Object.keys(data).filter((key) => !own.has(key));
	const other = [...model.objects.values()].find((candidate) => {
		const keys = new Set(keysOf(candidate));
		return candidate !== type && foreign.some((key) => keys.has(key));
	});
	return other?.name ?? null;
}

function keysOf(type: ObjectType) {
	return [...type.stored, ...type.references, ...keyFields(type)].map(
		({ key }) => key,
	);
}

function fieldDamages(
	reader: Reader,
	type: ObjectType,
	{ id, data }: { readonly id: Id; readonly data: JsonObject },
	types: StoredTypes | undefined,
): readonly Damage[] {
	if (types === undefined) return [];
	const fields = new Map(
		[...type.stored, ...keyFields(type)].map(({ key, field }) => [key, field]),
	);
	const naturalKeys = new Set(keyFields(type).map(({ key }) => key));
	return [...fields].flatMap(([key, field]): readonly Damage[] => {
		const value = data[key];
		// A row may be older than the field, whose default then answers for it.
		if (value === undefined) return [];
		const expected = types.mismatch(type.name, field, value);
		if (expected === null) return [];
		// A natural key may be an e-mail address, which a report must not contain.
		const got = naturalKeys.has(key) ? "something else" : describeValue(value);
		return [
			{
				...damageOf(reader, id, data),
				kind: "wrong type",
				part: field,
				description: `${nameOfObject(reader.store.model, id)}: ${field} must be ${expected}, got ${got}`,
			},
		];
	});
}

/** Whether the objects that references lead to exist. */
async function checkTargets(
	reader: Reader,
	type: ObjectType,
	active: readonly ActiveObject[],
): Promise<readonly Damage[]> {
	const contents = await reader.contents(
		active.flatMap(({ references }) => [...references.values()]),
	);
	return active.flatMap(({ id, data, references }) =>
		type.references.flatMap(({ key, field }): readonly Damage[] => {
			const target = references.get(key);
			if (target === undefined || contents.get(target) !== "absent") return [];
			return [
				{
					...damageOf(reader, id, data),
					kind: "reference to nothing",
					part: field,
					description: `${type.name} ${id}: its ${field} ${target} does not exist`,
				},
			];
		}),
	);
}
