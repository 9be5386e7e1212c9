import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resolvers } from "../../src/domain/resolvers/resolvers.ts";
import { CorkboardError } from "../../src/errors.ts";
import { absentId } from "../helpers/memoryGraph.ts";
import { Resolving } from "../helpers/resolving.ts";

const RESERVED = "18446744073709551615";

describe("fields by id", () => {
	for (const field of ["node", "board", "pin", "comment", "user", "interest"]) {
		it(`Query.${field} answers the id it was given and reads nothing itself`, async () => {
			const at = new Resolving();
			const id = absentId(2);
			assert.equal(await at.answer(`Query.${field}`, { id }), id);
			assert.deepEqual(at.graph.calls, []);
		});

		it(`Query.${field} is null for an id whose reserved bits are set`, async () => {
			const at = new Resolving();
			assert.equal(await at.answer(`Query.${field}`, { id: RESERVED }), null);
		});

		it(`Query.${field} refuses what is no canonical decimal`, async () => {
			const at = new Resolving();
			assert.equal(
				await at.refusal("BAD_USER_INPUT", `Query.${field}`, { id: "01" }),
				`${field}: id must be an id, which is a decimal number, got "01".`,
			);
		});
	}
});

describe("nodes", () => {
	it("keeps order and duplicates, with null for what names nothing", async () => {
		const at = new Resolving();
		assert.deepEqual(
			await at.answer("Query.nodes", {
				ids: [at.ben, RESERVED, at.ada, at.ben],
			}),
			[at.ben, null, at.ada, at.ben],
		);
	});

	it("takes no ids at all", async () => {
		const at = new Resolving();
		assert.deepEqual(await at.answer("Query.nodes", { ids: [] }), []);
	});

	it("takes 100 ids and refuses 101", async () => {
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

	it("refuses the whole list for a malformed one, and says which", async () => {
		const at = new Resolving();
		assert.equal(
			await at.refusal("BAD_USER_INPUT", "Query.nodes", {
				ids: [at.ada, "ada"],
			}),
			'nodes: ids[1] must be an id, which is a decimal number, got "ada".',
		);
	});

	it("yields as many objects as there are ids, and no more than it takes", () => {
		const nodes = resolvers.get("Query.nodes");
		assert.equal(nodes?.maxObjects?.({ ids: ["1", "2", "2"] }), 3);
		assert.equal(nodes?.maxObjects?.({ ids: Array(5_000).fill("1") }), 100);
	});
});

describe("viewer", () => {
	it("is who asks", async () => {
		const at = new Resolving();
		assert.equal(await at.answer("Query.viewer", {}), at.ada);
	});

	it("is null for an anonymous request", async () => {
		const at = new Resolving().as(null);
		assert.equal(await at.answer("Query.viewer", {}), null);
	});
});

describe("user and interest by name", () => {
	it("a user is found by a username in any spelling of case", async () => {
		const at = new Resolving();
		assert.equal(
			await at.answer("Query.user", { username: "ADA_Made_Up", id: null }),
			at.ada,
		);
		assert.deepEqual(at.graph.calls, ["lookup username ADA_Made_Up"]);
	});

	it("an interest is found by its slug", async () => {
		const at = new Resolving();
		const bread = at.graph.add("Interest", { slug: "bread", name: "Bread" });
		assert.equal(await at.answer("Query.interest", { slug: "bread" }), bread);
	});

	it("a name nobody has is null", async () => {
		const at = new Resolving();
		assert.equal(await at.answer("Query.user", { username: "nobody" }), null);
		assert.equal(await at.answer("Query.interest", { slug: "no" }), null);
	});

	it("a name nobody can have is null, and is not looked up", async () => {
		const at = new Resolving();
		for (const username of ["", "a b", "a\0b", "\ud83c", "a".repeat(9_999)]) {
			assert.equal(await at.answer("Query.user", { username }), null);
			assert.deepEqual(at.graph.calls, []);
		}
		assert.equal(await at.answer("Query.interest", { slug: "Bread" }), null);
		assert.deepEqual(at.graph.calls, []);
	});

	it("exactly one argument is taken", async () => {
		const at = new Resolving();
		assert.equal(
			await at.refusal("BAD_USER_INPUT", "Query.user", {}),
			"user takes exactly one of id and username, got neither.",
		);
		assert.equal(
			await at.refusal("BAD_USER_INPUT", "Query.user", {
				id: at.ada,
				username: "ada_made_up",
			}),
			"user takes exactly one of id and username, got both.",
		);
		assert.equal(
			await at.refusal("BAD_USER_INPUT", "Query.interest", {
				id: null,
				slug: null,
			}),
			"interest takes exactly one of id and slug, got neither.",
		);
	});

	it("a lookup whose host does not answer is UNAVAILABLE", async () => {
		const at = new Resolving();
		at.graph.down.add("ada_made_up");
		const answer = await at.answer("Query.user", { username: "ada_made_up" });
		assert.ok(answer instanceof CorkboardError);
		assert.equal(answer.code, "UNAVAILABLE");
	});
});
