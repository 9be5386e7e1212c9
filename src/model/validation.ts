import type { JsonValue } from "../util/json.ts";
import { quoted } from "../util/quoted.ts";

/**
 * What a field may hold. A rule is asked about a value that was given, and
 * answers it as it is stored (null for a text left blank), or every fault it
 * has.
 */
export type Validator<T> = (given: unknown) => ValidationResult<T>;
export type ValidationResult<T> =
	| { readonly value: T | null }
	| { readonly faults: readonly ValidationProblem[] };

export interface ValidationProblem {
	/** From the field on: empty, or `.url`. */
	readonly path: string;
	readonly message: string;
}

/** Most code points of each text (CONTRACT, "Types"). */
const MAX_NAME = 100;
const MAX_BIO = 500;
const MAX_DESCRIPTION = 500;
const MAX_DETAILS = 1_000;
const MAX_TEXT = 2_000;
const MAX_ALT = 500;
const MAX_URL = 2_048;
/** The longest path RFC 5321 §4.5.3.1.3 lets through, less its angle brackets. */
const MAX_EMAIL = 254;
/** What OpenID Connect allows for a subject (Core 1.0, §2). */
export const MAX_ACCOUNT = 255;

const USERNAME = /^[A-Za-z0-9_]{3,30}$/;
/** An interest's first name is made of its slug, so it has a name's length. */
const SLUG = /^[a-z0-9-]{1,100}$/;
const EMAIL = /^[^\s\p{C}@]+@[^\s\p{C}@]+$/u;
const WEB_ADDRESS = /^https?:\/\/[^\s\p{C}]+$/iu;

export const isUsername = (text: string): boolean => USERNAME.test(text);
export const isSlug = (text: string): boolean => SLUG.test(text);

/** Text, trimmed. Its length is counted in code points: an emoji of one is one character. */
export function text(max: number): Validator<string> {
	return (given) => {
		if (typeof given !== "string") return mustBe("text", given);
		if (!given.isWellFormed()) {
			return invalid("expected text but got an unpaired surrogate");
		}
		if (given.includes("\0")) {
			return invalid("expected text but got a NUL character");
		}
		const trimmed = given.trim();
		// Never more code points than code units.
		const length = trimmed.length > max ? codePoints(trimmed) : 0;
		if (length > max) {
			return invalid(`expected at most ${max} characters but got: ${length}`);
		}
		return { value: trimmed === "" ? null : trimmed };
	};
}

export const webAddress: Validator<string> = (given) => {
	const ruled = text(MAX_URL)(given);
	if ("faults" in ruled || ruled.value === null) return ruled;
	// The parser alone would let "http:example.com" and inner line breaks pass.
	return WEB_ADDRESS.test(ruled.value) && URL.canParse(ruled.value)
		? ruled
		: mustBe("an http or https address", given);
};

/** Kept as it was given, so nothing is trimmed. */
export const username: Validator<string> = (given) =>
	typeof given === "string" && isUsername(given)
		? { value: given }
		: mustBe("3 to 30 of A-Z a-z 0-9 _", given);

/** Plausible, no more: only a letter sent there would prove it. Not repeated in the error, which is logged. */
export const email: Validator<string> = (given) => {
	const ruled = text(MAX_EMAIL)(given);
	if ("faults" in ruled || ruled.value === null) return ruled;
	return EMAIL.test(ruled.value)
		? ruled
		: invalid(
				"expected an e-mail address (one @, no spaces) but got something else",
			);
};

export const slug: Validator<string> = (given) =>
	typeof given === "string" && isSlug(given)
		? { value: given }
		: mustBe("1 to 100 of a-z 0-9 -", given);

export interface Image {
	readonly [part: string]: string | number;
	readonly url: string;
}

export const image: Validator<Image> = (given) => {
	if (typeof given !== "object" || given === null) {
		return mustBe("an image", given);
	}
	const parts: Readonly<Record<string, unknown>> = { ...given };
	const ruled = {
		url: webAddress(parts.url),
		width: optional(pixels, parts.width),
		height: optional(pixels, parts.height),
		alt: optional(text(MAX_ALT), parts.alt),
	};
	const faults = Object.entries(ruled).flatMap(([part, answer]) =>
		"faults" in answer
			? answer.faults.map((fault) => ({ ...fault, path: `.${part}` }))
			: [],
	);
	const url = "value" in ruled.url ? ruled.url.value : null;
	if (url === null || faults.length > 0) {
		return {
			faults:
				"value" in ruled.url && url === null
					? [{ path: ".url", message: "must not be empty" }, ...faults]
					: faults,
		};
	}
	const value: Record<string, string | number> & { url: string } = { url };
	for (const part of ["width", "height", "alt"] as const) {
		const answer = ruled[part];
		if ("value" in answer && answer.value !== null) value[part] = answer.value;
	}
	return { value };
};

const pixels: Validator<number> = (given) =>
	typeof given === "number" && Number.isSafeInteger(given) && given > 0
		? { value: given }
		: mustBe("a positive number of pixels", given);

function optional<T>(rule: Validator<T>, given: unknown): ValidationResult<T> {
	return given === undefined || given === null ? { value: null } : rule(given);
}

/** What the fields of objects hold, whichever way a value comes: by a mutation or in an import's line. */
export const validators = {
	"User.username": username,
	"User.account": text(MAX_ACCOUNT),
	"User.name": text(MAX_NAME),
	"User.email": email,
	"User.bio": text(MAX_BIO),
	"User.website": webAddress,
	"User.avatarUrl": webAddress,
	"Board.name": text(MAX_NAME),
	"Board.description": text(MAX_DESCRIPTION),
	"Pin.details": text(MAX_DETAILS),
	"Pin.link": webAddress,
	"Pin.image": image,
	"Comment.text": text(MAX_TEXT),
	"Interest.slug": slug,
	"Interest.name": text(MAX_NAME),
} as const satisfies Readonly<Record<string, Validator<JsonValue>>>;

/** Fields that have another one's value where they are given none. */
export const defaultFields: Readonly<Record<string, string>> = {
	"User.name": "username",
};

export function mustBe(what: string, given: unknown): ValidationResult<never> {
	return invalid(`expected ${what} but got: ${quoted(given)}`);
}

export function invalid(problem: string): ValidationResult<never> {
	return { faults: [{ path: "", message: problem }] };
}

function codePoints(given: string): number {
	let count = 0;
	for (const _ of given) count += 1;
	return count;
}
