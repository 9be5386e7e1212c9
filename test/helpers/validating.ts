import assert from "node:assert/strict";
import type { Validator } from "../../src/model/validation.ts";
import { quoted } from "../../src/util/quoted.ts";

/** Asserts that a value is valid and is stored as `value`. */
export function assertValid<T>(
	validate: Validator<T>,
	given: unknown,
	value: T | null,
): void {
	assert.deepEqual(validate(given), { value });
}

/** The problems of an invalid value, each as `path message`. */
export function problemsOf(
	validate: Validator<unknown>,
	given: unknown,
): readonly string[] {
	const result = validate(given);
	assert.ok("problems" in result, `expected a problem with ${quoted(given)}`);
	return result.problems.map(({ path, message }) =>
		`${path} ${message}`.trim(),
	);
}
