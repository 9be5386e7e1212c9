import { randomInt } from "node:crypto";

/** Whether a slow file (`*.slow.test.ts`) runs this one: with all cases, not with some of them. */
export const IS_SLOW_RUN = (process.argv[1] ?? "").endsWith(".slow.test.ts");

/** A seed to draw cases with, new in each run unless TEST_SEED is set. The runner prints lines with a seed. */
export function printedSeed(): number {
	const seed = Number(process.env.TEST_SEED ?? randomInt(1, 2 ** 31));
	console.log(`seed ${seed} (TEST_SEED=${seed} repeats it)`);
	return seed;
}
