import { fenceUnheld } from "../../../graph/outbox/fence.ts";
import {
	newToken,
	reservationsOf,
} from "../../../graph/outbox/parts/naturalKeys.ts";
import { resolveReservations } from "../../../graph/outbox/parts/reservations.ts";
import {
	readDecisive,
	valuesOrThrow,
} from "../../../graph/store/readUncached.ts";
import type { Store } from "../../../graph/store/store.ts";
import { WritePipeline } from "../../../graph/write/pipeline.ts";
import type { Id } from "../../../id/ids.ts";
import type { KeyPart, Lookup } from "../../../model/types.ts";
import type { LookupRow } from "../../../storage/rows.ts";
import type { JsonObject } from "../../../util/json.ts";
import { typeName } from "../places.ts";
import { isActiveContent, readContents, versionOf } from "../storedContent.ts";
import { giveFreeKey } from "./giveFreeKey.ts";
import { changeContent } from "./repairObject.ts";

/** Deletes a lookup row whose key no object has, once no change under way can come to have it. */
export async function deleteLookup(
	store: Store,
	row: LookupRow,
): Promise<void> {
	const { name, key, id, token } = row;
	const lookup = store.model.lookups.get(name);
	const type = typeName(store.model, id);
	if (lookup === undefined ? type !== null : type === lookup.type) {
		const writer = new WritePipeline(store);
		const failures = await resolveReservations(writer, [row]);
		for (const error of failures.values()) throw error;
		return;
	}
	// No change can: an object of another type, or of none, never has the key.
	valuesOrThrow(
		await new WritePipeline(store).compareAndSetLookups([
			{ name, key, expect: { id, token }, next: null },
		]),
	);
}

/**
 * Writes the lookup row of an active object's natural key. Replaces the row of an
 * object that does not have the key. If another object has it, the row decides
 * which of them keeps it.
 */
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
		const [row = null] = await readDecisive(store.storage, "lookups", [
			reservation,
		]);
		if (row?.id === id && row.token === reservation.token) return;
		const lookup = store.model.lookups.get(name);
		const type = lookup?.type ?? typeName(store.model, id);
		if (row !== null && row.id !== id && (await isKept(store, type, row))) {
			// The object of an idempotency key is the one that its row leads to.
			if (lookup === undefined) throw hasIdempotencyKey(row.id);
			await giveFreeKey(store, id, { lookup, key: reservation.key });
			return;
		}
		valuesOrThrow(
			await new WritePipeline(store).compareAndSetLookups([
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

/** Whether the object of a lookup row has that key. If not, no change under way can come to have it afterwards. */
async function isKept(
	store: Store,
	type: string | null,
	row: LookupRow,
): Promise<boolean> {
	if (typeName(store.model, row.id) !== type) return false;
	const writer = new WritePipeline(store);
	const { unheld, failures } = await fenceUnheld(writer, [row]);
	for (const error of failures.values()) throw error;
	return unheld.length === 0;
}

function hasIdempotencyKey(id: Id): Error {
	return new Error(`${id} has the same idempotency key.`);
}

/** Gives an object whose natural key is damaged the key of its lookup row, as it is normalized there. */
export async function restoreNaturalKey(
	store: Store,
	{ name, key, id, token }: LookupRow,
): Promise<void> {
	const lookup = store.model.lookups.get(name);
	if (lookup === undefined) return;
	await changeContent(store, id, (now) =>
		lostKey(store, lookup, now, token)
			? {
					...now,
					[(lookup.parts[0] as KeyPart).key]: key,
					version: versionOf(now) + 1,
				}
			: now,
	);
}

/** Whether the object has the row's token, so that the key is its own, but no text as its key. One that may be null was removed. A key of several parts does not give them back. */
export function lostKey(
	{ model }: Pick<Store, "model">,
	{ name, type, parts }: Lookup,
	data: JsonObject,
	token: string,
): boolean {
	const [{ key } = { key: "" }, ...others] = parts;
	if (others.length > 0) return false;
	const tokens = (data.tokens ?? {}) as JsonObject;
	const value = data[key] ?? null;
	if (tokens[name] !== token || typeof value === "string") return false;
	const field = model.objects
		.get(type)
		?.stored.find((stored) => stored.key === key);
	return value !== null || field?.nullable === false;
}
