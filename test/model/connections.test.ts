import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { problemsOf, readSmall } from "./smallModel.ts";

const PAGE = "(first: Int, after: String, last: Int, before: String)";
const LIKES = `likes${PAGE}: PinConnection`;

suite("connections", () => {
	test("a field with @mapping must be a connection, or a list of objects, which makes one", () => {
		assert.deepEqual(problemsOf([[LIKES, "likes: [Pin]"]]), []);
		for (const type of ["[[Pin]]", "String", "Image", "Pin"]) {
			assert.deepEqual(problemsOf([[LIKES, `likes${PAGE}: ${type}`]]), [
				`small.graphql:21: User.likes has @mapping, so it must be a connection, such as PinConnection, got ${type}`,
			]);
		}
	});

	test("a connection field must be nullable", () => {
		assert.deepEqual(problemsOf([[LIKES, `${LIKES}!`]]), [
			"small.graphql:21: User.likes is a connection, whose host may be down, so it must be nullable, got PinConnection!",
		]);
	});

	test("the edges of a connection must lead to a type with @object", () => {
		assert.deepEqual(
			problemsOf([
				["nodes: [Pin]!", "nodes: [Image]!"],
				// The rest of the model stays valid, so that only the nodes are wrong.
				[', inverse: "likedBy"', ""],
				[', inverse: "likes"', ""],
				['"likePin.inverse"', '"likedPin"'],
				[', inverse: "owner"', ""],
			]),
			[
				"small.graphql:3: the edges of Query.allPins must lead to a type with @object, got Image",
				"small.graphql:21: the edges of User.likes must lead to a type with @object, got Image",
				"small.graphql:22: the edges of User.pins must lead to a type with @object, got Image",
			],
		);
	});

	test("a connection must have edges, nodes, pageInfo and totalCount of the right types", () => {
		assert.deepEqual(
			problemsOf([
				[
					"type PinConnection {\n\tedges: [PinEdge!]!\n\tnodes: [Pin]!\n\tpageInfo: PageInfo!\n\ttotalCount: Int",
					"type PinConnection {\n\tedges: [PinEdge]\n\tnodes: [Pin!]!\n\tpageInfo: PageInfo\n\ttotalCount: Int!",
				],
			]),
			[
				"small.graphql:45: PinConnection must have edges: [PinEdge!]!, got edges: [PinEdge]",
				"small.graphql:46: PinConnection must have nodes: [Pin]!, got nodes: [Pin!]!",
				"small.graphql:47: PinConnection must have pageInfo: PageInfo!, got pageInfo: PageInfo",
				"small.graphql:48: PinConnection must have totalCount: Int, got totalCount: Int!",
			],
		);
		assert.deepEqual(problemsOf([["\tnodes: [Pin]!\n", ""]]), [
			"small.graphql:44: PinConnection must have nodes: [Pin]!, got no such field",
		]);
	});

	test("a connection must have no other fields", () => {
		assert.deepEqual(
			problemsOf([["nodes: [Pin]!", "nodes: [Pin]!\n\tcount: Int"]]),
			[
				"small.graphql:47: PinConnection.count is not part of a page: PinConnection may only have edges, nodes, pageInfo, totalCount",
			],
		);
	});

	test("a type may have several connection types, each with its own edge type, whose time has any name", () => {
		const likes =
			"type LikeConnection {\n\tedges: [LikeEdge!]!\n\tnodes: [Pin]!\n\tpageInfo: PageInfo!\n\ttotalCount: Int\n}\ntype LikeEdge {\n\tnode: Pin\n\tcursor: String!\n\tlikedAt: DateTime!\n}\n";
		const { model } = readSmall([
			[LIKES, `likes${PAGE}: LikeConnection`],
			["type PinEdge {", `${likes}type PinEdge {`],
		]);
		assert.deepEqual(model.sources.get("LikeEdge")?.get("likedAt"), {
			kind: "edge",
			part: "at",
		});
		assert.deepEqual(model.sources.get("LikeConnection")?.get("edges"), {
			kind: "page",
			part: "edges",
		});
	});

	test("a connection type's name ends in Connection, and its edges are named after it", () => {
		const shape =
			"{\n\tedges: [PinEdge!]!\n\tnodes: [Pin]!\n\tpageInfo: PageInfo!\n\ttotalCount: Int\n}\ntype PinEdge {";
		assert.deepEqual(
			problemsOf([
				[LIKES, `likes${PAGE}: Likes`],
				["type PinEdge {", `type Likes ${shape}`],
			]),
			[
				"small.graphql:50: the name of a connection type must end in Connection, got Likes",
			],
		);
		assert.deepEqual(
			problemsOf([
				[LIKES, `likes${PAGE}: LikeConnection`],
				["type PinEdge {", `type LikeConnection ${shape}`],
			]),
			[
				"small.graphql:51: LikeConnection must have edges: [LikeEdge!]!, got edges: [PinEdge!]!",
			],
		);
	});

	test("an edge must have node and cursor, and may have a time, of the right types", () => {
		assert.deepEqual(
			problemsOf([
				[
					"\tnode: Pin\n\tcursor: String!\n\tat: DateTime!",
					"\tnode: Pin!\n\tcursor: ID!\n\tat: String!",
				],
			]),
			[
				"small.graphql:51: PinEdge must have node: Pin, got node: Pin!",
				"small.graphql:52: PinEdge must have cursor: String!, got cursor: ID!",
				"small.graphql:53: PinEdge must have at: DateTime!, got at: String!",
			],
		);
	});

	test("an edge may lack its time, and has no two of them", () => {
		const before = "\tnode: Pin\n\tcursor: String!\n\tat: DateTime!";
		assert.deepEqual(
			problemsOf([[before, "\tnode: Pin\n\tcursor: String!"]]),
			[],
		);
		assert.deepEqual(problemsOf([[before, `${before}\n\tto: DateTime!`]]), [
			"small.graphql:54: PinEdge.to is not part of a page: PinEdge may only have node, cursor, at",
		]);
	});

	test("PageInfo must have its four fields", () => {
		assert.deepEqual(
			problemsOf([["\tendCursor: String", "\tendCursor: Int"]]),
			[
				"small.graphql:42: PageInfo must have endCursor: String, got endCursor: Int",
			],
		);
	});

	test("a connection field must take the four page arguments and no others", () => {
		assert.deepEqual(problemsOf([[LIKES, "likes: PinConnection"]]), [
			"small.graphql:21: User.likes must take (first: Int, after: String, last: Int, before: String), got ()",
		]);
		assert.deepEqual(
			problemsOf([
				[
					LIKES,
					"likes(first: Int!, after: String, last: Int, before: String): PinConnection",
				],
			]),
			[
				"small.graphql:21: User.likes must take (first: Int, after: String, last: Int, before: String), got (first: Int!, after: String, last: Int, before: String)",
			],
		);
		assert.deepEqual(
			problemsOf([
				[
					LIKES,
					"likes(before: String, last: Int, after: String, first: Int): PinConnection",
				],
			]),
			[],
			"in any order",
		);
	});

	test("a page argument must have no default", () => {
		assert.deepEqual(
			problemsOf([["likes(first: Int, ", "likes(first: Int = 20, "]]),
			[
				'small.graphql:21: the argument first of User.likes must have no default, because null also means "not given", got 20',
			],
		);
	});

	test("only a field with @mapping may return a connection", () => {
		assert.deepEqual(
			problemsOf([["user(id: ID): User", "user(id: ID): UserConnection"]]),
			[
				"small.graphql:2: Query.user returns UserConnection, which is a part of a page, so it must have @mapping",
			],
		);
	});
});
