/** What an app's tests import: `import { openTest } from "corkboard/testing"`. */
export {
	openTest,
	type TestGraph,
	type TestQuery,
} from "./testing/openTest.ts";
export {
	type RandomWalk,
	type RandomWalkOptions,
	walkRandomly,
} from "./testing/randomWalk.ts";
export {
	type PrivacyWalk,
	type PrivacyWalkOptions,
	walkPrivacy,
} from "./testing/walkPrivacy.ts";
