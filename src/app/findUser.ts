import { IDENTITY } from "../domain/identity.ts";
import { CorkboardError } from "../errors.ts";
import { type Id, parseId } from "../id/ids.ts";
import type { Corkboard } from "./openCorkboard.ts";

/** The user with this username or id. A username may be all digits, so usernames are tried first. Throws NOT_FOUND. */
export async function findActiveUser(
	corkboard: Corkboard,
	nameOrId: string,
): Promise<Id> {
	const named = await findUserByUsername(corkboard, nameOrId);
	if (named) return named;
	const id = parseId(nameOrId);
	const isId = id !== "malformed" && id !== "reserved";
	if (isId && (await corkboard.isUser(id))) return id;
	throw new CorkboardError(
		"NOT_FOUND",
		`${IDENTITY.type} ${JSON.stringify(nameOrId)} not found.`,
	);
}

export async function findUserByUsername(
	{ model, createContext: request, isUser }: Corkboard,
	username: string,
): Promise<Id | null> {
	const lookup = model.lookups.get(IDENTITY.nameLookup);
	if (!lookup)
		throw new TypeError(`The schema has no lookup ${IDENTITY.nameLookup}.`);
	const [id = null] = await request(null).graph.lookUp(lookup, [username]);
	if (id instanceof Error) throw id;
	return id !== null && (await isUser(id)) ? id : null;
}
