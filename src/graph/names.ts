import { createHash, randomBytes } from "node:crypto";
import { CorkboardError } from "../errors.ts";
import { type Id, unpackId } from "../id/ids.ts";
import { fold } from "../model/fold.ts";
import type { LookupChange, LookupRow } from "../storage/port.ts";
import type { JsonObject } from "../util/json.ts";
import { type Claim, notCleared } from "./debts.ts";
import { type Store, typeOf } from "./store.ts";

/**
 * Natural keys (PROTOCOLS §4). The lookup row on its mod shard is the sole
 * arbiter, changed by compare-and-set only. An object that has to win one is
 *
 *     pending ── all its keys are its own ──▶ living
 *        └────── a key is somebody else's ──▶ dead, for ever
 *
 * and nobody sees it before it lives. In the stored JSON: `state` (absent when
 * living), `nonces` (one for each key it claims), and for a request that may
 * be repeated `once`, whose key is claimed like a name.
 */
export interface Settled {
	readonly state: "living" | "dead" | "absent";
	/** Whose row stood in the way. */
	readonly winner?: LookupRow;
}

/** The lookup that holds idempotency keys. */
export const ONCE = "once";

export function newNonce(): string {
	return randomBytes(9).toString("base64url");
}

/** The nonce of an idempotency key: what the request was, so that another one with the same key is told from a repeat. */
export function requestNonce(request: JsonObject): string {
	return createHash("sha256")
		.update(JSON.stringify(request))
		.digest("base64url")
		.slice(0, 22);
}

/** The idempotency key of one viewer and one mutation, hashed: clients choose it. */
export function onceKey(scope: string, key: string): string {
	return createHash("sha256").update(`${scope}\0${key}`).digest("base64url");
}

/** The natural keys an object's content claims, with a nonce for each. */
export function withNonces(
	store: Store,
	type: string,
	data: JsonObject,
): JsonObject {
	const nonces = Object.fromEntries(
		(store.model.objects.get(type)?.lookups ?? [])
			.filter((lookup) => typeof data[lookup.key] === "string")
			.map((lookup) => [lookup.name, newNonce()]),
	);
	return Object.keys(nonces).length > 0 ? { ...data, nonces } : data;
}

/** What the object claims, by its content. */
export function claimsOf(
	store: Store,
	id: Id,
	data: JsonObject,
): readonly Claim[] {
	const type = store.model.objects.get(typeOf(store.model, id) ?? "");
	const nonces = (data.nonces ?? {}) as Readonly<Record<string, string>>;
	const claims: Claim[] = (type?.lookups ?? []).flatMap((lookup) => {
		const value = data[lookup.key];
		const nonce = nonces[lookup.name];
		return typeof value === "string" && nonce !== undefined
			? [{ name: lookup.name, key: fold(lookup, value), id, nonce }]
			: [];
	});
	const once = data.once as { key: string; nonce: string } | null | undefined;
	// The idempotency key goes first: a repeated request has to learn that it is
	// one before it is told that its name is taken, by itself.
	return once === undefined || once === null
		? claims
		: [{ name: ONCE, key: once.key, id, nonce: once.nonce }, ...claims];
}

/** Bring a pending object to life, or to its end. Anyone may, at any time, and again. */
export async function settleNames(store: Store, id: Id): Promise<Settled> {
	const data = await readFresh(store, id);
	if (data === null) return { state: "absent" };
	const claims = claimsOf(store, id, data);
	if (data.state === undefined) return { state: "living" };
	if (data.state === "pending") {
		for (const claim of claims) {
			const winner = await claimKey(store, claim);
			if (winner === null) continue;
			const end = await setState(store, id, "dead");
			if (end === "living") return { state: "living" };
			await release(store, claims);
			return { state: "dead", winner };
		}
		const end = await setState(store, id, "living");
		if (end === "living") return { state: "living" };
	}
	await release(store, claims);
	return { state: "dead" };
}

/**
 * Take a key: insert its row, or take it over from an object that is dead.
 * Answers null when the row is the claim's own, else the row in the way.
 */
export async function claimKey(
	store: Store,
	claim: Claim,
): Promise<LookupRow | null> {
	const { name, key, id, nonce } = claim;
	const mine = (row: LookupRow | null) =>
		row !== null && row.id === id && row.nonce === nonce;
	let row = await setLookup(store, {
		name,
		key,
		expect: null,
		next: { id, nonce },
	});
	if (row !== null && !mine(row) && (await isDead(store, row.id))) {
		row = await setLookup(store, {
			name,
			key,
			expect: { id: row.id, nonce: row.nonce },
			next: { id, nonce },
		});
	}
	return mine(row) ? null : row;
}

/** Give up keys, each only if the row is still this very claim. */
export async function release(
	store: Store,
	claims: readonly Claim[],
): Promise<void> {
	for (const { name, key, id, nonce } of claims) {
		await setLookup(store, { name, key, expect: { id, nonce }, next: null });
	}
}

/** A claim in flight that nobody finished: it stands if the object came to hold it, else it is released. */
export async function payClaim(store: Store, claim: Claim): Promise<void> {
	const data = await readFresh(store, claim.id);
	const held =
		data !== null &&
		data.state !== "dead" &&
		claimsOf(store, claim.id, data).some(
			({ name, key, nonce }) =>
				name === claim.name && key === claim.key && nonce === claim.nonce,
		);
	if (!held) await release(store, [claim]);
}

async function setLookup(
	store: Store,
	change: LookupChange,
): Promise<LookupRow | null> {
	const [row] = await store.setLookups([change]);
	if (row instanceof CorkboardError) throw row;
	return row ?? null;
}

/** A key's holder may be taken over from when it is dead, and when its row never came to be. */
async function isDead(store: Store, id: Id): Promise<boolean> {
	const data = await readFresh(store, id);
	return data === null || data.state === "dead";
}

/** Past all caches. */
async function readFresh(store: Store, id: Id): Promise<JsonObject | null> {
	const [text] = await store.storage.objects([id]);
	if (text instanceof CorkboardError) throw text;
	return text === null || text === undefined
		? null
		: (JSON.parse(text) as JsonObject);
}

/** Pending to `state`, under the object's lock; whoever came first has decided. */
async function setState(
	store: Store,
	id: Id,
	state: "living" | "dead",
): Promise<"living" | "dead"> {
	const { result, cleared } = await store.transact<"living" | "dead">({
		shard: unpackId(id).shard,
		objects: [id],
		decide: ({ objects: [data] }) => {
			if (data === null || data === undefined) return { result: "dead" };
			if (data.state !== "pending") {
				return { result: data.state === "dead" ? "dead" : "living" };
			}
			const { state: _, ...rest } = data;
			return {
				result: state,
				objects: [{ id, data: state === "living" ? rest : { ...rest, state } }],
			};
		},
	});
	if (!cleared) throw notCleared();
	return result;
}
