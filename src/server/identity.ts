import { createSecretKey } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import { CorkboardError } from "../errors.ts";
import { type Id, parseId } from "../id/ids.ts";

/** Who is who: a token (RFC 7519) says which user sends a request. */
export interface Tokens {
	sign(id: Id): Promise<string>;
	/** Throws UNAUTHENTICATED for anything but a living token of ours. */
	verify(token: string): Promise<Id>;
}

/** RFC 7518 §3.2: a key of HS256 has at least the size of its hash. */
const SECRET_BYTES = 32;

/**
 * jose takes short secrets, and tokens without `exp`, unless told otherwise.
 * The algorithm is pinned, so that a token cannot choose how it is verified.
 */
export function createTokens(
	secret: Uint8Array,
	lifetimeSeconds: number,
): Tokens {
	if (secret.length < SECRET_BYTES) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`the secret must have at least ${SECRET_BYTES} bytes but got: ${secret.length}`,
		);
	}
	const key = createSecretKey(secret);
	return {
		sign(id) {
			const now = Math.floor(Date.now() / 1000);
			return new SignJWT()
				.setProtectedHeader({ alg: "HS256", typ: "JWT" })
				.setSubject(id)
				.setIssuedAt(now)
				.setExpirationTime(now + lifetimeSeconds)
				.sign(key);
		},
		async verify(token) {
			const subject = await subjectOf(token);
			const id = parseId(subject);
			if (id === "malformed" || id === "reserved") {
				throw unauthenticated("The token names no user.");
			}
			return id;
		},
	};

	async function subjectOf(token: string): Promise<string> {
		try {
			const { payload } = await jwtVerify<{ sub: string }>(token, key, {
				algorithms: ["HS256"],
				requiredClaims: ["exp", "sub"],
			});
			return String(payload.sub);
		} catch (cause) {
			throw unauthenticated(
				cause instanceof errors.JWTExpired
					? "The token has expired."
					: "The token does not verify.",
				cause,
			);
		}
	}
}

/**
 * The viewer a request names in its Authorization header; null without one. A
 * header that cannot be believed refuses the whole request (UNAUTHENTICATED):
 * answered as anonymous, a client would take its own expiry for an empty graph.
 */
export async function identify(
	authorization: string | undefined,
	tokens: Tokens,
	isUser: (id: Id) => Promise<boolean>,
): Promise<Id | null> {
	if (authorization === undefined) return null;
	const token = /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
	if (token === undefined) {
		throw unauthenticated(
			"The Authorization header must read: Bearer, a space, a token.",
		);
	}
	const id = await tokens.verify(token);
	if (!(await isUser(id))) {
		throw unauthenticated("The token names no active user.");
	}
	return id;
}

function unauthenticated(message: string, cause?: unknown): CorkboardError {
	return new CorkboardError("UNAUTHENTICATED", message, { cause });
}
