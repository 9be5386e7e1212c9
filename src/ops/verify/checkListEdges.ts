import { isOnList, sequenceByContent } from "../../graph/store/derivedLists.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping, ObjectType } from "../../model/types.ts";
import { edgeName } from "../../storage/keys.ts";
import { type Edge, PRESENT } from "../../storage/rows.ts";
import type { JsonObject } from "../../util/json.ts";
import type { Damage, DamageKind } from "./damage.ts";
import { edgeTopic } from "./pendingEntries.ts";
import { describeEdge, placeOfEdge } from "./places.ts";
import { type Reader, UNREAD } from "./reader.ts";
import { isIdOfRow, readReference } from "./references.ts";
import { repairListEdge, restoreReference } from "./repair/repairListEdge.ts";
import {
	bookkeepingProblem,
	isActiveContent,
	stateProblem,
	versionOf,
} from "./storedContent.ts";

/** Edges of lists that are derived from a reference, or from the beginnings of names. `checkLists` finds those that are missing. */
export async function checkListEdges(
	reader: Reader,
	mapping: Mapping,
	edges: readonly Edge[],
): Promise<readonly Damage[]> {
	const { inverse } = mapping;
	const { store } = reader;
	const type = store.model.objects.get(mapping.to) as ObjectType;
	const reference =
		inverse?.kind === "reference"
			? type.references.find(({ key }) => key === inverse.key)
			: undefined;
	const contents = await reader.contents(
		edges.flatMap(({ from, to }) =>
			reference === undefined ? [to] : [from, to],
		),
	);
	return edges.flatMap((edge): readonly Damage[] => {
		const { from, to } = edge;
		const data = contents.get(to) ?? "absent";
		if (data === UNREAD || data === "not JSON") return [];
		const damage = {
			subject: `edge ${edgeName(mapping, edge)}`,
			...placeOfEdge(mapping, edge),
			evidence: JSON.stringify([edge, data, contents.get(from) === "absent"]),
			topics: [edgeTopic(mapping.name, from, to), to],
			repair: () => repairListEdge(store, { mapping, from }, to),
		};
		const found = (kind: Damage["kind"], what: string): readonly Damage[] => [
			{
				...damage,
				kind,
				description: `${describeEdge(mapping, edge)}; ${what}`,
			},
		];
		const isPresent = edge.state === PRESENT;
		if (data === "absent") {
			return isPresent ? found("edge to nothing", `${to} does not exist`) : [];
		}
		// These are reported as damage of the object, and say nothing about its lists.
		if (stateProblem(data) !== null || bookkeepingProblem(data) !== null) {
			return [];
		}
		if (isPresent && !isActiveContent(data)) {
			return found("object not of list", "it is deleted");
		}
		const isOther =
			reference === undefined
				? !isOnList(store, mapping, data, from)
				: data[reference.key] !== from;
		if (isPresent && isOther) {
			if (reference === undefined) {
				return found("object not of list", "its names begin otherwise");
			}
			const read = readReference(store, type, reference, data);
			if (!("problem" in read) || contents.get(from) === "absent") {
				const target =
					"target" in read ? (read.target ?? "nothing") : "nothing";
				return found(
					"object not of list",
					`its ${reference.field} is ${target}`,
				);
			}
			return [
				{
					...damage,
					kind: "reference lost",
					description: `${describeEdge(mapping, edge)}; ${read.problem}`,
					repair: () =>
						restoreReference(store, type, reference, to, from as Id),
				},
			];
		}
		const wrong = isPresent ? placeProblem(mapping, edge, data) : null;
		if (wrong !== null) return found(...wrong);
		const own = versionOf(data);
		return edge.version <= own
			? []
			: found("edge ahead of object", `its object has version ${own}`);
	});
}

/** What is wrong with where an edge stands in a list whose order follows from its objects; null for nothing. A damaged reference is reported with its object. */
function placeProblem(
	mapping: Mapping,
	{ sequence }: Edge,
	data: JsonObject,
): readonly [DamageKind, string] | null {
	const by = mapping.groupedBy ?? mapping.orderedBy;
	if (by === undefined) return null;
	const value = data[by.key] ?? null;
	if (mapping.groupedBy !== undefined) {
		if (value === null) return ["object not of list", `it has no ${by.field}`];
		if (!isIdOfRow(value)) return null;
	}
	const expected = sequenceByContent(mapping, data);
	return sequence === expected
		? null
		: [
				"wrong edge number",
				`sequence ${sequence}, expected ${expected} for its ${by.field} ${value}`,
			];
}
