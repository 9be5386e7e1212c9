import { CorkboardError } from "../../errors.ts";
import type { KeyResult } from "../../storage/storage.ts";

/** All answers; or the first error among them, thrown: for work that is of no use in part. */
export function valuesOrThrow<T>(
	answers: readonly KeyResult<T>[],
): readonly T[] {
	return answers.map((answer) => {
		if (answer instanceof CorkboardError) throw answer;
		return answer;
	});
}
