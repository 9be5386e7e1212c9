import { type Id, unpackId } from "../../id/ids.ts";
import type { JsonObject } from "../../util/json.ts";
import { readUncachedObjects } from "../store/readStored.ts";
import type { Store } from "../store/store.ts";
import { invalidationFailed } from "./delivery.ts";
import { type Reservation, reservationsOf } from "./naturalKeys.ts";
import { releaseKeys, reserveKeys } from "./reservations.ts";

export type ObjectStatus = "living" | "dead" | "absent";

interface Claimant {
	readonly id: Id;
	readonly claims: readonly Reservation[];
	lost: boolean;
}

/**
 * Bring pending objects to life, or to their end. An object that has to win
 * natural keys is
 *
 *     pending ── all its keys are its own ──▶ living
 *        └────── a key is somebody else's ──▶ dead, for ever
 *
 * and nobody sees it before it lives. Anyone may settle, at any time, and
 * again. Many take as few calls as one: one read, one call for the n-th key of
 * all of them, one transaction a shard.
 */
export async function activateObjects(
	store: Store,
	ids: readonly Id[],
): Promise<ReadonlyMap<Id, ObjectStatus>> {
	const fates = new Map<Id, ObjectStatus>();
	if (ids.length === 0) return fates;
	const pending: Claimant[] = [];
	const ended: Reservation[] = [];
	const contents = await readUncachedObjects(store, ids);
	for (const [id, data] of contents) {
		if (data === null) fates.set(id, "absent");
		else if (data.state === undefined) fates.set(id, "living");
		else if (data.state === "pending") {
			pending.push({
				id,
				claims: reservationsOf(store, id, data),
				lost: false,
			});
		} else {
			fates.set(id, "dead");
			ended.push(...reservationsOf(store, id, data));
		}
	}
	const most = Math.max(0, ...pending.map(({ claims }) => claims.length));
	for (let nth = 0; nth < most; nth++) {
		const contenders = pending.filter(
			({ claims, lost }) => !lost && claims.length > nth,
		);
		const won = await reserveKeys(
			store,
			contenders.map(({ claims }) => claims[nth] as Reservation),
		);
		for (const [at, contender] of contenders.entries()) {
			contender.lost = !won[at];
		}
	}
	const byShard = Map.groupBy(pending, ({ id }) => unpackId(id).shard);
	await Promise.all(
		[...byShard].map(async ([shard, some]) => {
			const states = await setStates(store, shard, some);
			for (const [at, { id, claims }] of some.entries()) {
				const state = states[at] as "living" | "dead";
				fates.set(id, state);
				if (state === "dead") ended.push(...claims);
			}
		}),
	);
	await releaseKeys(store, ended);
	return fates;
}

/** Pending to living or dead, under the objects' locks; whoever came first has decided. */
async function setStates(
	store: Store,
	shard: number,
	claimants: readonly Claimant[],
): Promise<readonly ("living" | "dead")[]> {
	const ids = claimants.map(({ id }) => id);
	const { result, invalidated: cleared } = await store.transact<
		readonly ("living" | "dead")[]
	>({
		shard,
		objects: ids,
		decide({ objects }) {
			const changed: { id: Id; data: JsonObject }[] = [];
			const states = claimants.map(({ id, lost }, at) => {
				const data = objects[at] ?? null;
				if (data === null) return "dead";
				if (data.state !== "pending") {
					return data.state === "dead" ? "dead" : "living";
				}
				const { state: _, ...rest } = data;
				changed.push({ id, data: lost ? { ...rest, state: "dead" } : rest });
				return lost ? "dead" : "living";
			});
			return { result: states, objects: changed };
		},
	});
	if (!cleared) throw invalidationFailed();
	return result;
}
