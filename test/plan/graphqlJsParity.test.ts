import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Id } from "../../src/id/ids.ts";
import { byGraphqlJs } from "../helpers/graphqlJs.ts";
import { errorsOf, planning, valid } from "../helpers/planning.ts";

/** Ada has three followers, one of whom fails; she likes two pins of one board, with comments. */
function filled() {
	const plan = planning();
	const { graph, world } = plan;
	const user = (name: string, data = {}) =>
		graph.add("User", {
			name,
			age: 7,
			created_at: "2026-01-02T03:04:05.678Z",
			...data,
		});
	const cid = user("cid", { fails: true });
	const eve = user("eve");
	const bob = user("bob", { best_id: eve, mood: "GOOD" });
	const ada = user("ada", {
		best_id: bob,
		friends: [bob, cid],
		is_friend: true,
		picture: { url: "https://example.com/a.png" },
		mood: "SAD",
	});
	for (const follower of [eve, cid, bob]) {
		graph.link("followUser", ada, follower);
		graph.link("followUser", follower, ada);
	}
	const board = graph.add("Board", { name: "Kitchens" });
	const pins = ["stove", "sink"].map((details) =>
		graph.add("Pin", { details, board_id: board, user_id: bob }),
	) as [Id, Id];
	for (const pin of pins) {
		graph.link("likePin", ada, pin);
		graph.link("placePin", board, pin);
		const text = graph.add("Comment", { text: "well", pin_id: pin });
		const textless = graph.add("Comment", { pin_id: pin });
		graph.link("commentPin", pin, text);
		graph.link("commentPin", pin, textless);
	}
	for (const one of [ada, bob]) graph.link("listUser", LIST_ROOT, one);
	world.user = bob;
	world.users = [bob, eve];
	const gone = eve;
	return { ...plan, ada, bob, cid, eve, gone, board, pins };
}

/** Of lists of users: shard 0, type 3, no row. */
const LIST_ROOT = String(3n << 36n) as Id;

describe("the plan answers as graphql-js does", () => {
	const operations: readonly [string, string, Record<string, unknown>?][] = [
		[
			"with what is stored, defaults, enums and records",
			"{ user(id: $ADA) { id __typename name bio age mood createdAt picture { url alt __typename } best { name mood picture { url } } } }",
		],
		[
			"with aliases, in the order of the document",
			"{ b: user(id: $ADA) { z: name a: name id } a: user(id: $BOB) { id } __typename }",
		],
		[
			"with fields merged over fragments",
			"query { user(id: $ADA) { ...A best { id } ...B name } } fragment A on User { name best { name } ...B } fragment B on Node { id ... on User { best { age } } }",
		],
		[
			"with interfaces, by the type of each object",
			"{ nodes(ids: [$ADA, $PIN, $BOARD, $ADA, $ABSENT]) { __typename id ... on User { name } ... on Pin { details board { name } } ... on Board { called: name } ... { __typename } ...X } } fragment X on Node { ... on Pin { owner { name } } }",
		],
		[
			"with pages forward, backward and between",
			"{ user(id: $ADA) { followers(first: 2) { ...P } l: followers(last: 2) { ...P } a: followers(first: 1, after: $CURSOR) { ...P } b: followers(before: $CURSOR) { ...P } n: followers(first: 0) { ...P } } } fragment P on UserConnection { edges { cursor at node { name } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount __typename }",
		],
		[
			"with a list of the whole graph",
			"{ users { nodes { name } totalCount } }",
		],
		[
			"with wrong page sizes, a cursor of another list",
			'{ user(id: $ADA) { followers(first: -1) { totalCount } f: followers(first: 1, last: 1) { totalCount } g: followers(after: "x") { totalCount } name } }',
		],
		[
			"with null where an object is of another type or absent",
			"{ user(id: $PIN) { id } u: user(id: $ABSENT) { id } node(id: $ABSENT) { id } }",
		],
		[
			"with a null that nulls the whole data",
			"{ surely(id: $ABSENT) { id } user(id: $ADA) { id } }",
		],
		[
			"with a null that walks up to an object",
			"{ user(id: $ADA) { name best { name surelyBest { name surelyBest { name } } } } }",
		],
		[
			"with a null that walks up through the edges of a page",
			"{ user(id: $ADA) { followers { edges { node { name surelyFails } } nodes { surelyFails } } } }",
		],
		[
			"with a null that walks up through a list",
			"{ user(id: $ADA) { friends { name surelyFails } best { friends { id } } } }",
		],
		[
			"with missing text of one comment among others",
			"{ node(id: $PIN) { ... on Pin { comments { nodes { id text } edges { node { text } } } } } }",
		],
		[
			"with errors at each position",
			"{ user(id: $ADA) { fails x: fails followers { nodes { fails surelyFails } } } }",
		],
		[
			"with a non-null connection",
			"{ user(id: $ADA) { surelyLikes { totalCount nodes { id } } s: surelyLikes(first: 200) { totalCount } } }",
		],
		[
			"with lists of lists, and what does not serialize in them",
			"{ table strictTable }",
		],
		[
			"with arguments: defaults, enums, input objects, null",
			'query ($w: Wish, $m: Mood = BAD, $n: Int! = 3, $none: Wish) { a: echo b: echo(wish: {}) c: echo(wish: { words: "one", mood: $m }) d: echo(wish: $w, number: $n) e: echo(wish: null) f: echo(wish: $none) }',
			{ w: { words: ["x", "y"] } },
		],
		[
			"with a null variable for a non-null argument with a default",
			"query ($n: Int = 3) { echo(number: $n) table }",
			{ n: null },
		],
		[
			"with @skip and @include, by variables and by words",
			"query ($yes: Boolean!, $no: Boolean = false) { user(id: $ADA) { name @skip(if: $yes) id @include(if: $yes) bio @include(if: $no) age @skip(if: false) ...F @skip(if: $no) ... @include(if: $no) { mood } best @include(if: $yes) @skip(if: $yes) { id } } } fragment F on User { f: name @include(if: $yes) }",
			{ yes: true },
		],
		[
			"with nothing left of a selection",
			"query ($no: Boolean!) { user(id: $ADA) { name @include(if: $no) best { id @include(if: $no) } } echo @include(if: $no) }",
			{ no: false },
		],
		[
			"with a condition that is null",
			"query ($c: Boolean = true) { user(id: $ADA) { best { id @skip(if: $c) } name } echo }",
			{ c: null },
		],
		[
			"with a condition that is null at the root",
			"query ($c: Boolean = true) { echo @skip(if: $c) }",
			{ c: null },
		],
		[
			"with introspection beside data",
			'query ($t: String!, $d: Boolean) { user(id: $ADA) { name } __type(name: $t) { name kind fields(includeDeprecated: $d) { name type { ...T } } } n: __type(name: "None") { name } __schema { queryType { name } types { kind name } } } fragment T on __Type { kind name ofType { kind name } }',
			{ t: "Image" },
		],
		[
			"with mutations one after another",
			"mutation { a: add(amount: 1) { sum user { name } users { name } } b: add(amount: 2) { sum surely { id } } c: add(amount: 0) { sum } d: add(amount: 3) { __typename sum } }",
		],
		[
			"with a mutation that nulls the data",
			"mutation { a: add(amount: 1) { sum } b: addSurely(amount: 0) { sum } c: add(amount: 2) { sum } }",
		],
		[
			"with a field at __proto__ and the like",
			"{ __proto__: user(id: $ADA) { constructor: name __proto__: id toString: best { __proto__: name hasOwnProperty: __typename } } valueOf: __typename }",
		],
	];
	for (const [name, query, variables = {}] of operations) {
		test(name, async () => {
			const ours = filled();
			const theirs = filled();
			const { ada, bob, board, pins, eve, graph } = ours;
			for (const one of [graph, theirs.graph]) {
				one.hidden.add(eve);
			}
			const words: Record<string, string> = {
				ADA: ada,
				BOB: bob,
				BOARD: board,
				PIN: pins[0],
				ABSENT: String(BigInt(ada) + 1000n),
				CURSOR: `at ${bob}`,
			};
			const document = valid(
				query.replaceAll(/\$([A-Z]+)/g, (_, word) => `"${words[word]}"`),
			);
			const expected = await byGraphqlJs(
				document,
				variables,
				theirs.graph,
				theirs.world,
			);
			const got = await ours.answer(document, variables);
			assert.equal(JSON.stringify(got.data), JSON.stringify(expected.data));
			assert.deepEqual(errorsOf(got), errorsOf(expected));
			assert.deepEqual(
				new Set(got.errors?.map(({ locations }) => JSON.stringify(locations))),
				new Set(
					expected.errors?.map(({ locations }) => JSON.stringify(locations)),
				),
			);
			assert.equal(ours.world.sum, theirs.world.sum);
		});
	}
});
