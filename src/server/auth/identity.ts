import { type Id, parseId } from "../../id/ids.ts";
import { type AccessTokens, unauthenticated } from "./accessTokens.ts";
import { NO_OPERATORS, type Operators } from "./operators.ts";

/** What is asked of the graph to tell who a token's subject is. */
export interface Users {
	/** Whether this id names an active user. */
	readonly isUser: (id: Id) => Promise<boolean>;
	/** The user whom an operator linked to this account of whoever else signs tokens. */
	readonly userOfAccount: (account: string) => Promise<Id | null>;
}

/** Who a request is from. */
export interface Identity {
	/** Null where it names nobody. */
	readonly viewer: Id | null;
	readonly isOperator: boolean;
}

const ANONYMOUS: Identity = { viewer: null, isOperator: false };

/**
 * The viewer a request names in its Authorization header; null without one. A
 * header that cannot be believed refuses the whole request (UNAUTHENTICATED):
 * answered as anonymous, a client would take its own expiry for an empty graph.
 * That the user is active is asked for every request, however long its token
 * has been known.
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
		throw unauthenticated(
			"The Authorization header must read: Bearer, a space, a token.",
		);
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
