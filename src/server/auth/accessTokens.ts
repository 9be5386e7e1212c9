import {
	createHmac,
	createSecretKey,
	hash,
	type KeyObject,
	timingSafeEqual,
} from "node:crypto";
import {
	createRemoteJWKSet,
	customFetch,
	decodeProtectedHeader,
	errors,
	type FlattenedJWSInput,
	type JWSHeaderParameters,
	type JWTPayload,
	type JWTVerifyOptions,
	jwksCache,
	jwtVerify,
	SignJWT,
	UnsecuredJWT,
} from "jose";
import { SECRET_BYTES, type Secrets } from "../../config/secrets.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import { BoundedMap } from "../../util/boundedMap.ts";
import { isPromise, type MaybePromise } from "../../util/maybePromise.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { SERVER_CHANNELS, type TokenProblem } from "../diagnostics.ts";
import { hasOperatorClaim, type OperatorClaim } from "./operators.ts";

/** JSON Web Tokens (RFC 7519) that identify the sender of a request. */
export interface AccessTokens {
	/** Whether this server signs tokens. */
	readonly signs: boolean;
	/** Throws BAD_CONFIG if another service signs them. */
	sign(id: Id): Promise<string>;
	/** Rejects with UNAUTHENTICATED for an invalid token, with UNAVAILABLE if the keys cannot be fetched. At once for a token that was verified before, and for one that this server signed. */
	verify(token: string): MaybePromise<VerifiedToken>;
}

/** What a valid token says. */
interface VerifiedToken {
	readonly subject: string;
	/** Whether a claim makes its subject an operator. */
	readonly isOperator: boolean;
}

/** Claims that a token must have, besides its subject and expiry. */
interface ExpectedClaims {
	readonly issuer: string | null;
	readonly audience: string | null;
	/** The name of the claim with the subject. */
	readonly subject: string;
}

const PLAIN: ExpectedClaims = { issuer: null, audience: null, subject: "sub" };

/** Allowed difference between clocks. */
const SKEW_S = 30;
/** So old, the keys of an issuer are fetched again. */
const REFRESH_MS = 600_000;
/** So soon after a fetch, neither an unknown key nor a failure begins another. */
const COOLDOWN_MS = 30_000;
/** Most valid tokens in the cache. */
const MAX_VERIFIED = 10_000;
/** Characters of a subject in OpenID Connect (Core 1.0, §2). */
const MAX_SUBJECT = 255;

/** Tokens that this server signs, with HS256 and the first of the secrets. The algorithm is pinned: a token does not choose how it is verified. */
export function createAccessTokens(
	secrets: Secrets,
	lifetimeSeconds: number,
	claims: ExpectedClaims = PLAIN,
	/** One of these makes the subject an operator. */
	operatorClaims: readonly OperatorClaim[] = [],
): AccessTokens {
	for (const { length } of secrets) {
		if (length >= SECRET_BYTES) continue;
		throw new CorkboardError(
			"BAD_CONFIG",
			`The secret must have at least ${SECRET_BYTES} bytes, got ${length}.`,
		);
	}
	const keys = secrets.map((secret) => createSecretKey(secret));
	const signingKey = keys[0] as KeyObject;
	const { issuer, audience, subject } = claims;
	const options = optionsOf(claims);
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
			return token.sign(signingKey);
		},
		verify: cachedVerify(
			(token) => payloadSignedWith(keys, token, options),
			claims,
			operatorClaims,
		),
	};
}

/**
 * The payload of a token that one of the keys signed, at once: jose verifies in
 * another thread, for ten times the CPU. jose checks the claims, as of a token
 * without a signature.
 */
function payloadSignedWith(
	keys: readonly KeyObject[],
	token: string,
	options: JWTVerifyOptions,
): JWTPayload {
	const [header = "", payload = "", signature = "", ...rest] = token.split(".");
	const { alg, crit } = headerOf(token);
	if (alg !== "HS256" || crit !== undefined) {
		throw new errors.JOSEAlgNotAllowed("Only HS256 is allowed.");
	}
	const given = Buffer.from(signature);
	const isSigned = keys.some((key) => {
		const mac = createHmac("sha256", key).update(`${header}.${payload}`);
		const expected = Buffer.from(mac.digest("base64url"));
		return expected.length === given.length && timingSafeEqual(expected, given);
	});
	if (rest.length > 0 || !isSigned) {
		throw new errors.JWSSignatureVerificationFailed();
	}
	return UnsecuredJWT.decode(`${UNSECURED}.${payload}.`, options).payload;
}

/** `{"alg":"none"}` */
const UNSECURED = Buffer.from(JSON.stringify({ alg: "none" })).toString(
	"base64url",
);

function headerOf(token: string): ReturnType<typeof decodeProtectedHeader> {
	try {
		return decodeProtectedHeader(token);
	} catch (cause) {
		throw new errors.JWSInvalid("The token is malformed.", { cause });
	}
}

interface JwksOptions {
	readonly url: string;
	/** How long keys that are known are used while they cannot be fetched again. Milliseconds. */
	readonly maxAgeMs: number;
}

/**
 * Tokens of another service, whose public keys (JWKS) are at a URL. Keys are
 * fetched at first use, every ten minutes, and for an unknown key at once, but
 * at most every 30 s. If the service is away, known keys are used on. HS256 is
 * rejected: a public key must not serve as its secret.
 */
export function createJwksAccessTokens(
	{ url, maxAgeMs }: JwksOptions,
	claims: ExpectedClaims,
	operatorClaims: readonly OperatorClaim[] = [],
): AccessTokens {
	/** `uat` is when keys were fetched last. */
	const fetched: { uat?: number } = {};
	const remote = createRemoteJWKSet(new URL(url), {
		timeoutDuration: 3_000,
		cooldownDuration: COOLDOWN_MS,
		cacheMaxAge: maxAgeMs,
		[customFetch]: fetchKeys,
		[jwksCache]: fetched as Record<string, never>,
	});
	let triedAt = Number.NEGATIVE_INFINITY;
	const keys = async (
		header: JWSHeaderParameters,
		token: FlattenedJWSInput,
	) => {
		const now = Date.now();
		const isOld = now - (fetched.uat ?? now) >= REFRESH_MS;
		// Without keys, or with keys that are too old, it fetches them itself.
		if (isOld && remote.fresh && now - triedAt >= COOLDOWN_MS) {
			triedAt = now;
			await remote.reload().catch((cause) => {
				report("keysKept", "The keys of tokens cannot be fetched.", cause);
			});
		}
		return remote(header, token);
	};
	const options = {
		...optionsOf(claims),
		algorithms: ["RS256", "ES256", "EdDSA"],
	};
	return {
		signs: false,
		async sign() {
			throw new CorkboardError(
				"BAD_CONFIG",
				"This server signs no tokens: CORKBOARD_JWKS names the service that does.",
			);
		},
		verify: cachedVerify(
			async (token) => (await jwtVerify(token, keys, options)).payload,
			claims,
			operatorClaims,
		),
	};
}

/** `fetch`, with an error of its own for its failures. It throws TypeErrors, as jose does for unusable keys. */
async function fetchKeys(url: string, options: RequestInit): Promise<Response> {
	try {
		return await fetch(url, options);
	} catch (cause) {
		throw new KeysNotFetched("The keys of tokens cannot be fetched.", {
			cause,
		});
	}
}

class KeysNotFetched extends Error {}

/** jose accepts tokens without `exp` by default. */
function optionsOf({
	issuer,
	audience,
	subject,
}: ExpectedClaims): JWTVerifyOptions {
	return {
		requiredClaims: ["exp", subject],
		clockTolerance: SKEW_S,
		...(issuer !== null && { issuer }),
		...(audience !== null && { audience }),
	};
}

/**
 * Verifies a token's signature once and caches the result until it expires: a
 * verification takes as long as a small operation. The cache holds SHA-256
 * hashes, so that a memory dump contains no usable token. A revoked key has no
 * effect on cached tokens; deactivate the user instead, which every request
 * checks.
 */
function cachedVerify(
	payloadOf: (token: string) => MaybePromise<JWTPayload>,
	claims: ExpectedClaims,
	operatorClaims: readonly OperatorClaim[],
): AccessTokens["verify"] {
	const valid = new BoundedMap<VerifiedToken>({
		maxWeight: MAX_VERIFIED,
		weigh: () => 1,
		now: () => Date.now(),
	});
	function accept(payload: JWTPayload, tokenHash: string): VerifiedToken {
		// A number would already have lost digits.
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
		valid.set(tokenHash, verified, endsAt - Date.now());
		return verified;
	}
	function verify(
		token: string,
		tokenHash: string,
	): MaybePromise<VerifiedToken> {
		try {
			const payload = payloadOf(token);
			if (!isPromise(payload)) return accept(payload, tokenHash);
			return payload.then(
				(late) => accept(late, tokenHash),
				(cause) => {
					throw verificationError(cause);
				},
			);
		} catch (cause) {
			return Promise.reject(verificationError(cause));
		}
	}

	return (token) => {
		const tokenHash = hash("sha256", token, "base64");
		return valid.get(tokenHash) ?? verify(token, tokenHash);
	};
}

/**
 * UNAVAILABLE if the keys cannot be fetched: the client may retry with the
 * same token. A key that is unusable (too short, not on its curve) makes the
 * token invalid for good.
 */
function verificationError(cause: unknown): CorkboardError {
	if (cause instanceof CorkboardError) return cause;
	if (
		cause instanceof KeysNotFetched ||
		cause instanceof errors.JWKSInvalid ||
		(cause instanceof errors.JOSEError && cause.code === "ERR_JOSE_GENERIC")
	) {
		return unavailable(cause);
	}
	return unauthenticated(
		cause instanceof errors.JWTExpired
			? "The token has expired."
			: "The token is not valid.",
		cause,
	);
}

function unavailable(cause: unknown): CorkboardError {
	const message = "Tokens cannot be verified at the moment. Try again.";
	report("keysUnknown", message, cause);
	return new CorkboardError("UNAVAILABLE", message, { cause });
}

/** For the log. What a token says is not in the messages of jose's errors, and their causes may have it. */
function report(
	kind: TokenProblem["kind"],
	message: string,
	thrown: unknown,
): void {
	// `fetch failed` says nothing: its cause does.
	const cause = thrown instanceof KeysNotFetched ? causeOf(thrown) : thrown;
	const { code } = (cause ?? {}) as { readonly code?: unknown };
	SERVER_CHANNELS.token.publish({
		kind,
		code: typeof code === "string" ? code : "TOKEN",
		reason:
			cause === undefined
				? message
				: `${message} ${reasonOf(cause)}`.slice(0, MAX_REASON),
	});
}

const MAX_REASON = 300;

/** The innermost. */
function causeOf({ cause }: Error): unknown {
	return cause instanceof Error && cause.cause !== undefined
		? cause.cause
		: cause;
}

export function unauthenticated(
	message: string,
	cause?: unknown,
): CorkboardError {
	report("refused", message, cause);
	return new CorkboardError("UNAUTHENTICATED", message, { cause });
}
