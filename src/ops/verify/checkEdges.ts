import { mappingNamed } from "../../graph/outbox/entry.ts";
import { isOldRemoved } from "../../graph/write/purge.ts";
import { unpackId } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { shardInIds } from "../../storage/feedShards.ts";
import { edgeName } from "../../storage/keys.ts";
import {
	type Edge,
	type EdgeKey,
	PRESENT,
	REMOVED,
} from "../../storage/rows.ts";
import { checkListEdges } from "./checkListEdges.ts";
import type { Damage } from "./damage.ts";
import { edgeTopic, linksTopic } from "./pendingEntries.ts";
import { describeEdge, describeState, placeOfEdge } from "./places.ts";
import { type Reader, UNREAD } from "./reader.ts";
import { endsOfOtherTypes, hasSoundNumbers, isIdOfRow } from "./references.ts";
import { repairEdgePair } from "./repair/repairEdgePair.ts";
import { repairListEdge } from "./repair/repairListEdge.ts";

/** Compares edges of one mapping with their inverse edges, or with the references they derive from. */
export async function checkEdges(
	reader: Reader,
	mapping: Mapping,
	edges: readonly Edge[],
): Promise<readonly Damage[]> {
	const { model } = reader.store;
	const damages: Damage[] = [];
	const sound: Edge[] = [];
	for (const edge of edges) {
		const found = ownDamage(reader, mapping, edge);
		if (found === "none") sound.push(edge);
		else if (found !== "nothing to compare") damages.push(found);
	}
	return [...damages, ...(await checkAgainstOther())];

	function checkAgainstOther(): Promise<readonly Damage[]> {
		if (mapping.prefixKeys !== null) {
			return checkListEdges(reader, mapping, sound);
		}
		switch (mapping.inverse?.kind) {
			case "reference":
				return checkListEdges(reader, mapping, sound);
			case "source":
				return checkInverses(
					reader,
					mapping,
					mappingNamed(model, mapping.inverse.mapping),
					sound,
				);
			case "target":
				return checkSources(
					reader,
					mapping,
					mappingNamed(model, mapping.inverse.mapping),
					sound,
				);
			default:
				return checkSources(reader, mapping, null, sound);
		}
	}
}

/** An edge on another shard than its list's. No request reads it. */
export function misplacedEdge(
	mapping: Mapping,
	edge: Edge,
	shard: number,
): Damage | null {
	if (unpackId(edge.from).shard === shardInIds(shard)) return null;
	return {
		kind: "misplaced row",
		subject: edgeSubject({ mapping, ...edge }),
		description: `${describeEdge(mapping, edge)}; the list belongs to shard ${unpackId(edge.from).shard}`,
		...placeOfEdge(mapping, edge, shard),
		evidence: "",
		topics: [],
	};
}

export function edgeSubject({ mapping, from, to }: EdgeKey): string {
	return `edge ${edgeName(mapping, { from, to })}`;
}

/** What is wrong with an edge whatever it is compared with. */
function ownDamage(
	{ store }: Reader,
	mapping: Mapping,
	edge: Edge,
): Damage | "none" | "nothing to compare" {
	const { from, to, state, version, sequence } = edge;
	const isSound = hasSoundNumbers(edge);
	const others = isSound ? endsOfOtherTypes(store.model, mapping, edge) : [];
	if (isSound && others.length === 0) return "none";
	// So a repair leaves an edge to another type.
	if (isSound && state === REMOVED) return "nothing to compare";
	return {
		kind: isSound ? "edge to another type" : "wrong edge number",
		subject: edgeSubject({ mapping, ...edge }),
		description: isSound
			? `${describeEdge(mapping, edge)}; ${others.join(", ")}`
			: `${mapping.name} ${from} → ${to}: state ${state}, version ${version}, sequence ${sequence}`,
		...placeOfEdge(mapping, edge),
		evidence: JSON.stringify(edge),
		topics: [edgeTopic(mapping.name, from, to)],
		repair: () => repairEdge(mapping, edge),
	};

	function repairEdge(mapping: Mapping, { from, to }: Edge): Promise<void> {
		const { inverse, prefixKeys } = mapping;
		if (inverse?.kind === "reference" || prefixKeys !== null) {
			return repairListEdge(store, { mapping, from }, to);
		}
		if (inverse === null) {
			return repairEdgePair(store, mapping, null, from, to);
		}
		const other = mappingNamed(store.model, inverse.mapping);
		return inverse.kind === "target"
			? repairEdgePair(store, mapping, other, from, to)
			: repairEdgePair(store, other, mapping, to, from);
	}
}

async function checkSources(
	reader: Reader,
	mapping: Mapping,
	inverse: Mapping | null,
	edges: readonly Edge[],
): Promise<readonly Damage[]> {
	const { store } = reader;
	const contents = await reader.contents(
		edges.flatMap(({ from, to }) => [from, to]).filter(isIdOfRow),
	);
	const inverses =
		inverse === null
			? []
			: await reader.edges(
					edges.map(({ from, to }) => ({
						mapping: inverse,
						from: to,
						to: from,
					})),
				);
	return edges.flatMap((edge, at): readonly Damage[] => {
		const { from, to } = edge;
		const back = inverses[at] ?? null;
		const missing = [from, to].find((id) => contents.get(id) === "absent");
		const damage = {
			subject: edgeSubject({ mapping, ...edge }),
			...placeOfEdge(mapping, edge),
			evidence: JSON.stringify([edge, back, missing]),
			topics: [
				edgeTopic(mapping.name, from, to),
				linksTopic(mapping.name, from),
				...(inverse === null ? [] : [edgeTopic(inverse.name, to, from)]),
			],
			repair: () => repairEdgePair(store, mapping, inverse, from, to),
		};
		if (missing !== undefined && edge.state === PRESENT) {
			const description = `${describeEdge(mapping, edge)}; ${missing} does not exist`;
			return [{ ...damage, kind: "edge to nothing", description }];
		}
		if (inverse === null || back === UNREAD) return [];
		if (back === null) {
			// The purge deletes the inverse of a pair first.
			if (isOldRemoved(edge)) return [];
			const description = describeEdge(mapping, edge);
			return [{ ...damage, kind: "inverse missing", description }];
		}
		// An inverse whose numbers do not exist is damage of its own.
		if (!hasSoundNumbers(back)) return [];
		const description = `${describeEdge(mapping, edge)}; its inverse edge: ${describeState(back)}`;
		return describeState(back) === describeState(edge)
			? []
			: [{ ...damage, kind: "inverse differs", description }];
	});
}

async function checkInverses(
	reader: Reader,
	mapping: Mapping,
	source: Mapping,
	edges: readonly Edge[],
): Promise<readonly Damage[]> {
	const { store } = reader;
	const sources = await reader.edges(
		edges.map(({ from, to }) => ({ mapping: source, from: to, to: from })),
	);
	return edges
		.filter((_, at) => sources[at] === null)
		.map((edge) => ({
			kind: "inverse without source",
			subject: edgeSubject({ mapping, ...edge }),
			description: describeEdge(mapping, edge),
			...placeOfEdge(mapping, edge),
			evidence: JSON.stringify(edge),
			topics: [
				edgeTopic(mapping.name, edge.from, edge.to),
				edgeTopic(source.name, edge.to, edge.from),
				linksTopic(source.name, edge.to),
			],
			repair: () => repairEdgePair(store, source, mapping, edge.to, edge.from),
		}));
}
