import { CorkboardError } from "../errors.ts";
import { findByKeys } from "../graph/read/findByKeys.ts";
import { isActive } from "../graph/read/visibilityPolicy.ts";
import type { Store } from "../graph/store/store.ts";
import type { Node } from "../graph/types.ts";
import { type Id, parseId } from "../id/ids.ts";
import type { MaybePromise } from "../util/maybePromise.ts";
import type { App } from "./defineApp.ts";

/** Where users are looked for: a Corkboard. */
interface Users {
	readonly app: Pick<App, "identity">;
	readonly store: Store;
	isUser(id: Id): MaybePromise<boolean>;
}

/** The user with this username or id, even if the account is closed. A username may be all digits, so usernames are tried first. Throws NOT_FOUND. */
export async function findUser(
	corkboard: Users,
	nameOrId: string,
): Promise<Id> {
	const named = await findUserByName(corkboard, nameOrId);
	if (named !== null) return named;
	const id = parseId(nameOrId);
	if (id !== "malformed" && id !== "reserved" && (await exists(corkboard, id)))
		return id;
	throw userNotFound(corkboard, nameOrId);
}

/** As `findUser`, for a user who may sign in: throws NOT_FOUND if the account is closed. */
export async function findActiveUser(
	corkboard: Users,
	nameOrId: string,
): Promise<Id> {
	const id = await findUser(corkboard, nameOrId);
	if (!(await corkboard.isUser(id))) throw userNotFound(corkboard, nameOrId);
	return id;
}

/** Null if nobody has this name; closed accounts keep theirs. */
export async function findUserByName(
	{ app, store }: Pick<Users, "app" | "store">,
	name: string,
): Promise<Id | null> {
	const user = await userByKey(store, app.identity.nameLookup, name);
	return user !== null && isActive(user) ? user.id : null;
}

async function exists({ app, store }: Users, id: Id): Promise<boolean> {
	const [object] = await store.readObjects([id]);
	if (object instanceof Error) throw object;
	const node = object?.node ?? null;
	return node?.type === app.identity.type && isActive(node);
}

function userNotFound({ app }: Users, nameOrId: string): CorkboardError {
	return new CorkboardError(
		"NOT_FOUND",
		`${app.identity.type} ${JSON.stringify(nameOrId)} not found.`,
	);
}

/** The user that holds a natural key, even if the account is closed; null if nobody does. */
export async function userByKey(
	store: Store,
	name: string,
	key: string,
): Promise<Node | null> {
	const lookup = store.model.lookups.get(name);
	if (!lookup) throw new TypeError(`The schema has no lookup ${name}.`);
	const [user = null] = await findByKeys(store, lookup, [key]);
	if (user instanceof Error) throw user;
	return user;
}
