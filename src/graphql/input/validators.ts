import { type Id, parseId } from "../../id/ids.ts";
import {
	invalid,
	mustBe,
	slug,
	type Validator,
} from "../../model/validation.ts";

/** Rules of what inputs hold besides the fields of objects, which are in model/fieldRules.ts. */

/** An id as a client names it. `"reserved"` is well formed and names nothing. */
export type InputId = Id | "reserved";

const MAX_SLUGS = 10;
const KEY = /^[\x20-\x7e]{1,100}$/;

export const id: Validator<InputId> = (given) => {
	const parsed = typeof given === "string" ? parseId(given) : "malformed";
	return parsed === "malformed"
		? mustBe("an id: a decimal number,", given)
		: { value: parsed };
};

export const boolean: Validator<boolean> = (given) =>
	typeof given === "boolean"
		? { value: given }
		: mustBe("true or false", given);

export const idempotencyKey: Validator<string> = (given) =>
	typeof given === "string" && KEY.test(given)
		? { value: given }
		: mustBe("1 to 100 characters of printable ASCII", given);

/** Slugs of interests, each once. */
export const slugs: Validator<readonly string[]> = (given) => {
	if (!Array.isArray(given)) return mustBe("a list of slugs", given);
	if (given.length > MAX_SLUGS) {
		return invalid(
			`expected at most ${MAX_SLUGS} slugs but got: ${given.length}`,
		);
	}
	const faults = given.flatMap((one: unknown, index) => {
		const ruled = slug(one);
		return "faults" in ruled
			? ruled.faults.map((fault) => ({ ...fault, path: `[${index}]` }))
			: [];
	});
	return faults.length > 0 ? { faults } : { value: [...new Set(given)] };
};
