import type { Store } from "../../graph/store/store.ts";
import { type Id, parseId, unpackId } from "../../id/ids.ts";
import {
	globalListId,
	type Mapping,
	type Model,
	type ObjectType,
	type Reference,
} from "../../model/types.ts";
import { isStoredNumber } from "../../storage/order.ts";
import { type Edge, PRESENT, REMOVED } from "../../storage/rows.ts";
import type { JsonObject } from "../../util/json.ts";
import { typeName } from "./places.ts";
import { describeValue } from "./storedContent.ts";

/** The object a reference leads to; null for none if there need be none; or what is wrong with it, as `its owner is not an id ("abc")`. */
type ReferenceReading =
	| { readonly target: Id | null }
	| { readonly problem: string };

/** Reads a reference of an active object. Every object has the references that decide who sees it. */
export function readReference(
	{ model, domain }: Store,
	type: ObjectType,
	reference: Reference,
	data: JsonObject,
): ReferenceReading {
	const { field, key, target } = reference;
	const value = data[key] ?? null;
	if (value === null) {
		const { parent, owner } = domain.visibility.keysOf(type.name);
		return key === parent || key === owner
			? { problem: `its ${field} is missing` }
			: { target: null };
	}
	if (!isIdOfRow(value)) {
		return { problem: `its ${field} is not an id (${describeValue(value)})` };
	}
	const found = typeName(model, value);
	return found === target
		? { target: value }
		: {
				problem: `its ${field} ${value} is ${found === null ? "of no type" : `a ${found}`}, expected a ${target}`,
			};
}

/** Whether a stored value is an id that a row can have. */
export function isIdOfRow(value: unknown): value is Id {
	if (typeof value !== "string") return false;
	const id = parseId(value);
	return id !== "malformed" && id !== "reserved" && unpackId(id).local > 0;
}

/** Whether state, version and sequence are such as the program writes. */
export function hasSoundNumbers({ state, version, sequence }: Edge): boolean {
	return (
		(state === PRESENT || state === REMOVED) &&
		isStoredNumber(version) &&
		isStoredNumber(sequence)
	);
}

/** What is wrong with the types of an edge's ends, each as `123 is a Pin, expected a User`. */
export function endsOfOtherTypes(
	model: Model,
	mapping: Mapping,
	{ from, to }: Pick<Edge, "from" | "to">,
): readonly string[] {
	const wrong = (id: Id, expected: string) =>
		isIdOfRow(id) && typeName(model, id) === expected
			? []
			: [
					`${id} is ${withArticle(typeName(model, id))}, expected a ${expected}`,
				];
	if (mapping.prefixKeys !== null) {
		// The id of a prefix has the number of the type that its list leads to.
		return [...wrong(from, mapping.to), ...wrong(to, mapping.to)];
	}
	if (mapping.from === null) {
		const root = globalListId(model, mapping);
		return [
			...(from === root ? [] : [`${from} is not the list of the whole graph`]),
			...wrong(to, mapping.to),
		];
	}
	return [...wrong(from, mapping.from), ...wrong(to, mapping.to)];
}

function withArticle(type: string | null): string {
	return type === null ? "of no type" : `a ${type}`;
}
