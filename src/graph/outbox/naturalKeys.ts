import { createHash, randomBytes } from "node:crypto";
import type { Id } from "../../id/ids.ts";
import { RESERVED_LOOKUPS } from "../../model/reservedNames.ts";
import { normalizeKey } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";
import { type Store, typeNameOf } from "../store/store.ts";

/**
 * Natural keys in an object's stored JSON (PROTOCOLS §4): `state`, absent when
 * the object lives; `nonces`, one for each key it claims; and for a request
 * that may be repeated `once`, whose key is claimed like a name.
 */
export interface Reservation {
	readonly name: string;
	readonly key: string;
	readonly id: Id;
	/** Tells one claim of a key from the next by the same object. */
	readonly token: string;
}

/** The lookup that holds idempotency keys. */
export const IDEMPOTENCY_LOOKUP = RESERVED_LOOKUPS.idempotency;

export function newToken(): string {
	return randomBytes(9).toString("base64url");
}

/** The token of an idempotency key: what the request was, so that another one with the same key is told from a repeat. */
export function requestToken(request: JsonObject): string {
	return createHash("sha256")
		.update(JSON.stringify(request))
		.digest("base64url")
		.slice(0, 22);
}

/** The idempotency key of one viewer and one mutation, hashed: clients choose it. */
export function idempotencyLookupKey(scope: string, key: string): string {
	return createHash("sha256").update(`${scope}\0${key}`).digest("base64url");
}

/** The natural keys an object's content claims, with a token for each. */
export function withTokens(
	store: Store,
	type: string,
	data: JsonObject,
): JsonObject {
	const nonces = Object.fromEntries(
		(store.model.objects.get(type)?.lookups ?? [])
			.filter((lookup) => typeof data[lookup.key] === "string")
			.map((lookup) => [lookup.name, newToken()]),
	);
	return Object.keys(nonces).length > 0 ? { ...data, nonces } : data;
}

/** What the object claims, by its content. */
export function reservationsOf(
	store: Store,
	id: Id,
	data: JsonObject,
): readonly Reservation[] {
	const type = store.model.objects.get(typeNameOf(store.model, id) ?? "");
	const nonces = (data.nonces ?? {}) as Readonly<Record<string, string>>;
	const claims: Reservation[] = (type?.lookups ?? []).flatMap((lookup) => {
		const value = data[lookup.key];
		const token = nonces[lookup.name];
		return typeof value === "string" && token !== undefined
			? [{ name: lookup.name, key: normalizeKey(lookup, value), id, token }]
			: [];
	});
	const once = data.once as { key: string; token: string } | null | undefined;
	// The idempotency key goes first: a repeated request has to learn that it is
	// one before it is told that its name is taken, by itself.
	return once === undefined || once === null
		? claims
		: [
				{ name: IDEMPOTENCY_LOOKUP, key: once.key, id, token: once.token },
				...claims,
			];
}
