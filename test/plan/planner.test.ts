import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parse } from "graphql";
import { CorkboardError } from "../../src/errors.ts";
import { getFragments } from "../../src/plan/compile/collectFields.ts";
import { compilePlan } from "../../src/plan/compile/compilePlan.ts";
import { PlanCache } from "../../src/plan/compile/planCache.ts";
import { createPlanner } from "../../src/plan/planner.ts";
import { isCollected } from "../helpers/heldBytes.ts";
import {
	errorsOf,
	model,
	planning,
	resolvers,
	schema,
	valid,
	visibility,
} from "../helpers/planning.ts";
import { assertCpuWithin } from "../helpers/timing.ts";

const context = { schema, model, resolvers, visibility };

function plans(maxPlans: number) {
	const cache = new PlanCache(context, { maxPlans });
	return (
		document: ReturnType<typeof parse>,
		variables = {},
		operationName: string | null = null,
	) => {
		const bound = cache.bind({ document, variables, operationName });
		if (!("plan" in bound)) throw new Error(String(bound));
		return bound.plan;
	};
}

describe("compiled plans", () => {
	test("are kept from the second time on, and reused for the same document", () => {
		const planOf = plans(10);
		const document = valid(
			"query ($n: Int) { users(first: $n) { totalCount } }",
		);
		assert.notEqual(planOf(document, { n: 1 }), planOf(document, { n: 1 }));
		assert.equal(planOf(document, { n: 1 }), planOf(document, { n: 2 }));
	});

	test("depend on the values of the variables in @skip and @include, and on no others", () => {
		const planOf = plans(10);
		const document = valid(
			"query ($a: Boolean!, $b: Boolean!, $id: ID!) { user(id: $id) { id @skip(if: $a) ...F } } fragment F on User { name @include(if: $b) }",
		);
		planOf(document, { a: true, b: true, id: "1" });
		const compiled = [true, false].flatMap((a) =>
			[true, false].flatMap((b) =>
				["1", "2"].map((id) => planOf(document, { a, b, id })),
			),
		);
		assert.equal(new Set(compiled).size, 4);
	});

	test("leave out skipped fields", () => {
		const planOf = plans(10);
		const document = valid("query ($a: Boolean!) { echo @skip(if: $a) table }");
		const keys = (a: boolean) =>
			planOf(document, { a }).root.fields.map(({ key }) => key);
		assert.deepEqual(keys(true), ["table"]);
		assert.deepEqual(keys(false), ["echo", "table"]);
	});

	test("differ for the operations of one document", () => {
		const planOf = plans(10);
		const document = valid("query A { echo } query B { table }");
		assert.equal(planOf(document, {}, "A").root.fields[0]?.key, "echo");
		assert.equal(planOf(document, {}, "B").root.fields[0]?.key, "table");
	});

	test("are evicted in least-recently-used order", () => {
		const planOf = plans(2);
		const [a, b, c] = ["{ echo }", "{ table }", "{ x: echo }"].map((query) => ({
			document: valid(query),
		}));
		assert.ok(a && b && c);
		for (const { document } of [a, b, c]) planOf(document);
		const first = planOf(a.document);
		const second = planOf(b.document);
		assert.equal(planOf(a.document), first);
		planOf(c.document);
		assert.equal(planOf(a.document), first);
		assert.notEqual(planOf(b.document), second);
	});

	test("of documents that ran once keep nothing in memory, also where it was asked whether they depend on the viewer", async () => {
		const { planner, execute } = planning();
		const query = "query ($yes: Boolean!) { echo @include(if: $yes) }";
		const ran = await Promise.all(
			[true, false].map(async (yes) => {
				const document = valid(query);
				await execute(document, { yes });
				const variables = { yes };
				assert.equal(planner.dependsOnViewer({ document, variables }), false);
				return new WeakRef(document);
			}),
		);
		assert.deepEqual(planner.level().plans, 0);
		assert.equal(planner.level().misses, 2);
		for (const ref of ran) assert.ok(await isCollected(ref));
	});

	test("say whether they depend on the viewer, for the values of their conditions", () => {
		const isPrivateList = () => true;
		const cache = new PlanCache(
			{ ...context, visibility: { ...visibility, isPrivateList } },
			{ maxPlans: 10 },
		);
		const document = valid(
			"query ($yes: Boolean = true) { user(id: 1) { name followers(first: 1) @include(if: $yes) { totalCount } } }",
		);
		for (const prepares of [false, true]) {
			if (prepares) cache.prepare(document);
			for (const variables of [{ yes: true }, { yes: false }, {}]) {
				for (let n = 0; n < 3; n++) {
					const expected = variables.yes !== false;
					assert.equal(
						cache.dependsOnViewer({ document, variables }),
						expected,
					);
				}
			}
		}
		assert.ok(cache.dependsOnViewer({ document, operationName: "No" }));
		assert.ok(cache.dependsOnViewer({ document, variables: { yes: 1 } }));
	});

	test("have one step for each batch read, below the step whose result it needs", () => {
		const document = valid(
			"{ nodes(ids: []) { ... on User { followers { edges { node { best { id } } } } likes { totalCount } } ... on Board { name } } }",
		);
		const [operation] = document.definitions;
		assert.ok(operation?.kind === "OperationDefinition");
		const { steps } = compilePlan(
			context,
			document,
			operation,
			getFragments(document),
			{},
		);
		const pathOf = new Map(
			steps.map(({ number, kind, path }) => [number, `${kind} ${path}`]),
		);
		assert.deepEqual(
			steps.map(({ kind, path, target, parent, withPage }) => [
				`${kind} ${path}`,
				target,
				parent === null ? null : pathOf.get(parent),
				withPage,
			]),
			[
				["call nodes", "Query.nodes", null, false],
				["fetch nodes", "User | Board | Pin | Comment", "call nodes", false],
				["scan nodes.followers", "followUser", "fetch nodes", false],
				["fetch nodes.followers", "User", "scan nodes.followers", true],
				[
					"fetch nodes.followers.edges.node.best",
					"User",
					"fetch nodes.followers",
					false,
				],
				["scan nodes.likes", "likePin", "fetch nodes", false],
			],
		);
	});
});

describe("the planner", () => {
	test("rejects invalid variables", async () => {
		const { execute, world } = planning();
		const response = await execute(
			"query ($id: ID!, $n: Int) { user(id: $id) { followers(first: $n) { totalCount } } }",
			{ n: "x" },
		);
		assert.equal(response.data, undefined);
		assert.deepEqual(
			response.errors?.map(({ message }) => message),
			[
				'Variable "$id" of required type "ID!" was not provided.',
				'Variable "$n" got invalid value "x"; Int cannot represent non-integer value: "x"',
			],
		);
		assert.deepEqual(errorsOf(response), [
			" BAD_USER_INPUT",
			" BAD_USER_INPUT",
		]);
		assert.deepEqual(world.calls, []);
	});

	test("reports ten errors of the variables, and that more are omitted", async () => {
		const { execute } = planning();
		const { errors } = await execute(
			"query ($ids: [ID!]!) { nodes(ids: $ids) { id } }",
			{
				ids: Array.from({ length: 1000 }, () => ({})),
			},
		);
		assert.equal(errors?.length, 11);
		assert.match(errors?.[9]?.message ?? "", /^Variable "\$ids" got invalid/);
		assert.match(errors?.[10]?.message ?? "", /^More errors are omitted\.$/);
	});

	test("names the path of an invalid value in a variable, and quotes at most 40 characters", async () => {
		const { execute } = planning();
		const { errors } = await execute(
			"query ($w: Wish, $__proto__: [ID!]!, $none: Int) { echo(wish: $w, number: 1) a: nodes(ids: $__proto__) { id } user(id: 1) { followers(first: $none) { totalCount } friends(of: $none) { id } } }",
			JSON.parse(
				`{"w": {"mood": "GOOD", "words": ["a", {"b": "${"c".repeat(1_000)}"}]}, "__proto__": ["1", null]}`,
			),
		);
		assert.deepEqual(
			errors?.map(({ message }) => message.slice(0, 80)),
			[
				'Variable "$w" got invalid value an object at "w.words[1]"; String cannot represe',
				'Variable "$__proto__" got invalid value null at "__proto__[1]"; Expected non-nul',
			],
		);
	});

	test("requires an operation name for a document with several operations", async () => {
		const { execute } = planning();
		const query = "query A { table } query B { echo }";
		const named = await execute(query, {}, { operationName: "B" });
		assert.deepEqual(Object.keys(named.data ?? {}), ["echo"]);
		const unnamed = await execute(query);
		assert.equal(unnamed.data, undefined);
		assert.equal(
			unnamed.errors?.[0]?.message,
			"Must provide operation name if query contains multiple operations.",
		);
		const wrong = await execute(query, {}, { operationName: "__proto__" });
		assert.equal(
			wrong.errors?.[0]?.message,
			'Unknown operation named "__proto__".',
		);
	});

	test("throws BAD_MODEL for a field without its resolver, or a resolver without its field", () => {
		const incomplete = new Map(resolvers);
		const [name, resolver] = [...incomplete][0] ?? [];
		assert.ok(name && resolver);
		incomplete.delete(name);
		incomplete.set("User.name", resolver);
		assert.throws(
			() =>
				createPlanner({
					schema,
					model,
					resolvers: incomplete,
					visibility,
					maxCost: 1,
					maxPlans: 1,
				}),
			(error) =>
				error instanceof CorkboardError &&
				error.code === "BAD_MODEL" &&
				error.message ===
					"Query.node has no resolver; User.name has a resolver but needs none",
		);
	});
});

describe("hostile operations", () => {
	test("with exponentially nested fragments are rejected before they are expanded", async () => {
		const { execute, world } = planning();
		const fragments = Array.from(
			{ length: 60 },
			(_, index) =>
				`fragment F${index} on User { a: best { ...F${index + 1} } b: best { ...F${index + 1} } }`,
		);
		const document = `{ user(id: 1) { ...F0 } } ${fragments.join(" ")} fragment F60 on User { id }`;
		// Expanded, it would have 2^60 fields.
		await assertCpuWithin(
			1_000,
			() => parse(document),
			async (round) => {
				const response = await execute(`${document} #${round}`);
				assert.deepEqual(errorsOf(response), [" TOO_EXPENSIVE"]);
			},
		);
		assert.deepEqual(world.calls, []);
	});

	test("with 500 levels execute", async () => {
		const { graph, execute } = planning();
		const id = graph.add("User", { name: "ada" });
		const self = graph.add("User", { name: "bob", best_id: id });
		const deep = `${"best { ".repeat(500)}name${" }".repeat(500)}`;
		const { data, errors } = await execute(
			`query ($id: ID!) { user(id: $id) { ${deep} } }`,
			{ id: self },
		);
		assert.equal(errors, undefined);
		assert.deepEqual(data, { user: { best: { best: null } } });
	});

	test("cannot set a prototype through a response key", async () => {
		const { graph, execute } = planning();
		const id = graph.add("User", { name: "ada" });
		const { data } = await execute(
			"query ($id: ID!) { user(id: $id) { __proto__: picture { polluted: url } constructor: id } __proto__: user(id: $id) { polluted: name } }",
			{ id },
		);
		assert.equal(
			JSON.stringify(data),
			`{"user":{"__proto__":null,"constructor":"${id}"},"__proto__":{"polluted":"ada"}}`,
		);
		assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
	});
});
