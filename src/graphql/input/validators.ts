import { type Id, parseId } from "../../id/ids.ts";
import {
	invalid,
	mustBe,
	type ValidationProblem,
	type Validator,
} from "../../model/validation.ts";

/** An id that a client sent. `"reserved"` is well formed but cannot name an object. */
export type InputId = Id | "reserved";

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,100}$/;

export const id: Validator<InputId> = (given) => {
	const parsed = typeof given === "string" ? parseId(given) : "malformed";
	return parsed === "malformed"
		? mustBe("an id, which is a decimal number", given)
		: { value: parsed };
};

/** Ids of 1 to `max` objects, each once. */
export function ids(max: number): Validator<readonly InputId[]> {
	return (given) => {
		if (!Array.isArray(given) || given.length === 0) {
			return mustBe(`a list of 1 to ${max} ids`, given, undefined, {
				min: 1,
				max,
			});
		}
		if (given.length > max) {
			return invalid(`must have at most ${max} ids, got ${given.length}`, {
				code: "TOO_LONG",
				sentence: `Give at most ${max} of them.`,
				parameters: { max },
			});
		}
		const values: InputId[] = [];
		const problems: ValidationProblem[] = [];
		for (const [index, one] of given.entries()) {
			const result = id(one);
			if ("problems" in result) {
				for (const problem of result.problems) {
					problems.push({ ...problem, path: `[${index}]` });
				}
			} else if (result.value !== null) values.push(result.value);
		}
		return problems.length > 0 ? { problems } : { value: [...new Set(values)] };
	};
}

export const idempotencyKey: Validator<string> = (given) =>
	typeof given === "string" && IDEMPOTENCY_KEY.test(given)
		? { value: given }
		: mustBe("1 to 100 characters of printable ASCII", given, undefined, {
				min: 1,
				max: 100,
			});
