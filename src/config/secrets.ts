/** What signs tokens and encrypts cursors, and what was used for that before and is still accepted. */
export type Secrets = readonly [current: Uint8Array, ...former: Uint8Array[]];

/** RFC 7518 §3.2: an HS256 key is at least as long as its hash. */
export const SECRET_BYTES = 32;

/** PEM, also in one line with `\\n` in it; the line of an SSH key; a JWK. */
const PUBLIC_KEY =
	/-----BEGIN [A-Z ]*(KEY|CERTIFICATE)-----|(^|[,\n])\s*(ssh|ecdsa)-|"kty"\s*:/;

/**
 * One secret, or several that are separated by commas or line ends. A fault is
 * the end of a sentence that begins with where the text is from. It repeats no
 * part of the text, which may be part of a secret.
 */
export function parseSecrets(
	text: string,
): { readonly secrets: Secrets } | { readonly fault: string } {
	const [current = Buffer.alloc(0), ...former] = text
		.trim()
		.split(/[,\n]/)
		.map((value) => Buffer.from(value.trim()));
	const secrets: Secrets = [current, ...former];
	if (PUBLIC_KEY.test(text)) {
		return {
			fault:
				"must be random text, and not a key pair's half: everybody may have the public one, and could sign. CORKBOARD_JWKS is for public keys",
		};
	}
	const short = secrets.findIndex(({ length }) => length < SECRET_BYTES);
	const bytes = secrets[short]?.length;
	if (bytes === undefined) return { secrets };
	return {
		fault:
			former.length === 0
				? `must have at least ${SECRET_BYTES} bytes, got ${bytes}`
				: `must have at least ${SECRET_BYTES} bytes in each value, got ${bytes} in value ${short + 1} of ${secrets.length}. A comma separates two values`,
	};
}
