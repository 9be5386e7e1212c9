import type { IDENTITY } from "../domain/identity.ts";
import { findByKeys } from "../graph/read/findByKeys.ts";
import type { Store } from "../graph/store/store.ts";
import type { Node } from "../graph/types.ts";

type NamedLookup = (typeof IDENTITY)["nameLookup" | "accountLookup"];

/** The user that holds a natural key, also if the account is closed; null if nobody does. */
export async function userByKey(
	store: Store,
	name: NamedLookup,
	key: string,
): Promise<Node | null> {
	const lookup = store.model.lookups.get(name);
	if (!lookup) throw new TypeError(`The schema has no lookup ${name}.`);
	const [user = null] = await findByKeys(store, lookup, [key]);
	if (user instanceof Error) throw user;
	return user;
}
