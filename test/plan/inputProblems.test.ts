import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { buildSchema, parse } from "graphql";
import { applyScalars } from "../../src/graphql/scalars.ts";
import type { Model } from "../../src/model/types.ts";
import { inputProblems } from "../../src/plan/compile/inputProblems.ts";

const schema = applyScalars(
	buildSchema(`
		scalar DateTime
		enum Order { NEW OLD }
		input Part { at: DateTime! orders: [Order!] }
		input By @oneOf { id: ID name: String }
		input Input { at: DateTime parts: [Part!] by: By size: Int! = 3 }
		type Query { a: Int }
		type Mutation { go(input: Input!): Int }
	`),
);

function problems(source: string, variables = {}) {
	return inputProblems(
		{
			schema,
			// No resolver has problems of its own, so nothing reads the model.
			model: {} as Model,
			resolvers: new Map(),
		},
		{ document: parse(source), variables },
	).map(({ path, code, type }) => [path.join("."), code, type]);
}

describe("problems of an input", () => {
	it("are the same in a literal and in a variable, in lists and below", () => {
		const found = [
			["input.at", "INVALID", "DateTime"],
			["input.parts.0.at", "INVALID", "DateTime"],
			["input.parts.0.orders.1", "INVALID", "Order"],
			["input.parts.1.at", "REQUIRED", undefined],
			["input.by", "INVALID", undefined],
			["input.size", "REQUIRED", undefined],
		];
		assert.deepEqual(
			problems(
				'mutation { go(input: {at: "2026-02-30T00:00:00Z", parts: [{at: 7, orders: [NEW, LATE]}, {}], by: {}, size: null}) }',
			),
			found,
		);
		const input = {
			at: "2026-02-30T00:00:00Z",
			parts: [{ at: 7, orders: ["NEW", "LATE"] }, {}],
			by: {},
			size: null,
		};
		const document = "mutation ($input: Input!) { go(input: $input) }";
		assert.deepEqual(problems(document, { input }), found);
		assert.deepEqual(
			problems(
				"mutation ($at: DateTime, $parts: [Part!]) { go(input: {at: $at, parts: $parts, by: {}, size: null}) }",
				input,
			),
			found,
		);
	});

	it("are none where defaults and coercion make it fit, nor in a query", () => {
		const at = "2026-02-03T00:00:00Z";
		for (const text of [
			`mutation { go(input: {at: "${at}", parts: {at: "${at}"}}) }`,
			`mutation ($at: DateTime = "${at}", $n: Int) { go(input: {at: $at, size: $n, by: {id: 7}}) }`,
			"query ($a: Input!) { a }",
		]) {
			assert.deepEqual(problems(text), []);
		}
	});

	it("are a hundred at most", () => {
		const parts = Array.from({ length: 10_000 }, () => ({}));
		const document = "mutation ($input: Input!) { go(input: $input) }";
		assert.equal(problems(document, { input: { parts } }).length, 100);
	});
});
