import { applyEdges } from "../../graph/outbox/edgeUpdates.ts";
import type { EdgeUpdate } from "../../graph/outbox/entry.ts";
import { newToken, reservationsOf } from "../../graph/outbox/naturalKeys.ts";
import { resolveReservations } from "../../graph/outbox/reservations.ts";
import { valuesOrThrow } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import {
	type Edge,
	type ListKey,
	type LookupRow,
	PRESENT,
	REMOVED,
} from "../../storage/storage.ts";
import type { JsonObject } from "../../util/json.ts";
import { isActiveContent, readContents, versionOf } from "./storedContent.ts";

/**
 * Each function here repairs one thing, and first reads it again. Repairs use
 * the same steps as writes, by version and by compare-and-set, so an interrupted
 * repair, or one beside a write, does no harm: the next `verify` finds the rest.
 */

/** Makes an edge and its inverse equal. The greater version wins; at equal versions the source edge wins, with its version raised. Both are removed if one of the objects does not exist. */
export async function repairEdgePair(
	store: Store,
	source: Mapping,
	inverse: Mapping | null,
	from: Id,
	to: Id,
): Promise<void> {
	const keys = [{ mapping: source, from, to }];
	if (inverse !== null) keys.push({ mapping: inverse, from: to, to: from });
	const [sourceEdge = null, inverseEdge = null] = valuesOrThrow(
		await store.storage.readEdges(keys),
	);
	const contents = await readContents(store.storage, [from, to]);
	const haveBothObjects = [from, to].every(
		(id) => unpackId(id).local === 0 || contents.get(id) !== "absent",
	);
	const repaired = haveBothObjects
		? latestOf(sourceEdge, inverseEdge)
		: removedEdge(sourceEdge, inverseEdge);
	if (repaired === null) return;
	const { state, version, sequence } = repaired;
	for (const { mapping, from, to } of keys) {
		const edge = { mapping: mapping.name, from, to, state, version, sequence };
		await applyEdges(new WritePipeline(store), [edge]);
	}
}

function latestOf(source: Edge | null, inverse: Edge | null): Edge | null {
	if (source === null || inverse === null) return source ?? inverse;
	if (source.version !== inverse.version) {
		return source.version > inverse.version ? source : inverse;
	}
	const same =
		source.state === inverse.state && source.sequence === inverse.sequence;
	return same ? source : { ...source, version: source.version + 1 };
}

function removedEdge(a: Edge | null, b: Edge | null): Edge | null {
	const edge = a ?? b;
	if (edge === null) return null;
	const version = Math.max(a?.version ?? 0, b?.version ?? 0) + 1;
	return { ...edge, state: REMOVED, version };
}

/** Makes an edge of a derived list agree with its object. If the edge has the greater version, the object's version is raised first. */
export async function repairListEdge(
	store: Store,
	{ mapping, from }: ListKey,
	id: Id,
): Promise<void> {
	if (mapping.inverse?.kind !== "reference") return;
	const [edge = null] = valuesOrThrow(
		await store.storage.readEdges([{ mapping, from, to: id }]),
	);
	const data = (await readContents(store.storage, [id])).get(id) ?? "absent";
	if (data === "not JSON") throw unreadable(id);
	const references =
		isActiveContent(data) && data[mapping.inverse.key] === from;
	const state = references ? PRESENT : REMOVED;
	if (edge === null && state === REMOVED) return;
	const ownVersion = data === "absent" ? 0 : versionOf(data);
	const needed =
		edge === null ? ownVersion : edge.version + Number(edge.state !== state);
	const version = Math.max(ownVersion, needed);
	if (data !== "absent" && version > ownVersion) {
		await changeContent(store, id, (now) => ({
			...now,
			version: Math.max(version, versionOf(now)),
		}));
	}
	if (edge?.state === state) return;
	const update: EdgeUpdate = {
		mapping: mapping.name,
		from,
		to: id,
		state,
		version,
		sequence: null,
	};
	await applyEdges(new WritePipeline(store), [update]);
}

/** Counts a list's edges under its lock, and writes the list's row. */
export async function repairListCount(
	store: Store,
	list: ListKey,
): Promise<void> {
	await new WritePipeline(store).transact({
		shard: unpackId(list.from).shard,
		lists: [list],
		decide: () => ({ result: null, recount: [list] }),
	});
}

/** Deletes a lookup row whose key no object has, once no change under way can come to have it. */
export async function deleteLookup(
	store: Store,
	row: LookupRow,
): Promise<void> {
	const writer = new WritePipeline(store);
	const failures = await resolveReservations(writer, [row]);
	for (const error of failures.values()) throw error;
}

/** Writes the lookup row of an active object's natural key. Replaces the row of an object that does not have the key. */
export async function repairNaturalKey(
	store: Store,
	id: Id,
	name: string,
): Promise<void> {
	const contents = await readContents(store.storage, [id]);
	const data = contents.get(id);
	if (data === undefined || !isActiveContent(data)) return;
	const isReserved = (now: JsonObject) =>
		reservationsOf(store, id, now).some(
			(reservation) => reservation.name === name,
		);
	const named = isReserved(data)
		? data
		: await changeContent(store, id, (now) =>
				isReserved(now)
					? now
					: {
							...now,
							tokens: {
								...(now.tokens as JsonObject | undefined),
								[name]: newToken(),
							},
							version: versionOf(now) + 1,
						},
			);
	for (const reservation of reservationsOf(store, id, named)) {
		if (reservation.name !== name) continue;
		const [row = null] = valuesOrThrow(
			await store.storage.readLookups([reservation]),
		);
		if (row !== null && (await hasKey(store, row))) {
			if (row.id === id) return;
			throw new Error(`${row.id} has the same key.`);
		}
		valuesOrThrow(
			await store.compareAndSetLookups([
				{
					name,
					key: reservation.key,
					expect: row === null ? null : { id: row.id, token: row.token },
					next: { id, token: reservation.token },
				},
			]),
		);
	}
}

/** Whether the object of a lookup row has that key with that token. */
async function hasKey(store: Store, row: LookupRow): Promise<boolean> {
	const data = (await readContents(store.storage, [row.id])).get(row.id);
	return (
		typeof data === "object" &&
		data.state !== "rejected" &&
		reservationsOf(store, row.id, data).some(
			({ name, key, token }) =>
				name === row.name && key === row.key && token === row.token,
		)
	);
}

async function changeContent(
	store: Store,
	id: Id,
	change: (data: JsonObject) => JsonObject,
): Promise<JsonObject> {
	const { result } = await new WritePipeline(store).transact<JsonObject>({
		shard: unpackId(id).shard,
		objects: [id],
		decide({ objects: [data] }) {
			if (data === null || data === undefined) throw unreadable(id);
			const next = change(data);
			return { result: next, objects: [{ id, data: next }] };
		},
	});
	return result;
}

function unreadable(id: Id): Error {
	return new Error(`${id} does not exist or is not JSON.`);
}
