import { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { OutboxRow } from "../../storage/rows.ts";
import type { JsonObject } from "../../util/json.ts";
import { deliverNow } from "../outbox/deliver.ts";
import { encodeEntry } from "../outbox/entry.ts";
import { fenceOf } from "../outbox/fence.ts";
import {
	isSameReservation,
	newToken,
	type Reservation,
	reservationsOf,
} from "../outbox/parts/naturalKeys.ts";
import { isReserved, reserveKeys } from "../outbox/parts/reservations.ts";
import {
	isUnchanged,
	isUnknownOutcome,
	unchanged,
} from "../outbox/unchanged.ts";
import type { Store } from "../store/store.ts";
import {
	type Change,
	changeObject,
	invalidateUnchanged,
	notFound,
	objectTypeOf,
	readExisting,
	type TargetPosition,
} from "./changeObject.ts";
import type { WritePipeline } from "./pipeline.ts";

/**
 * Change an object whose natural keys may change with it (docs/consistency.md
 * "4. Reservations (natural keys)"):
 *
 * 1. Read the object with its fence, then commit an outbox entry that names the
 *    reservations about to be made.
 * 2. Reserve the new keys, each with a new token.
 * 3. Change the object under its lock, if its fence is still the same: then
 *    nobody has released one of the reservations, or will.
 * 4. Deliver: release the old keys, and new ones that the object does not hold.
 *    Releasing goes by token, so that a → b → a cannot free the second a.
 *
 * A change that was overtaken, by another change of the object or by the release of
 * an earlier one's reservation, has changed nothing and begins again.
 */
export async function changeWithKeys(
	pipeline: WritePipeline,
	id: Id,
	change: Change,
	options: { readonly position?: TargetPosition } = {},
): Promise<void> {
	for (let tries = 1; ; tries++) {
		try {
			return await tryChange(pipeline, id, change, options);
		} catch (error) {
			if (tries === MOST_TRIES || !isUnchanged(error)) throw error;
		}
	}
}

/** A write that is overtaken each time meets many others. */
const MOST_TRIES = 3;

async function tryChange(
	pipeline: WritePipeline,
	id: Id,
	change: Change,
	options: { readonly position?: TargetPosition },
): Promise<void> {
	const { store } = pipeline;
	const read = await readExisting(pipeline, id);
	const planned = change(read);
	if (planned === null) {
		await invalidateUnchanged(pipeline, id);
		return;
	}
	const reservations = newReservations(pipeline, id, read, planned);
	/** What the object came not to hold. */
	let unheld = reservations;
	const changeReserved = (started: OutboxRow | null) =>
		changeObject(
			pipeline,
			id,
			withReservations(pipeline, id, change, {
				reservations,
				fence: fenceOf(read),
			}),
			{
				...options,
				read,
				alsoDeliver: () => (started === null ? [] : [ended(started, unheld)]),
				entry: (data, next) => {
					const held = reservationsOf(store, id, next);
					const isReleased = (one: Reservation) =>
						!held.some((other) => isSameReservation(one, other));
					unheld = reservations.filter(isReleased);
					return {
						releases: reservationsOf(store, id, data).filter(isReleased),
					};
				},
			},
		);
	if (reservations.length === 0) {
		await changeReserved(null);
		return;
	}
	const { row } = await pipeline.transactWithInvalidations({
		shard: unpackId(id).shard,
		decide: () => ({ result: null, entry: { reservations } }),
	});
	try {
		const rows = await reserveKeys(pipeline, reservations);
		const errors = rows.filter((row) => row instanceof CorkboardError);
		const failure = errors.find(isUnknownOutcome) ?? errors[0];
		if (failure !== undefined) throw failure;
		for (const [at, reserved] of rows.entries()) {
			if (!isReserved(reserved, reservations[at] as Reservation)) {
				throw keyTaken(store, id, reservations[at]?.name);
			}
		}
		await changeReserved(row);
	} catch (error) {
		// This change alone could have come to hold its reservations, and it does not.
		// If that is not known, the outbox worker asks the object.
		if (row !== null && !isUnknownOutcome(error)) {
			await deliverNow(pipeline, [ended(row, reservations)]);
		}
		throw error;
	}
}

/** The entry of a change that has ended, with what it left to release. */
function ended(
	{ entry: _, ...key }: OutboxRow,
	unheld: readonly Reservation[],
): OutboxRow {
	return { ...key, entry: encodeEntry({ releases: unheld }) ?? {} };
}

/** The error of a natural key of this object that another one has. `name` is that of its lookup, if it is known. */
export function keyTaken(store: Store, id: Id, name?: string): CorkboardError {
	const type = objectTypeOf(store, id);
	const named = type.lookups.filter((lookup) => lookup.name === name);
	const [lookup, ...others] = named.length > 0 ? named : type.lookups;
	const fields = (lookup?.parts ?? []).map(({ field }) => field);
	return new CorkboardError(
		"CONFLICT",
		fields.length > 1 && others.length === 0
			? `Another ${type.name} has this ${CONJUNCTION.format(fields)}.`
			: "This name or address is taken.",
	);
}

const CONJUNCTION = new Intl.ListFormat("en-GB", { type: "conjunction" });

function overtaken(id: Id): CorkboardError {
	return unchanged(
		id,
		"Other changes of the names or addresses of this object came between. Nothing was changed. Try again.",
	);
}

/** The change with the tokens of the reserved keys in the new content. */
function withReservations(
	pipeline: WritePipeline,
	id: Id,
	change: Change,
	{
		reservations,
		fence,
	}: {
		readonly reservations: readonly Reservation[];
		readonly fence: string | null;
	},
): Change {
	return (data) => {
		// Nothing leads to an object that is not active.
		if (data.state !== undefined) throw notFound();
		if (reservations.length > 0 && fenceOf(data) !== fence) {
			throw overtaken(id);
		}
		const changed = change(data);
		if (changed === null) return null;
		const needed = newReservations(pipeline, id, data, changed);
		// Another request changed a key between the reading and the lock: the keys
		// that are reserved are not those that would be written.
		if (needed.some((reservation) => !hasKey(reservations, reservation))) {
			throw overtaken(id);
		}
		const tokens = {
			...(data.tokens as JsonObject | undefined),
			...Object.fromEntries(
				reservations
					.filter((reservation) => hasKey(needed, reservation))
					.map(({ name, token }) => [name, token]),
			),
		};
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
		objectTypeOf(store, id).lookups.map(({ name }) => [name, newToken()]),
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
