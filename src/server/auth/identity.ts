import { type Id, parseId } from "../../id/ids.ts";
import { type AccessTokens, unauthenticated } from "./accessTokens.ts";
import { NO_OPERATORS, type Operators } from "./operators.ts";

/** Reads of the graph that resolve a token's subject. */
export interface Users {
	/** Whether this id names an active user. */
	readonly isUser: (id: Id) => Promise<boolean>;
	/** The user linked by an operator to this account of an external identity provider. */
	readonly userOfAccount: (account: string) => Promise<Id | null>;
}

/** The sender of a request. */
export interface Identity {
	/** Null for an anonymous request. */
	readonly viewer: Id | null;
	readonly isOperator: boolean;
}

const ANONYMOUS: Identity = { viewer: null, isOperator: false };

/**
 * The identity in a request's Authorization header; without one, anonymous. An
 * invalid header rejects the whole request (UNAUTHENTICATED): treated as
 * anonymous, a client with an expired token would see an empty graph. Whether
 * the user is active is read for every request, also with a cached token.
 */
export async function identify(
	authorization: string | undefined,
	tokens: Pick<AccessTokens, "verify">,
	{ isUser, userOfAccount }: Users,
	operators: Pick<Operators, "ids"> = NO_OPERATORS,
): Promise<Identity> {
	if (authorization === undefined) return ANONYMOUS;
	const token = /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
	if (token === undefined) {
		throw unauthenticated("The Authorization header must be: Bearer TOKEN.");
	}
	const { subject, isOperator } = await tokens.verify(token);
	const identityOf = (viewer: Id): Identity => ({
		viewer,
		isOperator: isOperator || operators.ids.has(viewer),
	});
	const id = parseId(subject);
	const isId = id !== "malformed" && id !== "reserved";
	if (isId && (await isUser(id))) return identityOf(id);
	const linked = await userOfAccount(subject);
	if (linked !== null && (await isUser(linked))) return identityOf(linked);
	throw unauthenticated("The token names no active user.");
}
