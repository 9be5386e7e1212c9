import { IDENTITY } from "../domain/identity.ts";
import { CorkboardError } from "../errors.ts";
import { isActive } from "../graph/read/visibilityPolicy.ts";
import { type Id, parseId } from "../id/ids.ts";
import type { Corkboard } from "./openCorkboard.ts";
import { userByKey } from "./userByKey.ts";

/** The user with this username or id, also if the account is closed. A username may be all digits, so usernames are tried first. Throws NOT_FOUND. */
export async function findUser(
	corkboard: Corkboard,
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
	corkboard: Corkboard,
	nameOrId: string,
): Promise<Id> {
	const id = await findUser(corkboard, nameOrId);
	if (!(await corkboard.isUser(id))) throw userNotFound(nameOrId);
	return id;
}

/** Null if nobody has this username; closed accounts keep theirs. */
export async function findUserByUsername(
	corkboard: Corkboard,
	username: string,
): Promise<Id | null> {
	const user = await userByKey(corkboard.store, IDENTITY.nameLookup, username);
	return user !== null && isActive(user) ? user.id : null;
}

async function exists({ store }: Corkboard, id: Id): Promise<boolean> {
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
