import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resolvers } from "../../src/domain/resolvers/resolvers.ts";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import { absentId } from "../helpers/memoryGraph.ts";
import { Resolving } from "../helpers/resolving.ts";

const FIELDS = [
	["Pin.viewerLikes", "likePin"],
	["User.viewerFollows", "followUser"],
	["User.followsViewer", "followUser.inverse"],
	["Board.viewerFollows", "followBoard"],
	["Interest.viewerFollows", "followInterest"],
] as const;

describe("fields about the viewer", () => {
	for (const [field, mapping] of FIELDS) {
		it(`${field} reads the viewer's list ${mapping} once for all objects of a level`, async () => {
			const at = new Resolving();
			const [one, two, three] = [
				absentId(1),
				absentId(2),
				absentId(3),
			] as const;
			at.graph.addEdge(mapping, at.ada, two);
			assert.deepEqual(await at.ofObjects(field, [one, two, three, two]), [
				false,
				true,
				false,
				true,
			]);
			assert.deepEqual(at.graph.calls, [
				`contains ${mapping} ${at.ada} ${[one, two, three, two].join()}`,
			]);
		});

		it(`${field} is null for an anonymous viewer and reads nothing`, async () => {
			const at = new Resolving().as(null);
			assert.deepEqual(await at.ofObjects(field, [at.ada, at.ben]), [
				null,
				null,
			]);
			assert.deepEqual(at.graph.calls, []);
		});

		it(`${field} has an error only for the object whose host does not answer`, async () => {
			const at = new Resolving();
			const [lost, found] = [absentId(1), absentId(2)];
			at.graph.down.add(lost);
			const answers = (await at.ofObjects(field, [lost, found])) as unknown[];
			assert.ok(answers[0] instanceof CorkboardError);
			assert.equal(answers[0].code, "UNAVAILABLE");
			assert.equal(answers[1], false);
		});

		it(`${field} costs one edge for each object and depends on the viewer`, () => {
			assert.equal(resolvers.get(field)?.cost({}), 1);
			assert.equal(resolvers.get(field)?.dependsOnViewer, true);
		});
	}
});

describe("email", () => {
	const emails = (at: Resolving, ids: readonly Id[]) =>
		at.ofObjects("User.email", ids);

	it("email is null unless the viewer is the user", async () => {
		const at = new Resolving();
		const eve = at.graph.add("User", {
			username: "eve_made_up",
			email: "eve@example.com",
		});
		assert.deepEqual(await emails(at, [eve, at.ada]), [
			null,
			"ada@example.com",
		]);
		assert.deepEqual(await emails(at.as(null), [eve, at.ada]), [null, null]);
	});

	it("email is null for a user without one", async () => {
		const at = new Resolving();
		assert.deepEqual(await emails(at.as(at.ben), [at.ben]), [null]);
	});

	it("email costs nothing", () => {
		assert.equal(resolvers.get("User.email")?.cost({}), 0);
	});
});
