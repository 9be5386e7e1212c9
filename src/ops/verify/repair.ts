import { applyEdges } from "../../graph/outbox/edgeUpdates.ts";
import type { EdgeUpdate } from "../../graph/outbox/entry.ts";
import { newToken, reservationsOf } from "../../graph/outbox/naturalKeys.ts";
import type { Store } from "../../graph/store/store.ts";
import { valuesOrThrow } from "../../graph/store/unwrap.ts";
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
 * Repairs, each of one thing, each reading anew what it mends. They are made
 * of the same steps as writes, applied by version and by compare-and-set, so
 * one that was broken off or meets a write does no harm: it is found again.
 */

/** An edge and its inverse: the greater version wins; of equal ones that differ the source's, raised. Without both objects, both are removed. */
export async function repairEdgePair(
	store: Store,
	source: Mapping,
	inverse: Mapping | null,
	from: Id,
	to: Id,
): Promise<void> {
	const keys = [{ mapping: source, from, to }];
	if (inverse !== null) keys.push({ mapping: inverse, from: to, to: from });
	const [told = null, back = null] = valuesOrThrow(
		await store.storage.readEdges(keys),
	);
	const contents = await readContents(store.storage, [from, to]);
	const isWhole = [from, to].every(
		(id) => unpackId(id).local === 0 || contents.get(id) !== "absent",
	);
	const truth = isWhole ? truthOf(told, back) : removedAfter(told, back);
	if (truth === null) return;
	const { state, version, sequence } = truth;
	for (const { mapping, from, to } of keys) {
		const edge = { mapping: mapping.name, from, to, state, version, sequence };
		await applyEdges(new WritePipeline(store), [edge]);
	}
}

function truthOf(source: Edge | null, inverse: Edge | null): Edge | null {
	if (source === null || inverse === null) return source ?? inverse;
	if (source.version !== inverse.version) {
		return source.version > inverse.version ? source : inverse;
	}
	const same =
		source.state === inverse.state && source.sequence === inverse.sequence;
	return same ? source : { ...source, version: source.version + 1 };
}

function removedAfter(a: Edge | null, b: Edge | null): Edge | null {
	const edge = a ?? b;
	if (edge === null) return null;
	const version = Math.max(a?.version ?? 0, b?.version ?? 0) + 1;
	return { ...edge, state: REMOVED, version };
}

/** An edge of a list that follows a reference: as the object has it. Where the edge is ahead, the object's version is raised first. */
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
	const names = isActiveContent(data) && data[mapping.inverse.key] === from;
	const state = names ? PRESENT : REMOVED;
	if (edge === null && state === REMOVED) return;
	const own = data === "absent" ? 0 : versionOf(data);
	const needed =
		edge === null ? own : edge.version + Number(edge.state !== state);
	const version = Math.max(own, needed);
	if (data !== "absent" && version > own) {
		await changeContent(store, id, (now) => ({
			...now,
			version: Math.max(version, versionOf(now)),
		}));
	}
	if (edge?.state === state) return;
	const owed: EdgeUpdate = {
		mapping: mapping.name,
		from,
		to: id,
		state,
		version,
		sequence: null,
	};
	await applyEdges(new WritePipeline(store), [owed]);
}

/** A list's own row, by counting its edges under its lock. */
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

/** A lookup row that nothing holds. */
export async function deleteLookup(
	store: Store,
	row: LookupRow,
): Promise<void> {
	const { name, key, id, token } = row;
	valuesOrThrow(
		await store.compareAndSetLookups([
			{ name, key, expect: { id, token: token }, next: null },
		]),
	);
}

/** A natural key of a living object: its row is made, or taken over from one that does not hold it. */
export async function repairNaturalKey(
	store: Store,
	id: Id,
	name: string,
): Promise<void> {
	const contents = await readContents(store.storage, [id]);
	const data = contents.get(id);
	if (data === undefined || !isActiveContent(data)) return;
	const isClaimed = (now: JsonObject) =>
		reservationsOf(store, id, now).some((claim) => claim.name === name);
	const named = isClaimed(data)
		? data
		: await changeContent(store, id, (now) =>
				isClaimed(now)
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
	for (const claim of reservationsOf(store, id, named)) {
		if (claim.name !== name) continue;
		const [row = null] = valuesOrThrow(
			await store.storage.readLookups([claim]),
		);
		if (row !== null && (await holds(store, row))) {
			if (row.id === id) return;
			throw new Error(`${row.id} holds it too`);
		}
		valuesOrThrow(
			await store.compareAndSetLookups([
				{
					name,
					key: claim.key,
					expect: row === null ? null : { id: row.id, token: row.token },
					next: { id, token: claim.token },
				},
			]),
		);
	}
}

/** Whether the object a row leads to claims that key with that token. */
async function holds(store: Store, row: LookupRow): Promise<boolean> {
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
	return new Error(`${id} cannot be read`);
}
