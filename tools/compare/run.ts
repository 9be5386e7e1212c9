import type { Ask } from "./ask.ts";
import type { Expectation } from "./expected.ts";
import type { Findings } from "./findings.ts";
import type { Identities } from "./identities.ts";

/** One comparison under way. */
export interface Run {
	readonly expectation: Expectation;
	readonly ask: Ask;
	readonly findings: Findings;
	readonly identities: Identities;
}
