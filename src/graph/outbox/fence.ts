import { asCorkboardError, CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { OutboxRow } from "../../storage/rows.ts";
import type { JsonObject } from "../../util/json.ts";
import { typeNameOf } from "../store/typeName.ts";
import {
	isSameReservation,
	newToken,
	type Reservation,
	reservationsOf,
} from "./parts/naturalKeys.ts";
import type { Committed, Writer } from "./writer.ts";

/**
 * A change that reserves keys may be paused for any time before it writes its
 * object. So that nobody else has a key by then, the object's stored JSON has a
 * fence (a fencing token): the change reads it before it reserves, and commits
 * only if it is still the same under the object's lock; a change that releases a
 * reservation that the object does not hold first replaces it, under the same
 * lock. A random token and not a count: no value ever comes back
 * (docs/consistency.md "4. Reservations (natural keys)").
 */
export function fenceOf(data: JsonObject): string | null {
	return typeof data.fence === "string" ? data.fence : null;
}

/** What may be released, and an error for each reservation of which that is not known. */
export interface Fenced {
	readonly unheld: readonly Reservation[];
	/** Outbox entries that release those of absent objects too. */
	readonly entries: readonly OutboxRow[];
	readonly failures: ReadonlyMap<Reservation, CorkboardError>;
}

/**
 * Which of the reservations their objects do not hold, and never will: when
 * this returns, no change that began them can be committed any more. One
 * transaction per shard.
 */
export async function fenceUnheld(
	writer: Writer,
	reservations: readonly Reservation[],
): Promise<Fenced> {
	const { model, storage } = writer.store;
	const unheld: Reservation[] = [];
	const entries: OutboxRow[] = [];
	const failures = new Map<Reservation, CorkboardError>();
	const fail = (reservation: Reservation, error: unknown) => {
		failures.set(reservation, asCorkboardError(error));
	};
	const known = reservations.filter((reservation) => {
		const { shard } = unpackId(reservation.id);
		// A process with an older model or topology cannot see such an object: it may exist.
		const isKnown =
			typeNameOf(model, reservation.id) !== null &&
			storage.map.hostOf(shard) !== null;
		if (!isKnown) fail(reservation, unknownObject());
		return isKnown;
	});
	const byShard = Map.groupBy(known, ({ id }) => unpackId(id).shard);
	await Promise.all(
		[...byShard].map(async ([shard, some]) => {
			try {
				const { result, row } = await fenceOnShard(writer, shard, some);
				unheld.push(...result);
				if (row !== null) entries.push(row);
			} catch (error) {
				for (const reservation of some) fail(reservation, error);
			}
		}),
	);
	return { unheld, entries, failures };
}

/** No value of `fence` is read from a cache, so caches that do not answer fail nothing here. */
async function fenceOnShard(
	writer: Writer,
	shard: number,
	reservations: readonly Reservation[],
): Promise<Committed<readonly Reservation[]>> {
	const byObject = Map.groupBy(reservations, ({ id }) => id);
	const ids = [...byObject.keys()];
	return writer.transact<readonly Reservation[]>({
		shard,
		objects: ids,
		decide({ objects }) {
			const unheld: Reservation[] = [];
			const ofAbsent: Reservation[] = [];
			const fenced: { id: Id; data: JsonObject }[] = [];
			for (const [at, id] of ids.entries()) {
				const data = objects[at] ?? null;
				const some = (byObject.get(id) ?? []).filter(
					(reservation) => data === null || !isHeld(writer, data, reservation),
				);
				unheld.push(...some);
				if (data === null) ofAbsent.push(...some);
				else if (some.length > 0 && data.state !== "rejected") {
					fenced.push({ id, data: { ...data, fence: newToken() } });
				}
			}
			return {
				result: unheld,
				objects: fenced,
				// A former primary may lack an object that exists, but it takes no
				// writes: a row that was written proves that this is the primary.
				...(ofAbsent.length > 0 && { entry: { releases: ofAbsent } }),
			};
		},
	});
}

/** Whether an object's content has that key with that token. A rejected object holds none, for good. */
export function isHeld(
	{ store }: Writer,
	data: JsonObject,
	reservation: Reservation,
): boolean {
	return (
		data.state !== "rejected" &&
		reservationsOf(store, reservation.id, data).some((held) =>
			isSameReservation(held, reservation),
		)
	);
}

function unknownObject(): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"A natural key leads to an object of a type or shard that this process does not know.",
	);
}
