import type { RecordSourceSelectorProxy } from "relay-runtime";

/** Where an object of a list goes: before or after another one, or to the top. */
export type Place =
	| { readonly before: string }
	| { readonly after: string }
	| "top";

/** Where the object at `index` goes to be one place earlier (-1) or later (1) in a list of ids. */
export function step(
	ids: readonly string[],
	index: number,
	by: -1 | 1,
): Place | null {
	const beside = ids[index + by];
	if (beside === undefined) return null;
	return by === -1 ? { before: beside } : { after: beside };
}

/** Moves an edge within a connection of the store, as the server moves it in the list. */
export function reorder(
	store: RecordSourceSelectorProxy,
	connection: string,
	id: string,
	place: Place,
): void {
	const record = store.get(connection);
	const edges = record?.getLinkedRecords("edges") ?? [];
	const nodeOf = (edge: (typeof edges)[number]) =>
		edge?.getLinkedRecord("node")?.getDataID();
	const moved = edges.find((edge) => nodeOf(edge) === id);
	if (!record || !moved) return;
	const others = edges.filter((edge) => edge !== moved);
	const beside = place === "top" ? null : Object.values(place)[0];
	const at = others.findIndex((edge) => nodeOf(edge) === beside);
	if (place !== "top" && at === -1) return;
	others.splice(place === "top" ? 0 : "after" in place ? at + 1 : at, 0, moved);
	record.setLinkedRecords(others, "edges");
}
