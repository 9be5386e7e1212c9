import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type DocumentNode, parse, print } from "graphql";
import { PlanCache } from "../../src/plan/compile/planCache.ts";
import {
	model,
	planning,
	resolvers,
	schema,
	valid,
	visibility,
} from "../helpers/planning.ts";
import { assertCpuWithin } from "../helpers/timing.ts";

function analyze(query: string) {
	return planning().planner.analyzeWorstCaseCost(valid(query));
}

function worst(query: string): number {
	const [only] = analyze(query);
	assert.deepEqual(only?.errors, []);
	return only?.cost.total ?? -1;
}

function actualCost(query: string, variables: Record<string, unknown>): number {
	const cost = planning().planner.cost({ document: valid(query), variables });
	assert.ok("total" in cost);
	return cost.total;
}

describe("worst-case cost", () => {
	test("assumes 100 for a page size in a variable", () => {
		const query =
			"query($n: Int) { user(id: 1) { followers(first: $n) { nodes { id } } } }";
		assert.equal(worst(query), 1 + 200);
		assert.equal(worst(query), actualCost(query, { n: 100 }));
	});

	test("assumes the larger of first and last in variables", () => {
		// Both together are an error and cost nothing, so that is not the worst case.
		const query =
			"query($f: Int, $l: Int) { user(id: 1) { followers(first: $f, last: $l) { nodes { id } } } }";
		assert.equal(worst(query), 201);
	});

	test("uses page sizes written in the document, and the default", () => {
		assert.equal(
			worst(
				"query($a: String) { user(id: 1) { followers(first: 3, after: $a) { nodes { id } } } }",
			),
			1 + 6,
		);
		assert.equal(
			worst(
				"query($a: String) { user(id: 1) { followers(after: $a) { nodes { id } } } }",
			),
			1 + 40,
		);
	});

	test("includes fields that a variable may skip", () => {
		const query = `query($with: Boolean!, $without: Boolean!) { user(id: 1) {
			followers(first: 3) @include(if: $with) { nodes { id } }
			...More @skip(if: $without)
			never: followers(first: 50) @include(if: false) { nodes { id } }
		} } fragment More on User { more: followers(first: 4) { nodes { id } } }`;
		assert.equal(worst(query), 1 + 6 + 8);
		assert.equal(
			worst(query),
			actualCost(query, { with: true, without: false }),
		);
	});

	test("reports errors that no variables can avoid", () => {
		const [only] = analyze(
			"{ user(id: 1) { followers(first: 101) { nodes { id } } } }",
		);
		assert.deepEqual(
			only?.errors.map(({ message }) => message),
			["first must be between 0 and 100, got 101."],
		);
	});

	test("is reported for each operation of a document, with its name and plan", () => {
		const analyzed = analyze(
			"query A { user(id: 1) { name } } query B { user(id: 1) { followers { totalCount } } }",
		);
		assert.deepEqual(
			analyzed.map(({ kind, name, plan }) => [
				kind,
				name,
				plan?.steps.map((step) => step.kind),
			]),
			[
				["query", "A", ["call", "fetch"]],
				["query", "B", ["call", "fetch", "scan"]],
			],
		);
	});

	test("of exponentially nested fragments is an error, in bounded CPU time", async () => {
		const fragments = Array.from(
			{ length: 30 },
			(_, n) =>
				`fragment F${n} on User { a: best { ...F${n + 1} } b: best { ...F${n + 1} } }`,
		);
		const document = parse(
			`{ user(id: 1) { ...F0 } } ${fragments.join(" ")} fragment F30 on User { id }`,
		);
		const { planner } = planning();
		// Unfolded, it would be 2^30 fields.
		await assertCpuWithin(
			1_000,
			() => parse(print(document)),
			() => planner.analyzeWorstCaseCost(document),
		);
		const [only] = planner.analyzeWorstCaseCost(document);
		assert.deepEqual(
			only?.errors.map(({ extensions }) => extensions.code),
			["TOO_EXPENSIVE"],
		);
	});
});

describe("a prepared document", () => {
	const query = `query($yes: Boolean!) { user(id: 1) { name followers(first: 1) @include(if: $yes) { totalCount } } }`;
	const other = valid("{ user(id: 1) { id } }");

	test("keeps its plans for all conditions while other plans are evicted", () => {
		const plans = new PlanCache(
			{ schema, model, resolvers, visibility },
			{ maxPlans: 1 },
		);
		const planOf = (document: DocumentNode, yes: boolean) => {
			const bound = plans.bind({ document, variables: { yes } });
			assert.ok("plan" in bound);
			return bound.plan;
		};
		const document = valid(query);
		plans.prepare(document);
		for (const yes of [true, false]) {
			const plan = planOf(document, yes);
			assert.equal(plan.steps.length, yes ? 3 : 2);
			planOf(other, true);
			assert.equal(planOf(document, yes), plan);
		}
		// Without preparation, the next plan evicts it from a cache of one.
		const unprepared = valid(query);
		planOf(unprepared, true);
		const plan = planOf(unprepared, true);
		assert.equal(planOf(unprepared, true), plan);
		planOf(other, true);
		assert.notEqual(planOf(unprepared, true), plan);
	});
});
