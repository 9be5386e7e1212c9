import { asCorkboardError, CorkboardError } from "../../../errors.ts";
import { unpackId } from "../../../id/ids.ts";
import type {
	KeyResult,
	LookupChange,
	LookupRow,
} from "../../../storage/rows.ts";
import { readUncachedResults } from "../../store/readUncached.ts";
import type { NaturalKey } from "../entry.ts";
import { fenceUnheld, isHeld } from "../fence.ts";
import { unchanged } from "../unchanged.ts";
import type { Writer } from "../writer.ts";
import type { Reservation } from "./naturalKeys.ts";

/**
 * Natural keys are taken and given up by compare-and-set on the lookup row of
 * their mod shard, which alone decides who holds a key (docs/consistency.md
 * "4. Reservations (natural keys)").
 */

/** The row of a key as it stands after a try to reserve it: the reservation's own, or the holder's. */
type ReservedRow = KeyResult<LookupRow | null>;

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

/**
 * Insert each key's row, or take it over from an object that is rejected or
 * absent. An active object may be about to hold a key that it does not hold yet:
 * its row stands, and the outbox worker finds out what became of the change.
 */
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
	const taken = reservations.flatMap((reservation, at) => {
		const row = rows[at] ?? null;
		return row === null ||
			row instanceof CorkboardError ||
			isReserved(row, reservation)
			? []
			: [{ at, reservation, row }];
	});
	if (taken.length === 0) return rows;
	const free = await freeOf(
		writer,
		taken.map(({ row }) => row),
	);
	const results = [...rows];
	for (const { at, reservation, row } of taken) {
		const result = free.get(row);
		if (result instanceof CorkboardError) results[at] = result;
		else if (result === "unheld" && row.id === reservation.id) {
			results[at] = unchanged(
				row.id,
				"Another change of this object is about to take this name. Try again.",
			);
		}
	}
	const takeovers = taken.filter(({ row }) => free.get(row) === "free");
	const takenOver = await compareAndSet(
		writer,
		takeovers.map(({ reservation: { name, key, id, token }, row }) => ({
			name,
			key,
			expect: { id: row.id, token: row.token },
			next: { id, token },
		})),
	);
	for (const [nth, { at }] of takeovers.entries()) {
		results[at] = takenOver[nth] as ReservedRow;
	}
	return results;
}

type Holding = "free" | "unheld" | "held" | CorkboardError;

/**
 * What the holders of rows say: `free` if it is rejected or absent, for good;
 * `unheld` if it is active without that key, now that an outbox entry will
 * release the key unless it comes to hold it. That is a change under way, or
 * one whose process died after its own entry had been delivered.
 */
async function freeOf(
	writer: Writer,
	rows: readonly LookupRow[],
): Promise<ReadonlyMap<LookupRow, Holding>> {
	const results = new Map<LookupRow, Holding>();
	const contents = await readUncachedResults(
		writer.store,
		rows.map(({ id }) => id),
		writer.call,
	);
	const absent: LookupRow[] = [];
	const unheld: LookupRow[] = [];
	for (const row of rows) {
		const data = contents.get(row.id) ?? null;
		if (data instanceof CorkboardError) results.set(row, data);
		else if (data === null) absent.push(row);
		else if (data.state === "rejected") results.set(row, "free");
		else if (isHeld(writer, data, row)) results.set(row, "held");
		else unheld.push(row);
	}
	const fenced = await fenceUnheld(writer, absent);
	for (const row of absent) {
		const isFree = fenced.unheld.includes(row);
		results.set(row, fenced.failures.get(row) ?? (isFree ? "free" : "held"));
	}
	const byShard = Map.groupBy(unheld, ({ id }) => unpackId(id).shard);
	await Promise.all(
		[...byShard].map(async ([shard, some]) => {
			const entry = { reservations: some };
			let holding: Holding = "unheld";
			try {
				await writer.transact({
					shard,
					decide: () => ({ result: null, entry }),
				});
			} catch (error) {
				holding = asCorkboardError(error);
			}
			for (const row of some) results.set(row, holding);
		}),
	);
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
 * Reservations that a change of an object began: each stands if the object came
 * to hold it. The others are released, once the change cannot be committed any
 * more. An error for each that could not be resolved.
 */
export async function resolveReservations(
	writer: Writer,
	reservations: readonly Reservation[],
): Promise<ReadonlyMap<Reservation, CorkboardError>> {
	const { unheld, entries, failures } = await fenceUnheld(writer, reservations);
	const errors = new Map(failures);
	const rows = await releaseKeys(writer, unheld);
	for (const [at, row] of rows.entries()) {
		if (row instanceof CorkboardError) {
			errors.set(unheld[at] as Reservation, row);
		}
	}
	if (errors.size === 0 && entries.length > 0) {
		await writer.deleteOutboxEntries(entries);
	}
	return errors;
}

/** Insert lookups that nobody competes for. Gives each key's row as it stands afterwards: a key that led to another object keeps doing so. */
export async function insertLookups(
	writer: Writer,
	keys: readonly (NaturalKey & { readonly token?: string })[],
): Promise<readonly ReservedRow[]> {
	return compareAndSet(
		writer,
		keys.map(({ name, key, id, token = "" }) => ({
			name,
			key,
			expect: null,
			next: { id, token },
		})),
	);
}

async function compareAndSet(
	writer: Writer,
	changes: readonly LookupChange[],
): Promise<readonly ReservedRow[]> {
	return changes.length === 0 ? [] : writer.compareAndSetLookups(changes);
}
