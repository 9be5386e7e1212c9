import assert from "node:assert/strict";
import { describe, it } from "node:test";
import events from "../../../examples/events/app.ts";
import { everyObject } from "../../../src/testing/everyObject.ts";
import { openTest } from "../../../src/testing/openTest.ts";
import { compareAnswers } from "../../../src/testing/randomWalk.ts";
import { seededRandom } from "../../../src/util/random.ts";

describe("the comparison of an attack on an app", () => {
	it("catches a server that answers what is not stored, and lets one pass that does", async () => {
		await using graph = await openTest(events);
		const { corkboard } = graph;
		const objects = await everyObject(corkboard);
		const compare = (query: typeof corkboard.query) =>
			compareAnswers(
				{ query },
				corkboard,
				objects,
				seededRandom(1),
				new Set(["Person.feed"]),
				0,
			);
		const whole = await compare(corkboard.query);
		assert.deepEqual(whole.problems, []);
		assert.ok(whole.compared > 10);
		// It does not know who is asking: what is hidden is hidden from all.
		const blind = await compare((document, options) =>
			corkboard.query(document, { ...options, viewer: null }),
		);
		assert.ok(blind.problems.length > 0);
		assert.match(blind.problems[0] ?? "", /what is stored says/);
	});
});
