import type { Id } from "../../id/ids.ts";
import { globalListId, type Mapping, type Model } from "../../model/types.ts";
import { isStoredNumber } from "../../storage/order.ts";
import { type Edge, PRESENT, REMOVED } from "../../storage/storage.ts";
import { typeName } from "./places.ts";
import { isIdOfRow } from "./references.ts";

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
