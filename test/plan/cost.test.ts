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

/** Of one user, who costs 1 to fetch. */
const ofUser = (selection: string) =>
	total(`{ user(id: 1) { ${selection} } }`) - 1;

describe("the cost", () => {
	const costs: readonly [string, string, number][] = [
		["of what is stored is nothing", "id name picture { url }", 0],
		[
			"of an edge and its object is 2",
			"followers(first: 1) { nodes { id } }",
			2,
		],
		[
			"of a page is 20 times that if no size is given",
			"followers { nodes { id } }",
			40,
		],
		[
			"is the same by edges, nodes or both",
			"followers(first: 3) { edges { node { id } cursor } nodes { name } }",
			6,
		],
		[
			"is the same where only cursors are looked at, since objects tell what may be seen",
			"followers(first: 3) { edges { cursor } }",
			6,
		],
		[
			"is the same for what a page says of itself",
			"followers(first: 3) { pageInfo { endCursor } }",
			6,
		],
		[
			"of a count is nothing",
			"followers(first: 100) { totalCount __typename }",
			0,
		],
		[
			"of an empty page is nothing",
			"followers(first: 0) { nodes { likes { nodes { id } } } totalCount }",
			0,
		],
		[
			"of what lies beside an empty page is an edge and its object",
			"followers(first: 0) { pageInfo { hasNextPage } } likes(last: 0) { pageInfo { hasPreviousPage } }",
			1 + 1 + 1 + 2,
		],
		[
			"of what is under an empty page is nothing then, too",
			"followers(first: 0) { nodes { likes { nodes { id } } } pageInfo { hasNextPage } }",
			2,
		],
		[
			"of the cursors of an empty page is nothing",
			"followers(first: 0) { pageInfo { startCursor endCursor } }",
			0,
		],
		[
			"of aliases adds up",
			"a: followers(first: 1) { nodes { id } } b: followers(first: 2) { nodes { id } }",
			6,
		],
		[
			"of pages in pages multiplies",
			"followers(first: 10) { nodes { followers(first: 10) { nodes { id } } } }",
			20 + 200,
		],
		[
			"counts what is under edges and nodes for each of them",
			"followers(first: 10) { nodes { best { id } } edges { node { best { id } } } }",
			20 + 10 + 10,
		],
		["of a reference is 1", "best { best { id } }", 2],
		[
			"has a pin's board in it, which tells whether it may be seen",
			"likes(first: 10) { nodes { id } }",
			10 + 20,
		],
		[
			"has that board in it once, also where it is selected",
			"likes(first: 10) { nodes { board { name } } }",
			10 + 20,
		],
		[
			"has the pins of that board",
			"likes(first: 1) { nodes { board { pins(first: 5) { nodes { id } } } } }",
			3 + 10,
		],
		[
			"counts other references of a pin",
			"likes(first: 10) { nodes { owner { name } } }",
			10 + 20 + 10,
		],
		[
			"of wrong arguments is nothing",
			"followers(first: 1000) { nodes { id } }",
			0,
		],
		[
			"of a list of a resolver's is what it may name",
			"friends { id best { id } }",
			1 + 1,
		],
	];
	for (const [name, selection, cost] of costs) {
		test(name, () => assert.equal(ofUser(selection), cost));
	}

	test("of a board's pins has no board in it, which was read on the way", () => {
		const board =
			"{ node(id: 1) { ... on Board { pins(first: 10) { nodes { id board { id } } } } } }";
		const alone = total("{ node(id: 1) { ... on Board { id } } }");
		assert.equal(total(board) - alone, 20);
	});

	test("of a pin's comments has neither pin nor board in it", () => {
		const pin =
			"{ node(id: 1) { ... on Pin { comments(first: 10) { nodes { pin { board { id } } } } } } }";
		const alone = total("{ node(id: 1) { ... on Pin { id } } }");
		assert.equal(total(pin) - alone, 20);
	});

	test("of a comment, by its id, is the comment, its pin and that pin's board", () => {
		assert.equal(total("{ node(id: 1) { ... on Comment { text } } }"), 3);
	});

	test("of an interface is that of the most expensive type", () => {
		const likes = "... on User { likes(first: 10) { nodes { id } } }";
		const followers = "... on User { followers(first: 10) { nodes { id } } }";
		const pins = "... on Board { pins(first: 10) { nodes { id } } }";
		assert.equal(total(`{ node(id: 1) { ${pins} } }`), 3 + 20);
		assert.equal(total(`{ node(id: 1) { ${pins} ${likes} } }`), 3 + 30);
		assert.equal(total(`{ node(id: 1) { ${pins} ${followers} } }`), 3 + 20);
	});

	test("of what a resolver names counts each, by its arguments", () => {
		assert.equal(
			total(
				"query ($ids: [ID!]!) { nodes(ids: $ids) { ... on User { best { id } } } }",
				{ ids: ["1", "2", "3", "4"] },
			),
			4 * 3 + 4,
		);
	});

	test("of a resolver is what it states", () => {
		assert.equal(total("{ echo a: echo }"), 6);
	});

	test("of a mutation has the objects of its payload in it", () => {
		assert.equal(
			total(
				"mutation { add(amount: 1) { sum user { best { id } } users { id } } }",
			),
			3,
		);
	});

	test("takes sizes from variables", () => {
		const query = "query ($n: Int = 5) { users(first: $n) { nodes { id } } }";
		assert.equal(total(query), 10);
		assert.equal(total(query, { n: 7 }), 14);
		assert.equal(total(query, { n: null }), 40);
	});

	test("is nothing for what is skipped", () => {
		const query =
			"query ($no: Boolean!) { users @include(if: $no) { nodes { id } } __typename }";
		assert.equal(total(query, { no: false }), 0);
		assert.equal(total(query, { no: true }), 40);
	});
});

describe("the limit", () => {
	const levels = (depth: number): string =>
		depth === 0
			? "id"
			: `followers(first: 100) { nodes { ${levels(depth - 1)} } }`;

	test("lets 100 × 100 pass", async () => {
		const { graph, answer } = planning();
		const id = graph.add("User");
		const answered = await answer(
			`query ($id: ID!) { user(id: $id) { ${levels(2)} } }`,
			{ id },
		);
		assert.deepEqual(answered, {
			data: { user: { followers: { nodes: [] } } },
		});
	});

	test("refuses 100 × 100 × 100 before anything is read, and says what costs most", async () => {
		const { graph, world, answer } = planning();
		const answered = await answer(
			`{ user(id: 1) { name ${levels(3)} } __typename }`,
		);
		assert.deepEqual(answered, {
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

	test("counts pages without end as a number", () => {
		assert.equal(total(`{ user(id: 1) { ${levels(200)} } }`), 1e15);
	});
});
