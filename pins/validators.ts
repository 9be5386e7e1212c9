import {
	boolean,
	type FieldsOf,
	invalid,
	mustBe,
	optionalPart,
	text,
	type Validator,
	webAddress,
} from "corkboard";
import type { Schema } from "./typed.ts";

/** Maximum lengths, in code points. */
const MAX_NAME = 100;
const MAX_BIO = 500;
const MAX_DESCRIPTION = 500;
const MAX_DETAILS = 1_000;
const MAX_ALT = 500;
const MAX_INTERESTS = 10;
/** The longest path in RFC 5321 §4.5.3.1.3, without its angle brackets. */
const MAX_EMAIL = 254;
/** The longest subject in OpenID Connect Core 1.0, §2. */
export const MAX_ACCOUNT = 255;

const USERNAME = /^[A-Za-z0-9_]{3,30}$/;
/** An interest is first named after its slug, so a slug has the length of a name. */
const SLUG = /^[a-z0-9-]{1,100}$/;
const EMAIL = /^[^\s\p{C}@]+@[^\s\p{C}@]+$/u;

export const isUsername = (text: string): boolean => USERNAME.test(text);
export const isSlug = (text: string): boolean => SLUG.test(text);

/** Stored as given: nothing is trimmed. */
export const username: Validator<string> = (given) =>
	typeof given === "string" && isUsername(given)
		? { value: given }
		: mustBe(
				"3 to 30 of A-Z a-z 0-9 _",
				given,
				"Use 3 to 30 letters, digits or underscores.",
				{ min: 3, max: 30 },
			);

/** Only plausible: an address is proved by a message sent to it. The error, which is logged, does not repeat it. */
export const email: Validator<string> = (given) => {
	const result = text(MAX_EMAIL)(given);
	if ("problems" in result || result.value === null) return result;
	return EMAIL.test(result.value)
		? result
		: invalid("must be an e-mail address: one @, no spaces", {
				sentence: "Give an e-mail address, such as ada@example.com.",
			});
};

export const slug: Validator<string> = (given) =>
	typeof given === "string" && isSlug(given)
		? { value: given }
		: mustBe(
				"1 to 100 of a-z 0-9 -",
				given,
				"Use 1 to 100 lowercase letters, digits or hyphens.",
				{ min: 1, max: 100 },
			);

/** The slugs of a pin's interests, without repetition. */
export const slugs: Validator<readonly string[]> = (given) => {
	if (!Array.isArray(given)) return mustBe("a list of slugs", given);
	if (given.length > MAX_INTERESTS) {
		return invalid(
			`must have at most ${MAX_INTERESTS} slugs, got ${given.length}`,
			{
				code: "TOO_LONG",
				sentence: `Choose at most ${MAX_INTERESTS} interests.`,
				parameters: { max: MAX_INTERESTS },
			},
		);
	}
	const problems = given.flatMap((one: unknown, index) => {
		const result = slug(one);
		return "problems" in result
			? result.problems.map((problem) => ({ ...problem, path: `[${index}]` }))
			: [];
	});
	return problems.length > 0 ? { problems } : { value: [...new Set(given)] };
};

export interface Image {
	readonly [part: string]: string | number;
	readonly url: string;
}

export const image: Validator<Image> = (given) => {
	if (typeof given !== "object" || given === null) {
		return mustBe("an image", given);
	}
	const parts: Readonly<Record<string, unknown>> = { ...given };
	const results = {
		url: webAddress(parts.url),
		width: optionalPart(pixels, parts.width),
		height: optionalPart(pixels, parts.height),
		alt: optionalPart(text(MAX_ALT), parts.alt),
	};
	const problems = Object.entries(results).flatMap(([part, result]) =>
		"problems" in result
			? result.problems.map((problem) => ({ ...problem, path: `.${part}` }))
			: [],
	);
	const url = "value" in results.url ? results.url.value : null;
	if (url === null || problems.length > 0) {
		return {
			problems:
				"value" in results.url && url === null
					? [
							{
								path: ".url",
								message: "must not be empty",
								code: "REQUIRED" as const,
								sentence: "Give the address of the picture.",
							},
							...problems,
						]
					: problems,
		};
	}
	const value: Record<string, string | number> & { url: string } = { url };
	for (const part of ["width", "height", "alt"] as const) {
		const result = results[part];
		if ("value" in result && result.value !== null) value[part] = result.value;
	}
	return { value };
};

const pixels: Validator<number> = (given) =>
	typeof given === "number" && Number.isSafeInteger(given) && given > 0
		? { value: given }
		: mustBe("a positive number of pixels", given, undefined, { min: 1 });

/**
 * Every stored field that clients or imports write. With the SDL, an entry is
 * all that a field needs: create and update mutations and import lines follow
 * from it. Problems are reported in this order.
 */
export const fieldPolicies = {
	User: {
		username: { validate: username },
		name: { validate: text(MAX_NAME), defaultFrom: "username" },
		email: { validate: email },
		bio: { validate: text(MAX_BIO) },
		website: { validate: webAddress },
		avatar: { validate: image },
		account: { validate: text(MAX_ACCOUNT), operatorOnly: true },
	},
	Board: {
		name: { validate: text(MAX_NAME) },
		description: { validate: text(MAX_DESCRIPTION) },
		cover: { validate: image },
		secret: { validate: boolean },
	},
	Pin: {
		title: { validate: text(MAX_NAME) },
		details: { validate: text(MAX_DETAILS) },
		link: { validate: webAddress },
		image: { validate: image },
	},
	Interest: {
		slug: { validate: slug },
		name: { validate: text(MAX_NAME) },
	},
} as const satisfies FieldsOf<Schema>;
