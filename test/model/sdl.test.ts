import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { type GraphQLNamedType, printType } from "graphql";
import { CorkboardError } from "../../src/errors.ts";
import { readModel, readSdlFiles } from "../../src/model/read.ts";
import { problemsOf, RESOLVED, readSmall } from "./smallModel.ts";

const DIRECTIVES = readFileSync(
	join(import.meta.dirname, "../../src/model/directives.graphql"),
	"utf8",
);

suite("problems of the SDL", () => {
	test("a valid SDL has none", () => {
		assert.deepEqual(problemsOf(), []);
	});

	test("all are reported at once, in order, each with its file and line", () => {
		assert.deepEqual(
			problemsOf([
				["type: 3", "type: 1"],
				["details: String @stored", "details: String @stored @cached"],
				["owner: User @", "owner: Usr @"],
				["alt: String", "alt: String @stored"],
			]),
			[
				"small.graphql:24: the type number 1 of Pin is already that of User",
				'small.graphql:26: Unknown directive "@cached".',
				'small.graphql:31: Unknown type "Usr". Did you mean "User"?',
				"small.graphql:36: Image.alt can have no source: its value is a part of its parent's, got @stored",
			],
		);
	});

	test("every file that cannot be parsed is reported", () => {
		assert.throws(
			() =>
				readModel(
					[
						{ path: "a.graphql", text: "type Query {\n\tuser: \n}" },
						{ path: "b.graphql", text: "scalar DateTime" },
						{ path: "c.graphql", text: "typ" },
					],
					{ resolverFields: new Set() },
				),
			new CorkboardError(
				"BAD_MODEL",
				'a.graphql:3: Syntax Error: Expected Name, found "}".\nc.graphql:1: Syntax Error: Unexpected Name "typ".',
			),
		);
	});

	test("an argument of a directive must have the type of its definition", () => {
		assert.deepEqual(problemsOf([["type: 3", 'type: "3"']]), [
			'small.graphql:16: Argument "type" has invalid value "3".',
		]);
		assert.deepEqual(problemsOf([["type: 3, ", ""]]), [
			'small.graphql:16: Directive "@object" argument "type" of type "Int!" is required, but it was not provided.',
		]);
		assert.deepEqual(problemsOf([["type: 3, ", "type: 3, cache: true, "]]), [
			'small.graphql:16: Unknown argument "cache" on directive "@object". Did you mean "table"?',
		]);
		assert.deepEqual(problemsOf([["order: POSITION", "order: RANDOM"]]), [
			'small.graphql:22: Argument "order" has invalid value RANDOM.',
		]);
	});

	test("a directive must be at an allowed location, once", () => {
		assert.deepEqual(problemsOf([["type Image {", "type Image @stored {"]]), [
			'small.graphql:34: Directive "@stored" may not be used on OBJECT.',
		]);
		assert.deepEqual(
			problemsOf([["mood: Mood @stored", "mood: Mood @stored @stored"]]),
			[
				'small.graphql:29: The directive "@stored" can only be used once at this location.',
			],
		);
	});

	test("an undefined type is reported once, however often it is used", () => {
		for (const [before, after] of [
			["image: Image @stored", "image: Nope @stored"],
			["owner: User @reference", "owner: Nope @reference"],
			["details: String @stored", "details: Nope @stored"],
			["user(id: ID): User", "user(id: Nope): User"],
		] as const) {
			const problems = problemsOf([[before, after]]);
			assert.equal(problems.length, 1, problems.join("\n"));
			assert.match(
				problems[0] ?? "",
				/^small\.graphql:\d+: Unknown type "Nope"/,
			);
		}
	});

	test("errors of graphql-js are reported", () => {
		assert.deepEqual(problemsOf([["alt: String", "alt(of: Image): String"]]), [
			"small.graphql:36: The type of Image.alt(of:) must be Input Type but got: Image.",
			"small.graphql:36: Image.alt must have no arguments, because nothing would read them, got of",
		]);
		assert.deepEqual(
			problemsOf([["type Image {", "type Image { x: Int }\ntype Image {"]]),
			['small.graphql:35: There can be only one type named "Image".'],
		);
	});

	test("the directives of the model must be defined as the code reads them", () => {
		assert.deepEqual(
			problemsOf([], RESOLVED, DIRECTIVES.replace("type: Int!", "type: Int")),
			[
				"directives.graphql:6: the directive @object must be defined as (type: Int!, table: String!) on OBJECT, got (type: Int, table: String!) on OBJECT",
			],
		);
		assert.deepEqual(
			problemsOf([], RESOLVED, DIRECTIVES.replace("\tPOSITION\n", "")),
			[
				"directives.graphql:27: the directive @mapping must be defined as (name: String!, table: String!, inverse: String, order: NEWEST_FIRST|OLDEST_FIRST|POSITION|LOWEST_FIRST|HIGHEST_FIRST = NEWEST_FIRST, groupBy: String, orderBy: String, place: GRAPH|FEEDS = GRAPH, edges: String) on FIELD_DEFINITION, got (name: String!, table: String!, inverse: String, order: NEWEST_FIRST|OLDEST_FIRST|LOWEST_FIRST|HIGHEST_FIRST = NEWEST_FIRST, groupBy: String, orderBy: String, place: GRAPH|FEEDS = GRAPH, edges: String) on FIELD_DEFINITION",
			],
		);
		assert.deepEqual(
			problemsOf(
				[],
				RESOLVED,
				`${DIRECTIVES}directive @auth on FIELD_DEFINITION`,
			),
			[
				"directives.graphql:118: the directive @auth is none of @object, @mapping, @reference, @lookup, @stored, @prefixes, @edge, @mutations: remove it, nothing reads it",
			],
		);
	});

	test("a model is loaded from all *.graphql files of a folder", (t) => {
		const folder = mkdtempSync(join(tmpdir(), "corkboard-model-"));
		t.after(() => rmSync(folder, { recursive: true }));
		writeFileSync(join(folder, "a.graphql"), "scalar Up");
		writeFileSync(join(folder, "b.graphql"), "type Query { up: Up }");
		writeFileSync(join(folder, "model.lock.json"), "{}");
		const { model } = readModel(readSdlFiles(folder), {
			resolverFields: new Set(["Query.up"]),
		});
		assert.deepEqual([...model.sources.keys()], ["Query"]);
		assert.throws(
			() => readModel(readSdlFiles(folder), { resolverFields: new Set() }),
			new CorkboardError(
				"BAD_MODEL",
				`${join(folder, "b.graphql")}:1: Query.up has no source: it must have @mapping or a resolver`,
			),
		);
	});

	test("a folder without *.graphql files is refused", (t) => {
		const folder = mkdtempSync(join(tmpdir(), "corkboard-model-"));
		t.after(() => rmSync(folder, { recursive: true }));
		assert.throws(
			() => readModel(readSdlFiles(folder), { resolverFields: new Set() }),
			{
				code: "BAD_MODEL",
				message: `${folder} has no *.graphql files`,
			},
		);
	});

	test("what every graph has need not be written: what a schema uses of it is made", () => {
		const { schema, model } = readSmall([
			["interface Node {\n\tid: ID!\n}\nscalar DateTime\n", ""],
			["\thasNextPage: Boolean!\n", ""],
		]);
		const { Node, DateTime, PageInfo } = schema.getTypeMap();
		assert.match(printType(Node as GraphQLNamedType), /^ {2}id: ID!$/m);
		assert.match(printType(PageInfo as GraphQLNamedType), /hasNextPage/);
		assert.match(printType(DateTime as GraphQLNamedType), /@specifiedBy/);
		assert.deepEqual(
			["node", "nodes"].map((field) => model.sources.get("Query")?.get(field)),
			[{ kind: "resolver" }, { kind: "resolver" }],
		);
		const without = readModel(
			[
				{
					path: "a.graphql",
					text: `type Query { a: A } type A implements Node @object(type: 1, table: "as") { id: ID! }`,
				},
			],
			{ resolverFields: new Set(["Query.a"]) },
		);
		assert.equal(without.schema.getType("DateTime"), undefined);
		assert.equal(without.schema.getType("PageInfo"), undefined);
	});

	test("the small model reads the same each time", () => {
		assert.deepEqual(readSmall().model, readSmall().model);
	});
});
