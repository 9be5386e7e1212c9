import { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { OutboxRow } from "../../storage/storage.ts";
import type { JsonObject } from "../../util/json.ts";
import { deliverNow, encodeEntry } from "../outbox/delivery.ts";
import {
	newToken,
	type Reservation,
	reservationsOf,
} from "../outbox/naturalKeys.ts";
import { reserveKeys } from "../outbox/reservations.ts";
import { readUncachedObjects } from "../store/readStored.ts";
import type { Store } from "../store/store.ts";
import { changeObject, notFound, typeNamed } from "./changeObject.ts";

/**
 * Changing an object whose natural keys may change with it: claim the new ones
 * with fresh nonces, switch the object under its lock, release the old ones by
 * token, so that a → b → a cannot free the second a (PROTOCOLS §4). A claim is
 * owed from before it is made: whoever finds it unfinished releases it.
 */
export async function changeWithKeys(
	store: Store,
	id: Id,
	change: (data: JsonObject) => JsonObject | null,
): Promise<void> {
	const before = (await readUncachedObjects(store, [id])).get(id) ?? null;
	if (before === null) throw notFound();
	const planned = change(before);
	if (planned === null) return;
	const claims = newClaims(store, id, before, planned);
	if (claims.length === 0) {
		await switchObject(store, id, change, claims);
		return;
	}
	const owed = await owe(store, id, claims);
	try {
		const won = await reserveKeys(store, claims);
		if (won.includes(false)) throw keyTaken();
		await switchObject(store, id, change, claims);
	} finally {
		await deliverNow(store, owed);
	}
}

export function keyTaken(): CorkboardError {
	return new CorkboardError(
		"CONFLICT",
		"That name or address is taken by somebody else.",
	);
}

async function switchObject(
	store: Store,
	id: Id,
	change: (data: JsonObject) => JsonObject | null,
	claims: readonly Reservation[],
): Promise<void> {
	await changeObject(
		store,
		id,
		(data) => {
			const changed = change(data);
			if (changed === null) return null;
			const nonces = {
				...(data.nonces as JsonObject | undefined),
				...Object.fromEntries(claims.map(({ name, token }) => [name, token])),
			};
			const next =
				Object.keys(nonces).length > 0 ? { ...changed, nonces } : changed;
			// Somebody changed a key between our reading and our lock: what was
			// claimed is not what would be written.
			if (
				newClaims(store, id, data, changed).some((claim) => !has(claims, claim))
			) {
				throw keyTaken();
			}
			return next;
		},
		{
			owes: (data, next) => {
				const kept = reservationsOf(store, id, next);
				return {
					reservations: reservationsOf(store, id, data).filter(
						(claim) => !kept.some(({ token }) => token === claim.token),
					),
				};
			},
		},
	);
}

/** A claim for each natural key that is another one afterwards. */
function newClaims(
	store: Store,
	id: Id,
	data: JsonObject,
	next: JsonObject,
): readonly Reservation[] {
	const nonces = Object.fromEntries(
		typeNamed(store, id).lookups.map(({ name }) => [name, newToken()]),
	);
	const held = reservationsOf(store, id, data);
	return reservationsOf(store, id, { ...next, nonces, once: null }).filter(
		(claim) => !has(held, claim),
	);
}

function has(
	claims: readonly Reservation[],
	{ name, key }: Reservation,
): boolean {
	return claims.some((claim) => claim.name === name && claim.key === key);
}

/** Write the debt alone, and leave it owed. */
async function owe(
	store: Store,
	id: Id,
	claims: readonly Reservation[],
): Promise<OutboxRow> {
	const debt = encodeEntry({ reservations: claims }) as JsonObject;
	const { outboxKey: key } = await store.storage.transact({
		shard: unpackId(id).shard,
		decide: () => ({ result: null, outboxEntry: debt }),
	});
	if (key === null) throw new TypeError("expected a debt that was written");
	return { ...key, entry: debt };
}
