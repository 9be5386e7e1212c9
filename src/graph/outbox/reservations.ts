import { CorkboardError } from "../../errors.ts";
import type {
	KeyResult,
	LookupChange,
	LookupRow,
} from "../../storage/storage.ts";
import { readUncachedResults } from "../store/readUncached.ts";
import type { NaturalKey } from "./entry.ts";
import {
	isSameReservation,
	type Reservation,
	reservationsOf,
} from "./naturalKeys.ts";
import type { Writer } from "./writer.ts";

/**
 * Natural keys are taken and given up by compare-and-set on the lookup row of
 * their mod shard, which alone decides who holds a key (docs/consistency.md
 * "4. Reservations (natural keys)").
 */

/** The row of a key as it stands after a try to reserve it: the reservation's own, or the holder's. */
export type ReservedRow = KeyResult<LookupRow | null>;

export function isReserved(
	row: ReservedRow,
	{ id, token }: Reservation,
): boolean {
	return (
		row !== null &&
		!(row instanceof CorkboardError) &&
		row.id === id &&
		row.token === token
	);
}

/** Insert each key's row, or take it over from an object that is rejected or absent. */
export async function reserveKeys(
	writer: Writer,
	reservations: readonly Reservation[],
): Promise<readonly ReservedRow[]> {
	const rows = await compareAndSet(
		writer,
		reservations.map(({ name, key, id, token }) => ({
			name,
			key,
			expect: null,
			next: { id, token },
		})),
	);
	const held = reservations.flatMap((reservation, at) => {
		const row = rows[at] ?? null;
		return row === null ||
			row instanceof CorkboardError ||
			isReserved(row, reservation)
			? []
			: [{ at, reservation, row }];
	});
	if (held.length === 0) return rows;
	const holders = await readUncachedResults(
		writer.store,
		held.map(({ row }) => row.id),
		writer.call,
	);
	const results = [...rows];
	const free = held.filter(({ at, row }) => {
		const data = holders.get(row.id) ?? null;
		if (data instanceof CorkboardError) {
			results[at] = data;
			return false;
		}
		return data === null || data.state === "rejected";
	});
	const takenOver = await compareAndSet(
		writer,
		free.map(({ reservation: { name, key, id, token }, row }) => ({
			name,
			key,
			expect: { id: row.id, token: row.token },
			next: { id, token },
		})),
	);
	for (const [nth, { at }] of free.entries()) {
		results[at] = takenOver[nth] as ReservedRow;
	}
	return results;
}

/** Give up keys, each only while its row is still that very reservation. */
export async function releaseKeys(
	writer: Writer,
	reservations: readonly Reservation[],
): Promise<readonly ReservedRow[]> {
	return compareAndSet(
		writer,
		reservations.map(({ name, key, id, token }) => ({
			name,
			key,
			expect: { id, token },
			next: null,
		})),
	);
}

/**
 * Reservations that a change of an object began or replaced: each stands if
 * the object came to hold it, else it is released. An error for each that
 * could not be resolved.
 */
export async function resolveReservations(
	writer: Writer,
	reservations: readonly Reservation[],
): Promise<ReadonlyMap<Reservation, CorkboardError>> {
	const failures = new Map<Reservation, CorkboardError>();
	if (reservations.length === 0) return failures;
	const contents = await readUncachedResults(
		writer.store,
		reservations.map(({ id }) => id),
		writer.call,
	);
	const unheld = reservations.filter((reservation) => {
		const data = contents.get(reservation.id) ?? null;
		if (data instanceof CorkboardError) {
			failures.set(reservation, data);
			return false;
		}
		return (
			data === null ||
			data.state === "rejected" ||
			!reservationsOf(writer.store, reservation.id, data).some((held) =>
				isSameReservation(held, reservation),
			)
		);
	});
	const rows = await releaseKeys(writer, unheld);
	for (const [at, row] of rows.entries()) {
		if (row instanceof CorkboardError) {
			failures.set(unheld[at] as Reservation, row);
		}
	}
	return failures;
}

/** Insert lookups that nobody competes for. Gives each key's row as it stands afterwards: a key that led to another object goes on doing so. */
export async function insertLookups(
	writer: Writer,
	keys: readonly NaturalKey[],
): Promise<readonly ReservedRow[]> {
	return compareAndSet(
		writer,
		keys.map(({ name, key, id }) => ({
			name,
			key,
			expect: null,
			next: { id, token: "" },
		})),
	);
}

async function compareAndSet(
	writer: Writer,
	changes: readonly LookupChange[],
): Promise<readonly ReservedRow[]> {
	return changes.length === 0 ? [] : writer.compareAndSetLookups(changes);
}
