import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Id } from "../../src/id/ids.ts";
import { executeByGraphqlJs } from "../helpers/graphqlJs.ts";
import { errorsOf, planning, valid } from "../helpers/planning.ts";

/** Ada has three followers, and `fails` throws for one of them. She likes two pins of one board. Each pin has two comments. */
function populated() {
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
	for (const one of [ada, bob]) graph.link("listUser", GLOBAL_LIST, one);
	world.user = bob;
	world.users = [bob, eve];
	const gone = eve;
	return { ...plan, ada, bob, cid, eve, gone, board, pins };
}

/** The owner of the global list of users: shard 0, type 3, local 0. */
const GLOBAL_LIST = String(3n << 36n) as Id;

describe("the plan gives the same response as graphql-js", () => {
	const operations: readonly [string, string, Record<string, unknown>?][] = [
		[
			"for stored fields, defaults, enums and records",
			"{ user(id: $ADA) { id __typename name bio age mood createdAt picture { url alt __typename } best { name mood picture { url } } } }",
		],
		[
			"for aliases, in document order",
			"{ b: user(id: $ADA) { z: name a: name id } a: user(id: $BOB) { id } __typename }",
		],
		[
			"for fields merged across fragments",
			"query { user(id: $ADA) { ...A best { id } ...B name } } fragment A on User { name best { name } ...B } fragment B on Node { id ... on User { best { age } } }",
		],
		[
			"for interfaces with objects of several types",
			"{ nodes(ids: [$ADA, $PIN, $BOARD, $ADA, $ABSENT]) { __typename id ... on User { name } ... on Pin { details board { name } } ... on Board { called: name } ... { __typename } ...X } } fragment X on Node { ... on Pin { owner { name } } }",
		],
		[
			"for forward and backward pages",
			"{ user(id: $ADA) { followers(first: 2) { ...P } l: followers(last: 2) { ...P } a: followers(first: 1, after: $CURSOR) { ...P } b: followers(before: $CURSOR) { ...P } n: followers(first: 0) { ...P } } } fragment P on UserConnection { edges { cursor at node { name } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount __typename }",
		],
		["for a global list", "{ users { nodes { name } totalCount } }"],
		[
			"for invalid page sizes and an invalid cursor",
			'{ user(id: $ADA) { followers(first: -1) { totalCount } f: followers(first: 1, last: 1) { totalCount } g: followers(after: "x") { totalCount } name } }',
		],
		[
			"for ids of absent objects and of other types",
			"{ user(id: $PIN) { id } u: user(id: $ABSENT) { id } node(id: $ABSENT) { id } }",
		],
		[
			"for a null that propagates to data",
			"{ surely(id: $ABSENT) { id } user(id: $ADA) { id } }",
		],
		[
			"for a null that propagates to an object",
			"{ user(id: $ADA) { name best { name surelyBest { name surelyBest { name } } } } }",
		],
		[
			"for a null that propagates through the edges of a page",
			"{ user(id: $ADA) { followers { edges { node { name surelyFails } } nodes { surelyFails } } } }",
		],
		[
			"for a null that propagates through a list",
			"{ user(id: $ADA) { friends { name surelyFails } best { friends { id } } } }",
		],
		[
			"for one comment without its non-null text",
			"{ node(id: $PIN) { ... on Pin { comments { nodes { id text } edges { node { text } } } } } }",
		],
		[
			"for errors at several positions",
			"{ user(id: $ADA) { fails x: fails followers { nodes { fails surelyFails } } } }",
		],
		[
			"for a non-null connection",
			"{ user(id: $ADA) { surelyLikes { totalCount nodes { id } } s: surelyLikes(first: 200) { totalCount } } }",
		],
		[
			"for lists of lists with values that cannot be serialized",
			"{ table strictTable }",
		],
		[
			"for arguments: defaults, enums, input objects, null",
			'query ($w: Wish, $m: Mood = BAD, $n: Int! = 3, $none: Wish) { a: echo b: echo(wish: {}) c: echo(wish: { words: "one", mood: $m }) d: echo(wish: $w, number: $n) e: echo(wish: null) f: echo(wish: $none) }',
			{ w: { words: ["x", "y"] } },
		],
		[
			"for a null variable in a non-null argument with a default",
			"query ($n: Int = 3) { echo(number: $n) table }",
			{ n: null },
		],
		[
			"for @skip and @include with variables and constants",
			"query ($yes: Boolean!, $no: Boolean = false) { user(id: $ADA) { name @skip(if: $yes) id @include(if: $yes) bio @include(if: $no) age @skip(if: false) ...F @skip(if: $no) ... @include(if: $no) { mood } best @include(if: $yes) @skip(if: $yes) { id } } } fragment F on User { f: name @include(if: $yes) }",
			{ yes: true },
		],
		[
			"for selections that are skipped entirely",
			"query ($no: Boolean!) { user(id: $ADA) { name @include(if: $no) best { id @include(if: $no) } } echo @include(if: $no) }",
			{ no: false },
		],
		[
			"for a null condition",
			"query ($c: Boolean = true) { user(id: $ADA) { best { id @skip(if: $c) } name } echo }",
			{ c: null },
		],
		[
			"for a null condition at the root",
			"query ($c: Boolean = true) { echo @skip(if: $c) }",
			{ c: null },
		],
		[
			"for introspection beside data",
			'query ($t: String!, $d: Boolean) { user(id: $ADA) { name } __type(name: $t) { name kind fields(includeDeprecated: $d) { name type { ...T } } } n: __type(name: "None") { name } __schema { queryType { name } types { kind name } } } fragment T on __Type { kind name ofType { kind name } }',
			{ t: "Image" },
		],
		[
			"for mutations in series",
			"mutation { a: add(amount: 1) { sum user { name } users { name } } b: add(amount: 2) { sum surely { id } } c: add(amount: 0) { sum } d: add(amount: 3) { __typename sum } }",
		],
		[
			"for a mutation whose null propagates to data",
			"mutation { a: add(amount: 1) { sum } b: addSurely(amount: 0) { sum } c: add(amount: 2) { sum } }",
		],
		[
			"for response keys such as __proto__",
			"{ __proto__: user(id: $ADA) { constructor: name __proto__: id toString: best { __proto__: name hasOwnProperty: __typename } } valueOf: __typename }",
		],
	];
	for (const [name, query, variables = {}] of operations) {
		test(name, async () => {
			const ours = populated();
			const theirs = populated();
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
			const expected = await executeByGraphqlJs(
				document,
				variables,
				theirs.graph,
				theirs.world,
			);
			const got = await ours.execute(document, variables);
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
