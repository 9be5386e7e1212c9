import { applyEdges } from "../../../graph/outbox/parts/edgeUpdates.ts";
import { readDecisive } from "../../../graph/store/readUncached.ts";
import type { Store } from "../../../graph/store/store.ts";
import { WritePipeline } from "../../../graph/write/pipeline.ts";
import type { Id } from "../../../id/ids.ts";
import type { Mapping } from "../../../model/types.ts";
import { isStoredNumber } from "../../../storage/order.ts";
import {
	type Edge,
	type EdgeKey,
	PRESENT,
	REMOVED,
} from "../../../storage/rows.ts";
import { describeState } from "../places.ts";
import { endsOfOtherTypes, hasSoundNumbers, isIdOfRow } from "../references.ts";
import { readContents } from "../storedContent.ts";
import { overwriteEdge } from "./repairList.ts";

/** State, version and sequence: what an edge and its inverse have in common. */
type EdgeContent = Pick<Edge, "state" | "version" | "sequence">;

/** A write beside the repair may give the source the version that the repair chose: then the pair is compared again. */
const ATTEMPTS = 3;

/**
 * Makes an edge and its inverse equal. The greater version wins; at equal
 * versions the source edge wins, with its version raised. Both are removed if
 * one of the objects does not exist or is of another type. The source is written
 * first, and the inverse gets what the source then is, so that two different
 * edges never get one version.
 */
export async function repairEdgePair(
	store: Store,
	source: Mapping,
	inverse: Mapping | null,
	from: Id,
	to: Id,
): Promise<void> {
	const sourceKey = { mapping: source, from, to };
	const inverseKey =
		inverse === null ? null : { mapping: inverse, from: to, to: from };
	const keys = [sourceKey, ...(inverseKey === null ? [] : [inverseKey])];
	const isOfTypes =
		endsOfOtherTypes(store.model, source, { from, to }).length === 0;
	const contents = await readContents(
		store.storage,
		[from, to].filter(isIdOfRow),
	);
	const canExist =
		isOfTypes && [from, to].every((id) => contents.get(id) !== "absent");
	for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
		const edges = await readDecisive(store.storage, "edges", keys);
		const [sourceEdge = null, inverseEdge = null] = edges;
		const wanted = wantedEdge(edges, canExist, inverse !== null);
		if (wanted === null) return;
		// An edge that never was need not be written to be removed.
		const isNeeded = (edge: Edge | null) => edge !== null || isOfTypes;
		if (isNeeded(sourceEdge)) {
			await writeEdge(store, sourceKey, sourceEdge, wanted);
		}
		if (inverseKey === null || !isNeeded(inverseEdge)) continue;
		const [written = null] = await readDecisive(store.storage, "edges", [
			sourceKey,
		]);
		await writeEdge(store, inverseKey, inverseEdge, written ?? wanted);
	}
}

/** Null if nothing has to be repaired. */
function wantedEdge(
	edges: readonly (Edge | null)[],
	canExist: boolean,
	isPair: boolean,
): EdgeContent | null {
	const existing = edges.filter((edge) => edge !== null);
	const sound = existing.filter(hasSoundNumbers);
	if (existing.length === 0) return null;
	const isSound = sound.length === existing.length;
	const versions = existing.map(({ version }) => version);
	const nextVersion = Math.max(0, ...versions.filter(isStoredNumber)) + 1;
	const isRemoved = isSound && sound.every(({ state }) => state === REMOVED);
	if (!canExist && !isRemoved) {
		// The sequence of a removed edge is the time of its removal.
		const sequence = Date.now() * 1_000;
		return { state: REMOVED, version: nextVersion, sequence };
	}
	if (!isSound) return { ...contentOf(sound, existing), version: nextVersion };
	const [source = null, inverse = null] = edges;
	if (!isPair) return null;
	if (source === null || inverse === null) return source ?? inverse;
	if (source.version !== inverse.version) {
		return source.version > inverse.version ? source : inverse;
	}
	return describeState(source) === describeState(inverse)
		? null
		: { ...source, version: nextVersion };
}

/** That of a sound edge; else what is sound in a damaged one. An edge whose state nobody knows is removed. */
function contentOf(
	[sound]: readonly Edge[],
	existing: readonly Edge[],
): Omit<EdgeContent, "version"> {
	if (sound !== undefined) return sound;
	return {
		state: existing.some(({ state }) => state === PRESENT) ? PRESENT : REMOVED,
		sequence:
			existing.map(({ sequence }) => sequence).find(isStoredNumber) ??
			Date.now() * 1_000,
	};
}

async function writeEdge(
	store: Store,
	{ mapping, from, to }: EdgeKey,
	old: Edge | null,
	{ state, version, sequence }: EdgeContent,
): Promise<void> {
	if (old !== null && !hasSoundNumbers(old)) {
		const content = { state, version, sequence };
		await overwriteEdge(store, { mapping, from, to }, content);
		return;
	}
	await applyEdges(new WritePipeline(store), [
		{ mapping: mapping.name, from, to, state, version, sequence },
	]);
}
