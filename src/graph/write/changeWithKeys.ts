import { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { OutboxRow } from "../../storage/storage.ts";
import type { JsonObject } from "../../util/json.ts";
import { deliverNow } from "../outbox/deliver.ts";
import {
	newToken,
	type Reservation,
	reservationsOf,
} from "../outbox/naturalKeys.ts";
import { isReserved, reserveKeys } from "../outbox/reservations.ts";
import {
	type Change,
	changeObject,
	invalidateUnchanged,
	readExisting,
	typeNamed,
} from "./changeObject.ts";
import type { WritePipeline } from "./pipeline.ts";

/**
 * Change an object whose natural keys may change with it (docs/consistency.md
 * "4. Reservations (natural keys)"):
 *
 * 1. Commit an outbox entry that names the reservations about to be made.
 * 2. Reserve the new keys, each with a new token.
 * 3. Change the object under its lock; its outbox entry names the old keys.
 * 4. Deliver both entries: release each reservation that the object does not
 *    hold. Releasing goes by token, so that a → b → a cannot free the second a.
 */
export async function changeWithKeys(
	pipeline: WritePipeline,
	id: Id,
	change: Change,
): Promise<void> {
	const { store } = pipeline;
	const read = await readExisting(pipeline, id);
	const planned = change(read);
	if (planned === null) {
		await invalidateUnchanged(pipeline, id);
		return;
	}
	const reservations = newReservations(pipeline, id, read, planned);
	const changeReserved = (alsoDeliver: readonly OutboxRow[]) =>
		changeObject(
			pipeline,
			id,
			withReservations(pipeline, id, change, reservations),
			{
				read,
				alsoDeliver,
				entry: (data, next) => {
					const kept = reservationsOf(store, id, next);
					return {
						reservations: reservationsOf(store, id, data).filter(
							({ token }) => !kept.some((held) => held.token === token),
						),
					};
				},
			},
		);
	if (reservations.length === 0) {
		await changeReserved([]);
		return;
	}
	const { row } = await pipeline.transactWithInvalidations({
		shard: unpackId(id).shard,
		decide: () => ({ result: null, entry: { reservations } }),
	});
	const started = row === null ? [] : [row];
	try {
		const rows = await reserveKeys(pipeline, reservations);
		for (const [at, reserved] of rows.entries()) {
			if (reserved instanceof CorkboardError) throw reserved;
			if (!isReserved(reserved, reservations[at] as Reservation)) {
				throw keyTaken();
			}
		}
		await changeReserved(started);
	} catch (error) {
		// Where the outcome is unknown the change may still be committed: the outbox
		// worker releases what the object does not hold once that is decided.
		if (!isUnknownOutcome(error)) await deliverNow(pipeline, started);
		throw error;
	}
}

export function keyTaken(): CorkboardError {
	return new CorkboardError("CONFLICT", "This name or address is taken.");
}

function isUnknownOutcome(error: unknown): boolean {
	return !(error instanceof CorkboardError) || error.code === "UNAVAILABLE";
}

/** The change with the tokens of the reserved keys in the new content. */
function withReservations(
	pipeline: WritePipeline,
	id: Id,
	change: Change,
	reservations: readonly Reservation[],
): Change {
	return (data) => {
		const changed = change(data);
		if (changed === null) return null;
		const tokens = {
			...(data.tokens as JsonObject | undefined),
			...Object.fromEntries(
				reservations.map(({ name, token }) => [name, token]),
			),
		};
		// Another request changed a key between the reading and the lock: the keys
		// that are reserved are not those that would be written.
		const isReservedOtherwise = newReservations(
			pipeline,
			id,
			data,
			changed,
		).some((reservation) => !hasKey(reservations, reservation));
		if (isReservedOtherwise) throw keyTaken();
		return Object.keys(tokens).length > 0 ? { ...changed, tokens } : changed;
	};
}

/** A reservation for each natural key that is different afterwards. */
function newReservations(
	{ store }: WritePipeline,
	id: Id,
	data: JsonObject,
	next: JsonObject,
): readonly Reservation[] {
	const tokens = Object.fromEntries(
		typeNamed(store, id).lookups.map(({ name }) => [name, newToken()]),
	);
	const held = reservationsOf(store, id, data);
	return reservationsOf(store, id, {
		...next,
		tokens,
		idempotency: null,
	}).filter((reservation) => !hasKey(held, reservation));
}

function hasKey(
	reservations: readonly Reservation[],
	{ name, key }: Reservation,
): boolean {
	return reservations.some((one) => one.name === name && one.key === key);
}
