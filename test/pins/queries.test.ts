import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import { absentId } from "../helpers/memoryGraph.ts";
import { resolvers } from "../helpers/resolvers.ts";
import { Resolving } from "../helpers/resolving.ts";

const RESERVED = "18446744073709551615";

/** Fields that find an object by more than its id. */
const BY = new Set(["user", "interest"]);
const byId = (field: string, id: string) =>
	BY.has(field) ? { by: { id } } : { id };

describe("fields by id", () => {
	for (const field of ["node", "board", "pin", "comment", "user", "interest"]) {
		it(`Query.${field} returns the given id and reads nothing`, async () => {
			const at = new Resolving();
			const id = absentId(2);
			assert.equal(await at.answer(`Query.${field}`, byId(field, id)), id);
			assert.deepEqual(at.graph.calls, []);
		});

		it(`Query.${field} is null for an id whose reserved bits are set`, async () => {
			const at = new Resolving();
			assert.equal(
				await at.answer(`Query.${field}`, byId(field, RESERVED)),
				null,
			);
		});

		it(`Query.${field} refuses an id that is not a canonical decimal`, async () => {
			const at = new Resolving();
			assert.equal(
				await at.refusal("BAD_USER_INPUT", `Query.${field}`, byId(field, "01")),
				`${field}: ${BY.has(field) ? "by.id" : "id"} must be an id, which is a decimal number, got "01".`,
			);
		});
	}
});

describe("popularInterests", () => {
	it("are those with the most followers, then those with the most pins", async () => {
		const at = new Resolving();
		const [bread, rye, moths, nobodys] = ["bread", "rye", "moths", "x"].map(
			(slug) => at.graph.add("Interest", { slug, name: slug }),
		) as [Id, Id, Id, Id];
		at.graph.addEdge("followInterest", at.ada, rye);
		at.graph.addEdge("followInterest", at.ada, bread);
		at.graph.addEdge("followInterest", at.ben, bread);
		const pins = [1, 2].map(() => at.pin(at.ada, at.board(at.ada)));
		for (const pin of pins) at.graph.addEdge("filePin", pin, moths);
		at.graph.addEdge("filePin", pins[0] as Id, rye);
		const popular = async (args: object) =>
			(
				(await at.answer("Query.popularInterests", { ...args })) as {
					nodes: Id[];
				}
			).nodes;
		assert.deepEqual(await popular({}), [bread, rye, moths]);
		assert.deepEqual(await popular({ first: 1 }), [bread]);
		assert.deepEqual(await popular({ first: 0 }), []);
		assert.ok(!(await popular({})).includes(nobodys));
		assert.equal(
			await at.refusal("BAD_USER_INPUT", "Query.popularInterests", {
				first: 101,
			}),
			"first must be between 0 and 100, got 101.",
		);
	});

	it("cost the interests that they may return", () => {
		const { cost, maxObjects } = resolvers.get("Query.popularInterests") ?? {};
		assert.equal(cost?.({ first: 7 }), 0);
		for (const [first, most] of [
			[7, 7],
			[null, 20],
			[undefined, 20],
			[-1, 0],
			[101, 100],
		] as const) {
			assert.equal(maxObjects?.({ first }), most);
		}
	});
});

describe("nodes", () => {
	it("nodes keeps order and duplicates, with null for an id that names nothing", async () => {
		const at = new Resolving();
		assert.deepEqual(
			await at.answer("Query.nodes", {
				ids: [at.ben, RESERVED, at.ada, at.ben],
			}),
			[at.ben, null, at.ada, at.ben],
		);
	});

	it("nodes accepts an empty list", async () => {
		const at = new Resolving();
		assert.deepEqual(await at.answer("Query.nodes", { ids: [] }), []);
	});

	it("nodes accepts 100 ids and refuses 101", async () => {
		const at = new Resolving();
		const ids = Array.from({ length: 101 }, () => at.ada);
		assert.deepEqual(
			await at.answer("Query.nodes", { ids: ids.slice(1) }),
			ids.slice(1),
		);
		assert.equal(
			await at.refusal("BAD_USER_INPUT", "Query.nodes", { ids }),
			"nodes: ids must have at most 100 items, got 101.",
		);
	});

	it("nodes refuses a list with a malformed id and names its index", async () => {
		const at = new Resolving();
		assert.equal(
			await at.refusal("BAD_USER_INPUT", "Query.nodes", {
				ids: [at.ada, "ada"],
			}),
			'nodes: ids[1] must be an id, which is a decimal number, got "ada".',
		);
	});

	it("nodes counts at most 100 objects", () => {
		const nodes = resolvers.get("Query.nodes");
		assert.equal(nodes?.maxObjects?.({ ids: ["1", "2", "2"] }), 3);
		assert.equal(nodes?.maxObjects?.({ ids: Array(5_000).fill("1") }), 100);
	});
});

describe("viewer", () => {
	it("is the user who sends the request", async () => {
		const at = new Resolving();
		assert.equal(await at.answer("Query.viewer", {}), at.ada);
	});

	it("is null for an anonymous request", async () => {
		const at = new Resolving().as(null);
		assert.equal(await at.answer("Query.viewer", {}), null);
	});
});

describe("user and interest by name", () => {
	it("user finds a username in any case", async () => {
		const at = new Resolving();
		assert.equal(
			await at.answer("Query.user", { by: { username: "ADA_Made_Up" } }),
			at.ada,
		);
		assert.deepEqual(at.graph.calls, ["lookup username ADA_Made_Up"]);
	});

	it("interest finds a slug", async () => {
		const at = new Resolving();
		const bread = at.graph.add("Interest", { slug: "bread", name: "Bread" });
		assert.equal(
			await at.answer("Query.interest", { by: { slug: "bread" } }),
			bread,
		);
	});

	it("user is null for an unknown username", async () => {
		const at = new Resolving();
		assert.equal(
			await at.answer("Query.user", { by: { username: "nobody" } }),
			null,
		);
		assert.equal(
			await at.answer("Query.interest", { by: { slug: "no" } }),
			null,
		);
	});

	it("user is null for an invalid username, without a lookup", async () => {
		const at = new Resolving();
		for (const username of ["", "a b", "a\0b", "\ud83c", "a".repeat(9_999)]) {
			assert.equal(await at.answer("Query.user", { by: { username } }), null);
			assert.deepEqual(at.graph.calls, []);
		}
		assert.equal(
			await at.answer("Query.interest", { by: { slug: "Bread" } }),
			null,
		);
		assert.deepEqual(at.graph.calls, []);
	});

	it("user is UNAVAILABLE when the lookup's host does not answer", async () => {
		const at = new Resolving();
		at.graph.down.add("ada_made_up");
		const answer = await at.answer("Query.user", {
			by: { username: "ada_made_up" },
		});
		assert.ok(answer instanceof CorkboardError);
		assert.equal(answer.code, "UNAVAILABLE");
	});
});
