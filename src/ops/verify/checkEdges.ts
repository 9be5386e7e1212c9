import { mappingOf } from "../../graph/outbox/entry.ts";
import type { Store } from "../../graph/store/store.ts";
import { valuesOrThrow } from "../../graph/store/unwrap.ts";
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

/** What is wrong with edges of one mapping, held against what tells the same fact. */
export async function checkEdges(
	store: Store,
	mapping: Mapping,
	edges: readonly Edge[],
): Promise<readonly Damage[]> {
	switch (mapping.inverse?.kind) {
		case "reference":
			return checkFollowing(store, mapping, edges);
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
			about: [
				edgeTopic(mapping.name, from, to),
				linksTopic(mapping.name, from),
				...(inverse === null ? [] : [edgeTopic(inverse.name, to, from)]),
			],
			mend: () => repairEdgePair(store, mapping, inverse, from, to),
		};
		const [missing] = [from, to].filter((id) => isAbsent(contents, id));
		if (missing !== undefined && edge.state === PRESENT) {
			const what = `${describeEdge(mapping, edge)}; ${missing} is not there`;
			return [{ kind: "edge to nothing", what, ...damage }];
		}
		if (inverse === null) return [];
		if (back === null) {
			return [
				{
					kind: "inverse missing",
					what: describeEdge(mapping, edge),
					...damage,
				},
			];
		}
		const what = `${describeEdge(mapping, edge)}; its inverse: ${describeState(back)}`;
		return describeState(back) === describeState(edge)
			? []
			: [{ kind: "inverse differs", what, ...damage }];
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
			what: describeEdge(mapping, edge),
			about: [
				edgeTopic(mapping.name, edge.from, edge.to),
				edgeTopic(source.name, edge.to, edge.from),
				linksTopic(source.name, edge.to),
			],
			mend: () => repairEdgePair(store, source, mapping, edge.to, edge.from),
		}));
}

/** Edges that should be there but are not are found by their objects: `checkObjects`. */
async function checkFollowing(
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
			about: [edgeTopic(mapping.name, from, to), to],
			mend: () => repairListEdge(store, { mapping, from }, to),
		};
		if (edge.state === PRESENT && data === "absent") {
			const what = `${describeEdge(mapping, edge)}; ${to} is not there`;
			return [{ kind: "edge to nothing", what, ...damage }];
		}
		if (data === "absent") return [];
		if (
			edge.state === PRESENT &&
			!(isActiveContent(data) && data[key] === from)
		) {
			const what = isActiveContent(data)
				? `${describeEdge(mapping, edge)}; it names ${String(data[key])}`
				: `${describeEdge(mapping, edge)}; it is gone`;
			return [{ kind: "stranger on list", what, ...damage }];
		}
		const own = versionOf(data);
		if (edge.version <= own) return [];
		const what = `${describeEdge(mapping, edge)}; the object has version ${own}`;
		return [{ kind: "edge ahead of object", what, ...damage }];
	});
}

/** The root of a list of the whole graph is no object. */
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
