import { derivedLists } from "../../graph/store/derivedLists.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import {
	keyOfContent,
	type Mapping,
	type ObjectType,
} from "../../model/types.ts";
import { PRESENT } from "../../storage/rows.ts";
import type { Damage } from "./damage.ts";
import { edgeTopic, targetTopic } from "./pendingEntries.ts";
import { placeOfEdge } from "./places.ts";
import { type ActiveObject, type Reader, UNREAD } from "./reader.ts";
import { repairListEdge } from "./repair/repairListEdge.ts";

interface WantedEdge {
	readonly mapping: Mapping;
	readonly from: Id;
	readonly to: Id;
	readonly object: ActiveObject;
}

/** Whether active objects are on the lists that follow from their content (`derivedLists`). */
export async function checkLists(
	reader: Reader,
	type: ObjectType,
	active: readonly ActiveObject[],
): Promise<readonly Damage[]> {
	const { store } = reader;
	const wanted = active.flatMap((object) => wantedEdges(store, type, object));
	const edges = await reader.edges(wanted);
	return wanted.flatMap(
		({ mapping, from, to, object }, at): readonly Damage[] => {
			const edge = edges[at] ?? null;
			if (edge === UNREAD || edge?.state === PRESENT) return [];
			const isGlobal = mapping.from === null && mapping.prefixKeys === null;
			return [
				{
					kind: "list lacks object",
					subject: `object ${to}`,
					description: isGlobal
						? `${mapping.name} lacks the ${type.name} ${to}`
						: `${mapping.name} of ${from} lacks the ${type.name} ${to}`,
					...placeOfEdge(mapping, { from, to }),
					evidence: JSON.stringify([object.data, edge]),
					topics: [
						edgeTopic(mapping.name, from, to),
						to,
						...(mapping.from === null ? targetTopics(type, object) : []),
					],
					repair: () => repairListEdge(store, { mapping, from }, to),
				},
			];
		},
	);
}

/** Without the lists of references that are damaged. */
function wantedEdges(
	store: Store,
	type: ObjectType,
	object: ActiveObject,
): readonly WantedEdge[] {
	const { id: to, data, references } = object;
	const isSound = ({ inverse, groupedBy }: Mapping, from: Id) =>
		inverse?.kind !== "reference" ||
		(references.get(inverse.key) === from &&
			(groupedBy === undefined || references.has(groupedBy.key)));
	return derivedLists(store, type, data)
		.filter(({ mapping, from }) => isSound(mapping, from))
		.map(({ mapping, from }) => ({ mapping, from, to, object }));
}

/** An object that a link created is put on its lists when the entry with the link is delivered. */
function targetTopics(
	type: ObjectType,
	{ data }: ActiveObject,
): readonly string[] {
	return type.lookups.flatMap((lookup) => {
		const key = keyOfContent(lookup, data);
		return key === null ? [] : [targetTopic(lookup.name, key)];
	});
}
