import { createHash, randomBytes } from "node:crypto";
import type { Id } from "../../../id/ids.ts";
import { RESERVED_LOOKUPS } from "../../../model/reservedNames.ts";
import { keyOfContent } from "../../../model/types.ts";
import type { JsonObject } from "../../../util/json.ts";
import type { Store } from "../../store/store.ts";
import { typeNameOf } from "../../store/typeName.ts";

/**
 * A natural key that an object holds or tries to get. The object's stored JSON
 * has `tokens`, one for each of its keys, and `idempotency` for a request that
 * may be repeated, whose key is reserved like a name. `state` is "pending"
 * until all keys are its own, absent from then on, and "rejected" if one is
 * not (docs/consistency.md "4. Reservations (natural keys)").
 */
export interface Reservation {
	readonly name: string;
	readonly key: string;
	readonly id: Id;
	/** Distinguishes two reservations of one key by the same object. */
	readonly token: string;
}

/** The lookup that holds idempotency keys. */
export const IDEMPOTENCY_LOOKUP = RESERVED_LOOKUPS.idempotency;

export function newToken(): string {
	return randomBytes(9).toString("base64url");
}

/** The token of an idempotency key: a hash of the request, which distinguishes a repeat from another request with the same key. */
export function requestToken(request: JsonObject): string {
	return createHash("sha256")
		.update(JSON.stringify(request))
		.digest("base64url")
		.slice(0, 22);
}

/** The idempotency key of one viewer and one mutation, hashed because clients choose it. */
export function idempotencyLookupKey(scope: string, key: string): string {
	return createHash("sha256").update(`${scope}\0${key}`).digest("base64url");
}

/** The content with a new token for each natural key in it. */
export function withTokens(
	store: Store,
	type: string,
	data: JsonObject,
): JsonObject {
	const tokens = Object.fromEntries(
		(store.model.objects.get(type)?.lookups ?? [])
			.filter((lookup) => keyOfContent(lookup, data) !== null)
			.map((lookup) => [lookup.name, newToken()]),
	);
	return Object.keys(tokens).length > 0 ? { ...data, tokens } : data;
}

/** The natural keys that an object's content names, with its tokens. */
export function reservationsOf(
	store: Store,
	id: Id,
	data: JsonObject,
): readonly Reservation[] {
	const type = store.model.objects.get(typeNameOf(store.model, id) ?? "");
	const tokens = (data.tokens ?? {}) as Readonly<Record<string, string>>;
	const reservations: Reservation[] = (type?.lookups ?? []).flatMap(
		(lookup) => {
			const key = keyOfContent(lookup, data);
			const token = tokens[lookup.name];
			return key !== null && token !== undefined
				? [{ name: lookup.name, key, id, token }]
				: [];
		},
	);
	const idempotency = data.idempotency as
		| { readonly key: string; readonly token: string }
		| null
		| undefined;
	// The idempotency key goes first: a repeated request has to learn that it is
	// one before it is refused because its first try holds the name.
	return idempotency === undefined || idempotency === null
		? reservations
		: [{ name: IDEMPOTENCY_LOOKUP, id, ...idempotency }, ...reservations];
}

export function isSameReservation(
	one: Reservation,
	other: Reservation,
): boolean {
	return (
		one.name === other.name &&
		one.key === other.key &&
		one.token === other.token
	);
}
