import { CorkboardError } from "../../../errors.ts";
import { type Id, unpackId } from "../../../id/ids.ts";
import type { LookupRow } from "../../../storage/rows.ts";
import type { JsonObject } from "../../../util/json.ts";
import { readUncachedResults } from "../../store/readUncached.ts";
import { typeNameOf } from "../../store/typeName.ts";
import { invalidationFailed, type Writer } from "../writer.ts";
import {
	isSameReservation,
	type Reservation,
	reservationsOf,
} from "./naturalKeys.ts";
import { isReserved, releaseKeys, reserveKeys } from "./reservations.ts";

type ObjectStatus = "active" | "rejected" | "absent";

export interface Activation {
	readonly status: ObjectStatus;
	/** The row that holds the key an object was rejected for, if this call met it. */
	readonly heldBy?: LookupRow;
}

export interface Activations {
	readonly activations: ReadonlyMap<Id, Activation>;
	/** Those of them that were active or rejected already. */
	readonly found: ReadonlySet<Id>;
	/** Objects for which something is left to do: activation has to be tried again. */
	readonly failures: ReadonlyMap<Id, unknown>;
}

interface Candidate {
	readonly id: Id;
	readonly reservations: readonly Reservation[];
	heldBy: LookupRow | null;
}

/**
 * Activate pending objects, or reject them. An object with natural keys is
 *
 *     pending ── all its keys are its own ──────▶ active
 *        └────── another object holds a key ────▶ rejected, finally
 *
 * and invisible until it is active. Anyone may activate at any time, and again.
 * Many objects take as few calls as one: one read, one call for the n-th key
 * of all of them, one transaction per shard.
 */
export async function activateObjects(
	writer: Writer,
	ids: readonly Id[],
): Promise<Activations> {
	const activations = new Map<Id, Activation>();
	const found = new Set<Id>();
	const failures = new Map<Id, unknown>();
	const candidates: Candidate[] = [];
	const released: Reservation[] = [];
	const contents = await readUncachedResults(writer.store, ids, writer.call);
	for (const [id, data] of contents) {
		if (data instanceof CorkboardError) {
			failures.set(id, data);
		} else if (typeNameOf(writer.store.model, id) === null) {
			// It may exist: only a newer version of the program can read it.
			failures.set(id, unknownType());
		} else if (data === null) {
			activations.set(id, { status: "absent" });
		} else if (data.state === undefined) {
			found.add(id);
			activations.set(id, { status: "active" });
		} else {
			const reservations = reservationsOf(writer.store, id, data);
			if (data.state === "pending") {
				candidates.push({ id, reservations, heldBy: null });
			} else {
				found.add(id);
				activations.set(id, { status: "rejected" });
				released.push(...reservations);
			}
		}
	}
	await reserveAll(writer, candidates, failures);
	const decided = Map.groupBy(
		candidates.filter(({ id }) => !failures.has(id)),
		({ id }) => unpackId(id).shard,
	);
	await Promise.all(
		[...decided].map(async ([shard, some]) => {
			try {
				const states = await setStates(writer, shard, some);
				for (const [at, { id, heldBy }] of some.entries()) {
					const { status, unheld } = states[at] as DecidedState;
					activations.set(id, {
						status,
						...(status === "rejected" && heldBy !== null && { heldBy }),
					});
					released.push(...unheld);
				}
			} catch (error) {
				for (const { id } of some) failures.set(id, error);
			}
		}),
	);
	const rows = await releaseKeys(writer, released);
	for (const [at, row] of rows.entries()) {
		if (row instanceof CorkboardError) {
			failures.set((released[at] as Reservation).id, row);
		}
	}
	return { activations, found, failures };
}

/** Try to reserve the keys of each candidate, up to the first that another object holds. */
async function reserveAll(
	writer: Writer,
	candidates: readonly Candidate[],
	failures: Map<Id, unknown>,
): Promise<void> {
	const most = Math.max(
		0,
		...candidates.map(({ reservations }) => reservations.length),
	);
	for (let nth = 0; nth < most; nth++) {
		const contenders = candidates.filter(
			({ id, reservations, heldBy }) =>
				heldBy === null && reservations.length > nth && !failures.has(id),
		);
		const keys = contenders.map(
			({ reservations }) => reservations[nth] as Reservation,
		);
		const rows = await reserveKeys(writer, keys);
		for (const [at, contender] of contenders.entries()) {
			const row = rows[at] ?? null;
			if (isReserved(row, keys[at] as Reservation)) continue;
			if (row === null || row instanceof CorkboardError) {
				// A row that was gone again when it was to be taken over: the next try inserts.
				failures.set(contender.id, row ?? keyMoved());
			} else contender.heldBy = row;
		}
	}
}

function unknownType(): CorkboardError {
	return new CorkboardError(
		"BAD_DATA",
		"The outbox entry names an object of a type that the model does not have.",
	);
}

function keyMoved(): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"A natural key changed hands while it was being reserved.",
	);
}

interface DecidedState {
	readonly status: ObjectStatus;
	/** Reservations that the object does not hold. */
	readonly unheld: readonly Reservation[];
}

/** Set pending objects to active or rejected under their locks. If another writer was first, its decision stands. */
async function setStates(
	writer: Writer,
	shard: number,
	candidates: readonly Candidate[],
): Promise<readonly DecidedState[]> {
	const { result, invalidated } = await writer.transact<
		readonly DecidedState[]
	>({
		shard,
		objects: candidates.map(({ id }) => id),
		decide({ objects }) {
			const changed: { id: Id; data: JsonObject }[] = [];
			const states = candidates.map(
				({ id, reservations, heldBy }, at): DecidedState => {
					const data = objects[at] ?? null;
					if (data === null) {
						return { status: "absent", unheld: reservations };
					}
					if (data.state === "rejected") {
						return { status: "rejected", unheld: reservations };
					}
					if (data.state !== "pending") {
						// A key that was renamed since may have been reserved again just now.
						const held = reservationsOf(writer.store, id, data);
						return {
							status: "active",
							unheld: reservations.filter(
								(one) => !held.some((other) => isSameReservation(one, other)),
							),
						};
					}
					const { state: _, ...content } = data;
					if (heldBy === null) {
						changed.push({ id, data: content });
						return { status: "active", unheld: [] };
					}
					changed.push({ id, data: { ...content, state: "rejected" } });
					return { status: "rejected", unheld: reservations };
				},
			);
			return { result: states, objects: changed };
		},
	});
	if (!invalidated) throw invalidationFailed();
	return result;
}
