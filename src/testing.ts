/** What an app's tests import: `import { openTest } from "corkboard/testing"`. */
export {
	openTest,
	type TestGraph,
	type TestQuery,
} from "./testing/openTest.ts";
export { type PrivacyWalk, walkPrivacy } from "./testing/walkPrivacy.ts";
