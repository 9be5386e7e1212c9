import { mappingOf } from "../../graph/outbox/entry.ts";
import { valuesOrThrow } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { type Edge, PRESENT } from "../../storage/storage.ts";
import type { Damage } from "./damage.ts";
import { edgeTopic, linksTopic } from "./pendingEntries.ts";
import { repairEdgePair, repairListEdge } from "./repair.ts";
import {
	isActiveContent,
	readContents,
	type StoredContent,
	versionOf,
} from "./storedContent.ts";

/** Compares edges of one mapping with their inverse edges, or with the references they derive from. */
export async function checkEdges(
	store: Store,
	mapping: Mapping,
	edges: readonly Edge[],
): Promise<readonly Damage[]> {
	switch (mapping.inverse?.kind) {
		case "reference":
			return checkDerived(store, mapping, edges);
		case "source":
			return checkInverses(
				store,
				mapping,
				mappingOf(store.model, mapping.inverse.mapping),
				edges,
			);
		case "target":
			return checkSources(
				store,
				mapping,
				mappingOf(store.model, mapping.inverse.mapping),
				edges,
			);
		default:
			return checkSources(store, mapping, null, edges);
	}
}

async function checkSources(
	store: Store,
	mapping: Mapping,
	inverse: Mapping | null,
	edges: readonly Edge[],
): Promise<readonly Damage[]> {
	const contents = await readContents(
		store.storage,
		edges.flatMap(({ from, to }) => [from, to]),
	);
	const inverses =
		inverse === null
			? []
			: valuesOrThrow(
					await store.storage.readEdges(
						edges.map(({ from, to }) => ({
							mapping: inverse,
							from: to,
							to: from,
						})),
					),
				);
	return edges.flatMap((edge, at): readonly Damage[] => {
		const { from, to } = edge;
		const back = inverses[at] ?? null;
		const damage = {
			topics: [
				edgeTopic(mapping.name, from, to),
				linksTopic(mapping.name, from),
				...(inverse === null ? [] : [edgeTopic(inverse.name, to, from)]),
			],
			repair: () => repairEdgePair(store, mapping, inverse, from, to),
		};
		const [missing] = [from, to].filter((id) => isAbsent(contents, id));
		if (missing !== undefined && edge.state === PRESENT) {
			const description = `${describeEdge(mapping, edge)}; ${missing} does not exist`;
			return [{ kind: "edge to nothing", description, ...damage }];
		}
		if (inverse === null) return [];
		if (back === null) {
			return [
				{
					kind: "inverse missing",
					description: describeEdge(mapping, edge),
					...damage,
				},
			];
		}
		const description = `${describeEdge(mapping, edge)}; its inverse edge: ${describeState(back)}`;
		return describeState(back) === describeState(edge)
			? []
			: [{ kind: "inverse differs", description, ...damage }];
	});
}

async function checkInverses(
	store: Store,
	mapping: Mapping,
	source: Mapping,
	edges: readonly Edge[],
): Promise<readonly Damage[]> {
	const keys = edges.map(({ from, to }) => ({
		mapping: source,
		from: to,
		to: from,
	}));
	const sources = valuesOrThrow(await store.storage.readEdges(keys));
	return edges
		.filter((_, at) => sources[at] === null)
		.map((edge) => ({
			kind: "inverse without source",
			description: describeEdge(mapping, edge),
			topics: [
				edgeTopic(mapping.name, edge.from, edge.to),
				edgeTopic(source.name, edge.to, edge.from),
				linksTopic(source.name, edge.to),
			],
			repair: () => repairEdgePair(store, source, mapping, edge.to, edge.from),
		}));
}

/** Edges of lists that are derived from a reference. `checkObjects` finds those that are missing. */
async function checkDerived(
	store: Store,
	mapping: Mapping,
	edges: readonly Edge[],
): Promise<readonly Damage[]> {
	if (mapping.inverse?.kind !== "reference") return [];
	const { key } = mapping.inverse;
	const contents = await readContents(
		store.storage,
		edges.map(({ to }) => to),
	);
	return edges.flatMap((edge): readonly Damage[] => {
		const { from, to } = edge;
		const data = contents.get(to) ?? "absent";
		if (data === "not JSON") return [];
		const damage = {
			topics: [edgeTopic(mapping.name, from, to), to],
			repair: () => repairListEdge(store, { mapping, from }, to),
		};
		if (edge.state === PRESENT && data === "absent") {
			const description = `${describeEdge(mapping, edge)}; ${to} does not exist`;
			return [{ kind: "edge to nothing", description, ...damage }];
		}
		if (data === "absent") return [];
		if (
			edge.state === PRESENT &&
			!(isActiveContent(data) && data[key] === from)
		) {
			const description = isActiveContent(data)
				? `${describeEdge(mapping, edge)}; it references ${String(data[key])}`
				: `${describeEdge(mapping, edge)}; it is deleted`;
			return [{ kind: "object not of list", description, ...damage }];
		}
		const own = versionOf(data);
		if (edge.version <= own) return [];
		const description = `${describeEdge(mapping, edge)}; its object has version ${own}`;
		return [{ kind: "edge ahead of object", description, ...damage }];
	});
}

/** The owner of a list of the whole graph is not an object. */
function isAbsent(contents: ReadonlyMap<Id, StoredContent>, id: Id): boolean {
	return contents.get(id) === "absent" && unpackId(id).local !== 0;
}

function describeEdge(mapping: Mapping, edge: Edge): string {
	return `${mapping.name} ${edge.from} → ${edge.to}: ${describeState(edge)}`;
}

function describeState({ state, version, sequence }: Edge): string {
	const is = state === PRESENT ? "present" : "removed";
	return `${is}, version ${version}, sequence ${sequence}`;
}
