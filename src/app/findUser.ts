import { CorkboardError } from "../errors.ts";
import { findByKeys } from "../graph/read/findByKeys.ts";
import { isActive } from "../graph/read/visibilityPolicy.ts";
import type { Store } from "../graph/store/store.ts";
import type { Node } from "../graph/types.ts";
import { type Id, parseId } from "../id/ids.ts";
import type { MaybePromise } from "../util/maybePromise.ts";
import { IDENTITY } from "./identity.ts";

/** Where users are looked for: a Corkboard. */
interface Users {
	readonly store: Store;
	isUser(id: Id): MaybePromise<boolean>;
}

/** The user with this username or id, also if the account is closed. A username may be all digits, so usernames are tried first. Throws NOT_FOUND. */
export async function findUser(
	corkboard: Users,
	nameOrId: string,
): Promise<Id> {
	const named = await findUserByUsername(corkboard, nameOrId);
	if (named !== null) return named;
	const id = parseId(nameOrId);
	if (id !== "malformed" && id !== "reserved" && (await exists(corkboard, id)))
		return id;
	throw userNotFound(nameOrId);
}

/** As `findUser`, for a user who may sign in: throws NOT_FOUND if the account is closed. */
export async function findActiveUser(
	corkboard: Users,
	nameOrId: string,
): Promise<Id> {
	const id = await findUser(corkboard, nameOrId);
	if (!(await corkboard.isUser(id))) throw userNotFound(nameOrId);
	return id;
}

/** Null if nobody has this username; closed accounts keep theirs. */
export async function findUserByUsername(
	corkboard: Pick<Users, "store">,
	username: string,
): Promise<Id | null> {
	const user = await userByKey(corkboard.store, IDENTITY.nameLookup, username);
	return user !== null && isActive(user) ? user.id : null;
}

async function exists({ store }: Users, id: Id): Promise<boolean> {
	const [object] = await store.readObjects([id]);
	if (object instanceof Error) throw object;
	const node = object?.node ?? null;
	return node?.type === IDENTITY.type && isActive(node);
}

function userNotFound(nameOrId: string): CorkboardError {
	return new CorkboardError(
		"NOT_FOUND",
		`${IDENTITY.type} ${JSON.stringify(nameOrId)} not found.`,
	);
}

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
