import assert from "node:assert/strict";
import { test } from "node:test";
import {
	buildSchema,
	Kind,
	type OperationDefinitionNode,
	parse,
	validate,
} from "graphql";
import { getFragments } from "../../src/plan/compile/collectFields.ts";
import { schemaUses } from "../../src/plan/compile/schemaUses.ts";

const SCHEMA = buildSchema(`
	interface Node { id: ID! }
	type Pin implements Node { id: ID! title: String board: Board }
	type Board implements Node { id: ID! pins(first: Int, order: Order): [Pin!]! }
	enum Order { NEWEST OLDEST }
	input Filter { title: String within: Range order: Order }
	input Range { from: Int to: Int }
	scalar Cursor
	type Query {
		node(id: ID!): Node
		pins(filter: Filter, after: Cursor): [Pin!]!
	}
`);

function usesIn(text: string, name?: string): readonly string[] {
	const document = parse(text);
	assert.deepEqual(validate(SCHEMA, document), []);
	const operation = document.definitions.find(
		(definition): definition is OperationDefinitionNode =>
			definition.kind === Kind.OPERATION_DEFINITION &&
			(name === undefined || definition.name?.value === name),
	);
	assert.ok(operation);
	const { coordinates } = schemaUses(SCHEMA, operation, getFragments(document));
	return coordinates.toSorted();
}

for (const [title, text, expected] of [
	[
		"fields and arguments, of aliases too, and what a condition leaves out",
		'{ a: node(id: "1") { __typename id @skip(if: true) } }',
		["@skip", "Node.id", "Query.node", "Query.node(id:)"],
	],
	[
		"fields of an interface by the interface, and of a type by the type that a fragment names",
		'{ node(id: "1") { id ... on Pin { title } ...B } } fragment B on Board { pins { id } }',
		[
			"Board",
			"Board.pins",
			"Node.id",
			"Pin",
			"Pin.id",
			"Pin.title",
			"Query.node",
			"Query.node(id:)",
		],
	],
	[
		"input fields and enum values that the document holds",
		"{ pins(filter: {within: {from: 1}, order: NEWEST}) { id } }",
		[
			"Filter",
			"Filter.order",
			"Filter.within",
			"Order.NEWEST",
			"Pin.id",
			"Query.pins",
			"Query.pins(filter:)",
			"Range",
			"Range.from",
		],
	],
	[
		"the types of variables with all below them, and no value",
		'query Q($f: Filter = {title: "secret"}, $c: Cursor) { pins(filter: $f, after: $c) { id } }',
		[
			"Cursor",
			"Filter",
			"Filter.title",
			"Order",
			"Pin.id",
			"Query.pins",
			"Query.pins(after:)",
			"Query.pins(filter:)",
			"Range",
		],
	],
	["nothing, of introspection", "{ __schema { types { name } } }", []],
] as const) {
	test(`an operation uses ${title}`, () => {
		assert.deepEqual(usesIn(text), expected);
	});
}

test("an operation uses what is its own of a document, and each fragment once", () => {
	const text = `
		query One { pins { ...P board { pins { ...P } } } }
		query Two { node(id: "1") { id } }
		fragment P on Pin { title }`;
	assert.deepEqual(usesIn(text, "Two"), [
		"Node.id",
		"Query.node",
		"Query.node(id:)",
	]);
	assert.ok(usesIn(text, "One").includes("Pin.title"));
});
