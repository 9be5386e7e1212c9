import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BreakingChangeType, buildSchema, DangerousChangeType } from "graphql";
import { schemaChanges } from "../../src/model/schema/schemaChanges.ts";

/** Two schemas that differ in this one way, and what the change affects. */
const CHANGES: Readonly<
	Record<
		string,
		readonly [old: string, next: string, affects: readonly string[]]
	>
> = {
	TYPE_REMOVED: [
		"type A { b: Int } type Query { a: Int }",
		"type Query { a: Int }",
		["A", "A.b"],
	],
	TYPE_CHANGED_KIND: [
		"enum A { B } type Query { a: Int }",
		"input A { b: Int } type Query { a: Int }",
		["A", "A.B"],
	],
	TYPE_REMOVED_FROM_UNION: [
		"type A { a: Int } type B { b: Int } union U = A | B type Query { u: U }",
		"type A { a: Int } type B { b: Int } union U = A type Query { u: U }",
		["B", "B.b"],
	],
	VALUE_REMOVED_FROM_ENUM: [
		"enum E { A B } type Query { e(e: E): Int }",
		"enum E { A } type Query { e(e: E): Int }",
		["E", "E.B"],
	],
	REQUIRED_INPUT_FIELD_ADDED: [
		"input I { a: Int } type Query { a(i: I): Int }",
		"input I { a: Int b: Int! } type Query { a(i: I): Int }",
		["I"],
	],
	IMPLEMENTED_INTERFACE_REMOVED: [
		"interface I { a: Int } type A implements I { a: Int } type Query { a: A }",
		"interface I { a: Int } type A { a: Int } type Query { a: A }",
		["A", "I"],
	],
	FIELD_REMOVED: [
		"type Query { a: Int b: Int }",
		"type Query { a: Int }",
		["Query.b"],
	],
	FIELD_CHANGED_KIND: [
		"type Query { a: Int }",
		"type Query { a: String }",
		["Query.a"],
	],
	REQUIRED_ARG_ADDED: [
		"type Query { a: Int }",
		"type Query { a(b: Int!): Int }",
		["Query.a"],
	],
	ARG_REMOVED: [
		"type Query { a(b: Int): Int }",
		"type Query { a: Int }",
		["Query.a(b:)"],
	],
	ARG_CHANGED_KIND: [
		"type Query { a(b: Int): Int }",
		"type Query { a(b: Int!): Int }",
		["Query.a(b:)"],
	],
	DIRECTIVE_REMOVED: [
		"directive @d on FIELD type Query { a: Int }",
		"type Query { a: Int }",
		["@d"],
	],
	DIRECTIVE_ARG_REMOVED: [
		"directive @d(a: Int) on FIELD type Query { a: Int }",
		"directive @d on FIELD type Query { a: Int }",
		["@d"],
	],
	REQUIRED_DIRECTIVE_ARG_ADDED: [
		"directive @d on FIELD type Query { a: Int }",
		"directive @d(a: Int!) on FIELD type Query { a: Int }",
		["@d"],
	],
	DIRECTIVE_REPEATABLE_REMOVED: [
		"directive @d repeatable on FIELD type Query { a: Int }",
		"directive @d on FIELD type Query { a: Int }",
		["@d"],
	],
	DIRECTIVE_LOCATION_REMOVED: [
		"directive @d on FIELD | QUERY type Query { a: Int }",
		"directive @d on FIELD type Query { a: Int }",
		["@d"],
	],
	VALUE_ADDED_TO_ENUM: [
		"enum E { A } type Query { e: E other: Int }",
		"enum E { A B } type Query { e: E other: Int }",
		["Query.e"],
	],
	TYPE_ADDED_TO_UNION: [
		"type A { a: Int } type B { b: Int } union U = A type Query { u: [U!] }",
		"type A { a: Int } type B { b: Int } union U = A | B type Query { u: [U!] }",
		["Query.u"],
	],
	OPTIONAL_INPUT_FIELD_ADDED: [
		"input I { a: Int } type Query { a(i: I): Int }",
		"input I { a: Int b: Int } type Query { a(i: I): Int }",
		["I"],
	],
	OPTIONAL_ARG_ADDED: [
		"type Query { a: Int }",
		"type Query { a(b: Int): Int }",
		["Query.a"],
	],
	IMPLEMENTED_INTERFACE_ADDED: [
		"interface I { a: Int } type A { a: Int } type Query { a: A i: I }",
		"interface I { a: Int } type A implements I { a: Int } type Query { a: A i: I }",
		["Query.i"],
	],
	ARG_DEFAULT_VALUE_CHANGE: [
		"type Query { a(b: Int = 1): Int c(d: Int = 1): Int }",
		"type Query { a(b: Int = 2): Int c(d: Int): Int }",
		["Query.a"],
	],
	TYPE_ADDED: [
		"type Query { a: Int }",
		"type Query { a: Int } type A { a: Int }",
		[],
	],
	FIELD_ADDED: ["type Query { a: Int }", "type Query { a: Int b: Int }", []],
	FIELD_DEPRECATED: [
		"type Query { a: Int }",
		"type Query { a: Int @deprecated }",
		[],
	],
};

describe("changes of a schema", () => {
	for (const [type, [old, next, affects]] of Object.entries(CHANGES)) {
		test(`${type} affects ${affects.join(" and ") || "nobody"}`, () => {
			const changes = schemaChanges(buildSchema(old), buildSchema(next));
			const found = changes.find((change) => change.type === type);
			assert.deepEqual(found?.affects, affects);
			const kind =
				type in BreakingChangeType
					? "breaking"
					: type in DangerousChangeType
						? "dangerous"
						: "safe";
			assert.equal(found?.kind, kind);
		});
	}

	test("of every kind that graphql-js knows are understood", () => {
		for (const type of [
			...Object.keys(BreakingChangeType),
			...Object.keys(DangerousChangeType),
		]) {
			assert.ok(Object.hasOwn(CHANGES, type), type);
		}
	});

	test("of an input field affect also clients that have the input in a variable", () => {
		const changes = schemaChanges(
			buildSchema("input I { a: Int b: Int } type Query { a(i: I): Int }"),
			buildSchema("input I { a: Int } type Query { a(i: I): Int }"),
		);
		assert.deepEqual(
			changes.map(({ affects }) => affects),
			[["I", "I.b"]],
		);
	});
});
