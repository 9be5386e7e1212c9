import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { planning, valid } from "../helpers/planning.ts";

function total(query: string, variables: Record<string, unknown> = {}) {
	const cost = planning().planner.cost({
		document: valid(query),
		variables,
	});
	if (!("total" in cost)) throw new Error(String(cost));
	return cost.total;
}

/** The cost of a selection on one user, without the user, who costs 1. */
const ofUser = (selection: string) =>
	total(`{ user(id: 1) { ${selection} } }`) - 1;

describe("operation cost", () => {
	const costs: readonly [string, string, number][] = [
		["stored fields are free", "id name picture { url }", 0],
		[
			"an edge with its object costs 2",
			"followers(first: 1) { nodes { id } }",
			2,
		],
		[
			"a page without a size counts as 20 edges",
			"followers { nodes { id } }",
			40,
		],
		[
			"a page costs the same through edges, nodes or both",
			"followers(first: 3) { edges { node { id } cursor } nodes { name } }",
			6,
		],
		[
			"a page of cursors costs as much as a page of objects, because objects decide visibility",
			"followers(first: 3) { edges { cursor } }",
			6,
		],
		[
			"pageInfo costs as much as the page",
			"followers(first: 3) { pageInfo { endCursor } }",
			6,
		],
		[
			"totalCount is free",
			"followers(first: 100) { totalCount __typename }",
			0,
		],
		[
			"an empty page is free",
			"followers(first: 0) { nodes { likes { nodes { id } } } totalCount }",
			0,
		],
		[
			"hasNextPage and hasPreviousPage of an empty page cost an edge and its object",
			"followers(first: 0) { pageInfo { hasNextPage } } likes(last: 0) { pageInfo { hasPreviousPage } }",
			1 + 1 + 1 + 2,
		],
		[
			"selections below an empty page are free even with hasNextPage",
			"followers(first: 0) { nodes { likes { nodes { id } } } pageInfo { hasNextPage } }",
			2,
		],
		[
			"the cursors of an empty page are free",
			"followers(first: 0) { pageInfo { startCursor endCursor } }",
			0,
		],
		[
			"aliases add up",
			"a: followers(first: 1) { nodes { id } } b: followers(first: 2) { nodes { id } }",
			6,
		],
		[
			"nested pages multiply",
			"followers(first: 10) { nodes { followers(first: 10) { nodes { id } } } }",
			20 + 200,
		],
		[
			"selections below edges and below nodes both count",
			"followers(first: 10) { nodes { best { id } } edges { node { best { id } } } }",
			20 + 10 + 10,
		],
		["a reference costs 1", "best { best { id } }", 2],
		[
			"a pin includes its board, which decides its visibility",
			"likes(first: 10) { nodes { id } }",
			10 + 20,
		],
		[
			"a selected board is not counted twice",
			"likes(first: 10) { nodes { board { name } } }",
			10 + 20,
		],
		[
			"pins of a selected board count",
			"likes(first: 1) { nodes { board { pins(first: 5) { nodes { id } } } } }",
			3 + 10,
		],
		[
			"other references of a pin count",
			"likes(first: 10) { nodes { owner { name } } }",
			10 + 20 + 10,
		],
		[
			"a field with invalid arguments is free",
			"followers(first: 1000) { nodes { id } }",
			0,
		],
		[
			"a resolver's list costs the most objects it may name",
			"friends { id best { id } }",
			1 + 1,
		],
	];
	for (const [name, selection, cost] of costs) {
		test(name, () => assert.equal(ofUser(selection), cost));
	}

	test("a board's pins do not count their board again", () => {
		const board =
			"{ node(id: 1) { ... on Board { pins(first: 10) { nodes { id board { id } } } } } }";
		const alone = total("{ node(id: 1) { ... on Board { id } } }");
		assert.equal(total(board) - alone, 20);
	});

	test("a pin's comments count neither the pin nor its board again", () => {
		const pin =
			"{ node(id: 1) { ... on Pin { comments(first: 10) { nodes { pin { board { id } } } } } } }";
		const alone = total("{ node(id: 1) { ... on Pin { id } } }");
		assert.equal(total(pin) - alone, 20);
	});

	test("a comment by id costs the comment, its pin and the pin's board", () => {
		assert.equal(total("{ node(id: 1) { ... on Comment { text } } }"), 3);
	});

	test("an interface costs as much as its most expensive type", () => {
		const likes = "... on User { likes(first: 10) { nodes { id } } }";
		const followers = "... on User { followers(first: 10) { nodes { id } } }";
		const pins = "... on Board { pins(first: 10) { nodes { id } } }";
		assert.equal(total(`{ node(id: 1) { ${pins} } }`), 3 + 20);
		assert.equal(total(`{ node(id: 1) { ${pins} ${likes} } }`), 3 + 30);
		assert.equal(total(`{ node(id: 1) { ${pins} ${followers} } }`), 3 + 20);
	});

	test("maxObjects of a resolver multiplies the objects by its arguments", () => {
		assert.equal(
			total(
				"query ($ids: [ID!]!) { nodes(ids: $ids) { ... on User { best { id } } } }",
				{ ids: ["1", "2", "3", "4"] },
			),
			4 * 3 + 4,
		);
	});

	test("a resolver costs what it states", () => {
		assert.equal(total("{ echo a: echo }"), 6);
	});

	test("a mutation costs the objects of its payload", () => {
		assert.equal(
			total(
				"mutation { add(amount: 1) { sum user { best { id } } users { id } } }",
			),
			3,
		);
	});

	test("page sizes come from variables", () => {
		const query = "query ($n: Int = 5) { users(first: $n) { nodes { id } } }";
		assert.equal(total(query), 10);
		assert.equal(total(query, { n: 7 }), 14);
		assert.equal(total(query, { n: null }), 40);
	});

	test("skipped fields are free", () => {
		const query =
			"query ($no: Boolean!) { users @include(if: $no) { nodes { id } } __typename }";
		assert.equal(total(query, { no: false }), 0);
		assert.equal(total(query, { no: true }), 40);
	});
});

describe("the cost limit", () => {
	const levels = (depth: number): string =>
		depth === 0
			? "id"
			: `followers(first: 100) { nodes { ${levels(depth - 1)} } }`;

	test("allows two nested pages of 100", async () => {
		const { graph, execute } = planning();
		const id = graph.add("User");
		const response = await execute(
			`query ($id: ID!) { user(id: $id) { ${levels(2)} } }`,
			{ id },
		);
		assert.deepEqual(response, {
			data: { user: { followers: { nodes: [] } } },
		});
	});

	test("rejects three nested pages of 100 before any read, and names the most expensive fields", async () => {
		const { graph, world, execute } = planning();
		const response = await execute(
			`{ user(id: 1) { name ${levels(3)} } __typename }`,
		);
		assert.deepEqual(response, {
			errors: [
				{
					message:
						"The operation costs 2020201, over the limit of 50000. Most of the cost: user.followers.nodes.followers.nodes.followers (2000000), user.followers.nodes.followers (20000), user.followers (200).",
					extensions: {
						code: "TOO_EXPENSIVE",
						cost: {
							requested: 2_020_201,
							limit: 50_000,
							fields: [
								{
									path: "user.followers.nodes.followers.nodes.followers",
									cost: 2_000_000,
								},
								{ path: "user.followers.nodes.followers", cost: 20_000 },
								{ path: "user.followers", cost: 200 },
							],
						},
					},
				},
			],
		});
		assert.deepEqual(graph.ticks, []);
		assert.deepEqual(world.calls, []);
	});

	test("stays a number for 200 nested pages", () => {
		assert.equal(total(`{ user(id: 1) { ${levels(200)} } }`), 1e15);
	});
});
