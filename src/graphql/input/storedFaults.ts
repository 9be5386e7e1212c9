import type { GraphQLSchema } from "graphql";
import { type FieldFault, fieldFaults } from "../../model/fieldFault.ts";
import { quoted } from "./quote.ts";
import {
	email,
	image,
	isSlug,
	MAX_BIO,
	MAX_DESCRIPTION,
	MAX_DETAILS,
	MAX_NAME,
	MAX_TEXT,
	type Rule,
	text,
	username,
	webAddress,
} from "./rules.ts";

const slug: Rule<string> = (given) =>
	typeof given === "string" && isSlug(given)
		? { value: given }
		: {
				faults: [
					{
						path: "",
						problem: `expected 1 to 100 of a-z 0-9 - but got: ${quoted(given)}`,
					},
				],
			};

/** What OpenID Connect allows for a subject (Core 1.0, §2). */
export const MAX_ACCOUNT = 255;

/** What mutations hold these fields to. */
const RULES: Readonly<Record<string, Rule<unknown>>> = {
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
};

/**
 * Holds values that come another way than by a mutation, those of an import, to
 * the rules of mutations (CONTRACT, "Types"), once their types are right: a
 * username that no mutation lets in could not be asked for by any query.
 */
export function storedFaults(schema: GraphQLSchema): FieldFault {
	const typeFaults = fieldFaults(schema);
	return (type, field, value) => {
		const fault = typeFaults(type, field, value);
		const rule = RULES[`${type}.${field}`];
		if (fault !== null || rule === undefined || value === null) return fault;
		const ruled = rule(value);
		return "faults" in ruled
			? ruled.faults
					.map(({ path, problem }) => `${path} ${problem}`.trim())
					.join("; ")
			: null;
	};
}
