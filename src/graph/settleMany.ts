import { CorkboardError } from "../errors.ts";
import { type Id, unpackId } from "../id/ids.ts";
import type { LookupChange, LookupRow } from "../storage/port.ts";
import type { JsonObject } from "../util/json.ts";
import type { Claim } from "./debts.ts";
import { notCleared } from "./debts.ts";
import { claimsOf } from "./names.ts";
import type { Store } from "./store.ts";

export type Fate = "living" | "dead" | "absent";

interface Claimant {
	readonly id: Id;
	readonly claims: readonly Claim[];
	lost: boolean;
}

/**
 * `settleNames` for many objects with as few calls: one read, one call for the
 * n-th key of all of them, one transaction a shard. The order of each object's
 * own steps is the same, so the two may meet on one object.
 */
export async function settleMany(
	store: Store,
	ids: readonly Id[],
): Promise<ReadonlyMap<Id, Fate>> {
	const fates = new Map<Id, Fate>();
	if (ids.length === 0) return fates;
	const pending: Claimant[] = [];
	const ended: Claim[] = [];
	const contents = await readFresh(store, ids);
	for (const [id, data] of contents) {
		if (data === null) fates.set(id, "absent");
		else if (data.state === undefined) fates.set(id, "living");
		else if (data.state === "pending") {
			pending.push({ id, claims: claimsOf(store, id, data), lost: false });
		} else {
			fates.set(id, "dead");
			ended.push(...claimsOf(store, id, data));
		}
	}
	const most = Math.max(0, ...pending.map(({ claims }) => claims.length));
	for (let nth = 0; nth < most; nth++) {
		const contenders = pending.filter(
			({ claims, lost }) => !lost && claims.length > nth,
		);
		const won = await claimKeys(
			store,
			contenders.map(({ claims }) => claims[nth] as Claim),
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
	await setLookups(
		store,
		ended.map(({ name, key, id, nonce }) => ({
			name,
			key,
			expect: { id, nonce },
			next: null,
		})),
	);
	return fates;
}

/** Insert each key's row, or take it over from an object that is dead; whether each is the claim's own now. */
async function claimKeys(
	store: Store,
	claims: readonly Claim[],
): Promise<readonly boolean[]> {
	const mine = (row: LookupRow | null | undefined, { id, nonce }: Claim) =>
		row?.id === id && row.nonce === nonce;
	const rows = await setLookups(
		store,
		claims.map(({ name, key, id, nonce }) => ({
			name,
			key,
			expect: null,
			next: { id, nonce },
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
	const holders = await readFresh(
		store,
		inTheWay.map(({ row }) => row.id),
	);
	const free = inTheWay.filter(({ row }) => {
		const data = holders.get(row.id);
		return data === null || data?.state === "dead";
	});
	const taken = await setLookups(
		store,
		free.map(({ claim: { name, key, id, nonce }, row }) => ({
			name,
			key,
			expect: { id: row.id, nonce: row.nonce },
			next: { id, nonce },
		})),
	);
	for (const [at, { at: claimAt, claim }] of free.entries()) {
		won[claimAt] = mine(taken[at], claim);
	}
	return won;
}

/** Pending to living or dead, under the objects' locks; whoever came first has decided. */
async function setStates(
	store: Store,
	shard: number,
	claimants: readonly Claimant[],
): Promise<readonly ("living" | "dead")[]> {
	const ids = claimants.map(({ id }) => id);
	const { result, cleared } = await store.transact<
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
	if (!cleared) throw notCleared();
	return result;
}

async function setLookups(
	store: Store,
	changes: readonly LookupChange[],
): Promise<readonly (LookupRow | null)[]> {
	if (changes.length === 0) return [];
	const answers = await store.setLookups(changes);
	return answers.map((answer) => {
		if (answer instanceof CorkboardError) throw answer;
		return answer;
	});
}

/** Past all caches. */
async function readFresh(
	store: Store,
	ids: readonly Id[],
): Promise<ReadonlyMap<Id, JsonObject | null>> {
	const unique = [...new Set(ids)];
	const texts = await store.storage.objects(unique);
	return new Map(
		unique.map((id, at) => {
			const text = texts[at] ?? null;
			if (text instanceof CorkboardError) throw text;
			return [id, text === null ? null : (JSON.parse(text) as JsonObject)];
		}),
	);
}
