import { type Id, parseId } from "../../id/ids.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import { type AccessTokens, unauthenticated } from "./accessTokens.ts";
import { NO_OPERATORS, type Operators } from "./operators.ts";

/** Reads of the graph that resolve a token's subject. */
export interface Users {
	/** Whether this id names an active user. */
	readonly isUser: (id: Id) => MaybePromise<boolean>;
	/** The user linked by an operator to this account of an external identity provider. */
	readonly userOfAccount: (account: string) => MaybePromise<Id | null>;
}

/** The sender of a request. */
export interface Identity {
	/** Null for an anonymous request. */
	readonly viewer: Id | null;
	readonly isOperator: boolean;
}

const ANONYMOUS: Identity = { viewer: null, isOperator: false };

/**
 * The identity in a request's Authorization header; without one, or with an empty
 * one, anonymous. An
 * invalid header rejects the whole request (UNAUTHENTICATED): treated as
 * anonymous, a client with an expired token would see an empty graph. Whether
 * the user is active is read for every request, also with a cached token.
 * Throws if nothing has to be waited for, and else rejects.
 */
export function identify(
	authorization: string | undefined,
	tokens: Pick<AccessTokens, "verify">,
	users: Users,
	operators: Pick<Operators, "ids"> = NO_OPERATORS,
): MaybePromise<Identity> {
	if (authorization === undefined || isEmpty(authorization)) return ANONYMOUS;
	const token = /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
	if (token === undefined) {
		throw unauthenticated("The Authorization header must be: Bearer TOKEN.");
	}
	return andThen(tokens.verify(token), ({ subject, isOperator }) =>
		andThen(activeUser(subject, users), (viewer) => {
			if (viewer !== null) {
				return {
					viewer,
					isOperator: isOperator || operators.ids.has(viewer),
				};
			}
			throw unauthenticated("The token names no active user.");
		}),
	);
}

/** What clients send that have no token and set the header all the same. A scheme without a token is not empty. */
function isEmpty(authorization: string): boolean {
	return authorization.trim() === "";
}

/** The active user that this subject of a token names, by id or by account. */
function activeUser(
	subject: string,
	{ isUser, userOfAccount }: Users,
): MaybePromise<Id | null> {
	const byAccount = () =>
		andThen(userOfAccount(subject), (linked) =>
			linked === null
				? null
				: andThen(isUser(linked), (isActive) => (isActive ? linked : null)),
		);
	const id = parseId(subject);
	if (id === "malformed" || id === "reserved") return byAccount();
	return andThen(isUser(id), (isActive) => (isActive ? id : byAccount()));
}
