import assert from "node:assert/strict";
import type { Validator } from "../../src/model/validation.ts";
import { quoted } from "../../src/util/quoted.ts";

/** A value as it is stored. */
export function passes<T>(
	rule: Validator<T>,
	given: unknown,
	value: T | null,
): void {
	assert.deepEqual(rule(given), { value });
}

/** The faults, each as `path: problem`. */
export function faults(
	rule: Validator<unknown>,
	given: unknown,
): readonly string[] {
	const ruled = rule(given);
	assert.ok("faults" in ruled, `expected a fault for ${quoted(given)}`);
	return ruled.faults.map(
		({ path, message: problem }) => `${path}: ${problem}`,
	);
}
