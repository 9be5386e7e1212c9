import { applyEdges } from "../../../graph/outbox/parts/edgeUpdates.ts";
import {
	isOnList,
	sequenceByContent,
} from "../../../graph/store/derivedLists.ts";
import { readDecisive } from "../../../graph/store/readUncached.ts";
import type { Store } from "../../../graph/store/store.ts";
import { WritePipeline } from "../../../graph/write/pipeline.ts";
import type { Id } from "../../../id/ids.ts";
import type { ObjectType, Reference } from "../../../model/types.ts";
import { isStoredNumber } from "../../../storage/order.ts";
import { type ListKey, PRESENT, REMOVED } from "../../../storage/rows.ts";
import {
	endsOfOtherTypes,
	hasSoundNumbers,
	readReference,
} from "../references.ts";
import { isActiveContent, readContents, versionOf } from "../storedContent.ts";
import { overwriteEdge } from "./repairList.ts";
import { changeContent, unreadable } from "./repairObject.ts";

/** Makes an edge of a derived list agree with its object. If the edge has the greater version, the object's version is raised first. */
export async function repairListEdge(
	store: Store,
	{ mapping, from }: ListKey,
	id: Id,
): Promise<void> {
	const key = { mapping, from, to: id };
	const [edge = null] = await readDecisive(store.storage, "edges", [key]);
	const isOfTypes = endsOfOtherTypes(store.model, mapping, key).length === 0;
	const data = isOfTypes
		? ((await readContents(store.storage, [id])).get(id) ?? "absent")
		: "absent";
	if (data === "not JSON") throw unreadable(id);
	const isMember =
		isActiveContent(data) && isOnList(store, mapping, data, from);
	const state = isMember ? PRESENT : REMOVED;
	const ownSequence = isMember ? sequenceByContent(mapping, data) : null;
	if (edge === null && state === REMOVED) return;
	const ownVersion = data === "absent" ? 0 : versionOf(data);
	if (edge !== null && !hasSoundNumbers(edge)) {
		const sequence =
			ownSequence ??
			(isStoredNumber(edge.sequence) ? edge.sequence : Date.now() * 1_000);
		await overwriteEdge(store, key, { state, version: ownVersion, sequence });
		return;
	}
	const isRight =
		edge?.state === state &&
		(ownSequence === null || edge.sequence === ownSequence);
	const needed = edge === null ? ownVersion : edge.version + Number(!isRight);
	const version = Math.max(ownVersion, needed);
	if (data !== "absent" && version > ownVersion) {
		await changeContent(store, id, (now) => ({
			...now,
			version: Math.max(version, versionOf(now)),
		}));
	}
	if (isRight) return;
	await applyEdges(new WritePipeline(store), [
		{
			mapping: mapping.name,
			from,
			to: id,
			state,
			version,
			sequence: ownSequence,
		},
	]);
}

/** Takes an object's damaged reference from a list that has the object. */
export async function restoreReference(
	store: Store,
	type: ObjectType,
	reference: Reference,
	id: Id,
	from: Id,
): Promise<void> {
	await changeContent(store, id, (now) =>
		"problem" in readReference(store, type, reference, now)
			? { ...now, [reference.key]: from, version: versionOf(now) + 1 }
			: now,
	);
}
