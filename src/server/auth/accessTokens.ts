import { createHash, createSecretKey } from "node:crypto";
import {
	createRemoteJWKSet,
	customFetch,
	errors,
	type JWTPayload,
	type JWTVerifyOptions,
	jwtVerify,
	SignJWT,
} from "jose";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import { Lru } from "../../util/lru.ts";
import { hasOperatorClaim, type OperatorClaim } from "./operators.ts";

/** Who is who: a token (RFC 7519) says who sends a request. */
export interface AccessTokens {
	/** Whether we sign any. */
	readonly signs: boolean;
	/** Throws BAD_CONFIG where somebody else signs them. */
	sign(id: Id): Promise<string>;
	/** Throws UNAUTHENTICATED for anything but a living token, UNAVAILABLE where keys cannot be had. */
	verify(token: string): Promise<VerifiedToken>;
}

/** What is believed of a token that verifies. */
export interface VerifiedToken {
	readonly subject: string;
	/** Whether it says that whoever it is of is an operator. */
	readonly isOperator: boolean;
}

/** What a token has to say beside who it is for and until when. */
export interface ExpectedClaims {
	readonly issuer: string | null;
	readonly audience: string | null;
	/** The claim that names the user. */
	readonly subject: string;
}

const PLAIN: ExpectedClaims = { issuer: null, audience: null, subject: "sub" };

/** RFC 7518 §3.2: a key of HS256 has at least the size of its hash. */
const SECRET_BYTES = 32;
/** By how much clocks may differ. */
const SKEW_S = 30;
/** Tokens that were found good and are remembered, at most. */
const MAX_VERIFIED = 10_000;
/** What OpenID Connect allows for a subject (Core 1.0, §2). */
const MAX_SUBJECT = 255;

/** Tokens of our own: HS256. The algorithm is pinned, so that a token cannot choose how it is verified. */
export function createAccessTokens(
	secret: Uint8Array,
	lifetimeSeconds: number,
	claims: ExpectedClaims = PLAIN,
	/** Of which one makes a token an operator's. */
	operatorClaims: readonly OperatorClaim[] = [],
): AccessTokens {
	if (secret.length < SECRET_BYTES) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`the secret must have at least ${SECRET_BYTES} bytes but got: ${secret.length}`,
		);
	}
	const key = createSecretKey(secret);
	const { issuer, audience, subject } = claims;
	return {
		signs: true,
		sign(id) {
			const now = Math.floor(Date.now() / 1000);
			const token = new SignJWT({ [subject]: id })
				.setProtectedHeader({ alg: "HS256", typ: "JWT" })
				.setIssuedAt(now)
				.setExpirationTime(now + lifetimeSeconds);
			if (issuer !== null) token.setIssuer(issuer);
			if (audience !== null) token.setAudience(audience);
			return token.sign(key);
		},
		verify: cachedVerify(
			async (token) =>
				(await jwtVerify(token, key, optionsOf(["HS256"], claims))).payload,
			claims,
			operatorClaims,
		),
	};
}

/**
 * Tokens of somebody else, whose public keys are at a URL. They are fetched
 * when first needed, again every ten minutes, and at once for a key that is
 * not among them, but not twice in 30 s. HS256 is not taken: a public key is
 * no secret, and ours signs nothing here.
 */
export function createJwksAccessTokens(
	url: string,
	claims: ExpectedClaims,
	operatorClaims: readonly OperatorClaim[] = [],
): AccessTokens {
	const keys = createRemoteJWKSet(new URL(url), {
		timeoutDuration: 3_000,
		cooldownDuration: 30_000,
		cacheMaxAge: 600_000,
		[customFetch]: fetchKeys,
	});
	const options = optionsOf(["RS256", "ES256", "EdDSA"], claims);
	return {
		signs: false,
		async sign() {
			throw new CorkboardError(
				"BAD_CONFIG",
				"tokens come from whoever has the keys of CORKBOARD_JWKS: none are made here",
			);
		},
		verify: cachedVerify(
			async (token) => (await jwtVerify(token, keys, options)).payload,
			claims,
			operatorClaims,
		),
	};
}

/** As `fetch` does, but whatever keeps it from answering is known by its code: fetch throws TypeErrors, as keys that will not do. */
async function fetchKeys(url: string, options: RequestInit): Promise<Response> {
	try {
		return await fetch(url, options);
	} catch (cause) {
		throw unavailable(cause);
	}
}

/** jose takes tokens without `exp` unless told otherwise. */
function optionsOf(
	algorithms: string[],
	{ issuer, audience, subject }: ExpectedClaims,
): JWTVerifyOptions {
	return {
		algorithms,
		requiredClaims: ["exp", subject],
		clockTolerance: SKEW_S,
		...(issuer !== null && { issuer }),
		...(audience !== null && { audience }),
	};
}

/**
 * A token that was good is good until it ends, so its signature is checked
 * once: that costs as much as a whole small answer. Its SHA-256 is kept, not
 * itself: who reads this memory has no token to use. A key that is withdrawn
 * early is not noticed for tokens that are kept; those whom it matters to are
 * deactivated, which is asked for every request.
 */
function cachedVerify(
	payloadOf: (token: string) => Promise<JWTPayload>,
	claims: ExpectedClaims,
	operatorClaims: readonly OperatorClaim[],
): AccessTokens["verify"] {
	const known = new Lru<VerifiedToken>({
		maxWeight: MAX_VERIFIED,
		weigh: () => 1,
		now: () => Date.now(),
	});
	return async (token) => {
		const hash = createHash("sha256").update(token).digest("base64");
		const kept = known.get(hash);
		if (kept !== undefined) return kept;
		let payload: JWTPayload;
		try {
			payload = await payloadOf(token);
		} catch (cause) {
			throw verificationError(cause);
		}
		// A number would have lost digits already.
		const subject = payload[claims.subject];
		if (
			typeof subject !== "string" ||
			subject === "" ||
			subject.length > MAX_SUBJECT
		) {
			throw unauthenticated("The token names no user.");
		}
		const endsAt = ((payload.exp as number) + SKEW_S) * 1_000;
		const verified: VerifiedToken = {
			subject,
			isOperator: hasOperatorClaim(payload, operatorClaims),
		};
		known.set(hash, verified, endsAt - Date.now());
		return verified;
	};
}

/**
 * Keys that cannot be had are not the client's fault: it may try again with the
 * same token. One that was had and will not do (too short, not a point of its
 * curve) verifies nothing, now or later.
 */
function verificationError(cause: unknown): CorkboardError {
	if (cause instanceof CorkboardError) return cause;
	if (
		cause instanceof errors.JWKSInvalid ||
		(cause instanceof errors.JOSEError && cause.code === "ERR_JOSE_GENERIC")
	) {
		return unavailable(cause);
	}
	return unauthenticated(
		cause instanceof errors.JWTExpired
			? "The token has expired."
			: "The token does not verify.",
		cause,
	);
}

function unavailable(cause: unknown): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"Tokens cannot be verified at the moment. Try again.",
		{ cause },
	);
}

export function unauthenticated(
	message: string,
	cause?: unknown,
): CorkboardError {
	return new CorkboardError("UNAUTHENTICATED", message, { cause });
}
