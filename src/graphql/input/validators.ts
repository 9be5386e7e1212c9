import { type Id, parseId } from "../../id/ids.ts";
import { mustBe, type Validator } from "../../model/validation.ts";

/** An id that a client sent. `"reserved"` is well formed but cannot name an object. */
export type InputId = Id | "reserved";

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,100}$/;

export const id: Validator<InputId> = (given) => {
	const parsed = typeof given === "string" ? parseId(given) : "malformed";
	return parsed === "malformed"
		? mustBe("an id, which is a decimal number", given)
		: { value: parsed };
};

export const idempotencyKey: Validator<string> = (given) =>
	typeof given === "string" && IDEMPOTENCY_KEY.test(given)
		? { value: given }
		: mustBe("1 to 100 characters of printable ASCII", given, undefined, {
				min: 1,
				max: 100,
			});
