import type { LookupChange, LookupRow } from "../../storage/storage.ts";
import { readUncachedObjects } from "../store/readStored.ts";
import type { Store } from "../store/store.ts";
import { valuesOrThrow } from "../store/unwrap.ts";
import { type Reservation, reservationsOf } from "./naturalKeys.ts";

/**
 * Taking and giving up natural keys. The lookup row on its mod shard is the
 * sole arbiter, changed by compare-and-set only (PROTOCOLS §4).
 */

/** Take keys: insert each key's row, or take it over from an object that is dead; whether each is the claim's own now. */
export async function reserveKeys(
	store: Store,
	claims: readonly Reservation[],
): Promise<readonly boolean[]> {
	const mine = (
		row: LookupRow | null | undefined,
		{ id, token }: Reservation,
	) => row?.id === id && row.token === token;
	const rows = await setLookups(
		store,
		claims.map(({ name, key, id, token }) => ({
			name,
			key,
			expect: null,
			next: { id, token },
		})),
	);
	const won = claims.map((claim, at) => mine(rows[at], claim));
	const inTheWay = claims.flatMap((claim, at) => {
		const row = rows[at];
		return won[at] || row === null || row === undefined
			? []
			: [{ at, claim, row }];
	});
	if (inTheWay.length === 0) return won;
	const holders = await readUncachedObjects(
		store,
		inTheWay.map(({ row }) => row.id),
	);
	const free = inTheWay.filter(({ row }) => {
		const data = holders.get(row.id) ?? null;
		return data === null || data.state === "dead";
	});
	const taken = await setLookups(
		store,
		free.map(({ claim: { name, key, id, token }, row }) => ({
			name,
			key,
			expect: { id: row.id, token: row.token },
			next: { id, token },
		})),
	);
	for (const [at, { at: claimAt, claim }] of free.entries()) {
		won[claimAt] = mine(taken[at], claim);
	}
	return won;
}

/** Give up keys, each only if the row is still this very claim. */
export async function releaseKeys(
	store: Store,
	claims: readonly Reservation[],
): Promise<void> {
	await setLookups(
		store,
		claims.map(({ name, key, id, token }) => ({
			name,
			key,
			expect: { id, token },
			next: null,
		})),
	);
}

/** Claims in flight that nobody finished: each stands if its object came to hold it, else it is released. */
export async function resolveReservations(
	store: Store,
	claims: readonly Reservation[],
): Promise<void> {
	const contents = await readUncachedObjects(
		store,
		claims.map(({ id }) => id),
	);
	await releaseKeys(
		store,
		claims.filter((claim) => {
			const data = contents.get(claim.id) ?? null;
			return (
				data === null ||
				data.state === "dead" ||
				!reservationsOf(store, claim.id, data).some(
					({ name, key, token }) =>
						name === claim.name && key === claim.key && token === claim.token,
				)
			);
		}),
	);
}

async function setLookups(
	store: Store,
	changes: readonly LookupChange[],
): Promise<readonly (LookupRow | null)[]> {
	return changes.length === 0
		? []
		: valuesOrThrow(await store.compareAndSetLookups(changes));
}
