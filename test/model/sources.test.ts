import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { problemsOf, RESOLVED } from "./smallModel.ts";

const PAGE = "(first: Int, after: String, last: Int, before: String)";

function without(path: string): ReadonlySet<string> {
	return new Set([...RESOLVED].filter((each) => each !== path));
}

suite("sources of fields", () => {
	test("a field of an object must have a source", () => {
		assert.deepEqual(problemsOf([], without("User.isViewer")), [
			"small.graphql:20: User.isViewer has no source: it must have @stored, @reference, @mapping or a resolver",
		]);
	});

	test("@lookup alone is not a source", () => {
		assert.deepEqual(problemsOf([], without("User.email")), [
			"small.graphql:19: User.email has no source: it must have @stored, @reference, @mapping or a resolver",
		]);
	});

	test("a root field must have a source", () => {
		assert.deepEqual(problemsOf([], without("Query.user")), [
			"small.graphql:2: Query.user has no source: it must have @mapping or a resolver",
		]);
		assert.deepEqual(problemsOf([], without("Mutation.likePin")), [
			"small.graphql:6: Mutation.likePin has no source: it must have a resolver",
		]);
	});

	test("a field must have one source only", () => {
		assert.deepEqual(problemsOf([], new Set([...RESOLVED, "Pin.details"])), [
			"small.graphql:26: Pin.details must have one source, got @stored and a resolver",
		]);
		assert.deepEqual(
			problemsOf([["@stored(default: 1)", '@stored @reference(key: "x")']]),
			[
				"small.graphql:27: Pin.width must have one source, got @stored and @reference",
				"small.graphql:27: Pin.width is non-null, so it must have a default for rows written before the field existed",
				"small.graphql:27: Pin.width has @reference, so its type must be a single type with @object, got Int!",
			],
		);
	});

	test("an id is its own source", () => {
		assert.deepEqual(problemsOf([], new Set([...RESOLVED, "Pin.id"])), [
			"small.graphql:25: Pin.id must have one source, got the id itself and a resolver",
		]);
	});

	test("a field of a plain type must have no source", () => {
		const problems = (source: string) => [
			`small.graphql:36: Image.alt can have no source: its value is a part of its parent's, got ${source}`,
		];
		assert.deepEqual(
			problemsOf([["alt: String", "alt: String @stored"]]),
			problems("@stored"),
		);
		assert.deepEqual(
			problemsOf([["alt: String", 'alt: Pin @reference(key: "x")']]),
			problems("@reference"),
		);
		assert.deepEqual(
			problemsOf([
				[
					"alt: String",
					`alt${PAGE}: PinConnection @mapping(name: "x", table: "x")`,
				],
			]),
			problems("@mapping"),
		);
		assert.deepEqual(
			problemsOf([], new Set([...RESOLVED, "Image.alt"])),
			problems("a resolver"),
		);
	});

	test("a root field cannot be stored", () => {
		assert.deepEqual(
			problemsOf(
				[["user(id: ID): User", 'user: User @reference(key: "user_id")']],
				without("Query.user"),
			),
			[
				"small.graphql:2: Query.user can have @mapping, a resolver, got @reference",
			],
		);
	});

	test("a field of an interface cannot have a storage directive", () => {
		assert.deepEqual(
			problemsOf([
				["interface Node {\n\tid: ID!", "interface Node {\n\tid: ID! @stored"],
			]),
			[
				"small.graphql:12: @stored on Node.id: an interface stores nothing: put the directive on the types that implement it",
			],
		);
	});

	test("a resolver must belong to an existing field", () => {
		assert.deepEqual(
			problemsOf([], new Set([...RESOLVED, "Pin.nope", "Nope.nope"])),
			[
				"schema: there is a resolver for Nope.nope, which is not a field",
				"small.graphql:24: there is a resolver for Pin.nope, which is not a field",
			],
		);
	});

	test("only connections and resolvers may take arguments", () => {
		assert.deepEqual(
			problemsOf([["details: String", "details(short: Boolean): String"]]),
			[
				"small.graphql:26: Pin.details must have no arguments, because nothing would read them, got short",
			],
		);
	});

	test("a field with @lookup must be text that is stored or has a resolver", () => {
		assert.deepEqual(
			problemsOf([
				["@stored(default: 1)", '@stored(default: 1) @lookup(name: "x")'],
			]),
			[
				"small.graphql:27: Pin.width has @lookup, so it must be String or String!, got Int!",
			],
		);
		assert.deepEqual(
			problemsOf([['key: "user_id")', 'key: "user_id") @lookup(name: "x")']]),
			[
				"small.graphql:31: Pin.owner has @lookup, so it must be @stored or have a resolver, got @reference",
			],
		);
		assert.deepEqual(
			problemsOf([["alt: String", 'alt: String @lookup(name: "x")']]),
			[
				"small.graphql:36: @lookup must be on a field of a type with @object, got Image.alt",
			],
		);
	});

	test("a key of several fields names those that are stored, are not null, and are one value each", () => {
		const onPin = (directive: string) =>
			problemsOf([
				[
					'@object(type: 1, table: "pins") {',
					`@object(type: 1, table: "pins") ${directive} {`,
				],
			]);
		assert.deepEqual(onPin('@lookup(name: "x", of: ["owner", "width"])'), []);
		const at = "small.graphql:24: the lookup x of Pin";
		for (const [of, problem] of [
			[
				'"width"',
				" must name at least two different fields with of, got width: a key of one field is @lookup on that field",
			],
			[
				'"width", "width"',
				" must name at least two different fields with of, got width, width: a key of one field is @lookup on that field",
			],
			[
				'"width", "ownr"',
				" names ownr, which Pin does not have. Did you mean owner?",
			],
			[
				'"owner", "mood"',
				": Pin.mood must be non-null to be a part of a key, got Mood: two objects without a value would not be kept apart",
			],
			[
				'"owner", "image"',
				": Pin.image must be one text, whole number, Boolean or value of an enum to be a part of a key, got Image",
			],
			[
				'"owner", "likedBy"',
				": Pin.likedBy must be @stored or @reference to be a part of a key",
			],
			[
				'"owner", "id"',
				": Pin.id must be @stored or @reference to be a part of a key",
			],
		] as const) {
			assert.deepEqual(onPin(`@lookup(name: "x", of: [${of}])`), [
				`${at}${problem}`,
			]);
		}
		assert.deepEqual(onPin('@lookup(name: "x")'), [
			`${at} must name at least two different fields with of, got none: a key of one field is @lookup on that field`,
		]);
		assert.deepEqual(
			onPin(
				'@lookup(name: "x", of: ["owner", "width"]) @lookup(name: "x", of: ["width", "owner"])',
			),
			["small.graphql:24: the lookup x of Pin is already that of Pin"],
		);
	});

	test("a key of several fields is not of a private one, nor of another type, and is declared on the type", () => {
		assert.deepEqual(
			problemsOf([
				[
					'@object(type: 3, table: "users") {',
					'@object(type: 3, table: "users") @lookup(name: "x", of: ["username", "email"]) {',
				],
			]),
			[
				"small.graphql:16: the lookup x of User: User.email must be @stored or @reference to be a part of a key",
			],
		);
		assert.deepEqual(
			problemsOf([
				["type Image {", 'type Image @lookup(name: "x", of: ["url", "alt"]) {'],
			]),
			[
				"small.graphql:34: @lookup must be on a type with @object, or on a field of one, got Image",
			],
		);
		assert.deepEqual(
			problemsOf([
				[
					'@lookup(name: "email")',
					'@lookup(name: "email", of: ["username", "email"])',
				],
			]),
			[
				"small.graphql:19: User.email has @lookup with of: write a key of several fields on the type",
			],
		);
	});
});

suite("fields that lead to objects", () => {
	test("a reference must lead to a single type with @object", () => {
		for (const type of ["Image", "[User]", "Node"]) {
			assert.deepEqual(
				problemsOf([["owner: User @reference", `owner: ${type} @reference`]]),
				[
					`small.graphql:31: Pin.owner has @reference, so its type must be a single type with @object, got ${type}`,
				],
			);
		}
	});

	test("a field that leads to an object must be nullable", () => {
		assert.deepEqual(
			problemsOf([["owner: User @reference", "owner: User! @reference"]]),
			[
				"small.graphql:31: Pin.owner needs another fetch, so it must be nullable, got User!",
			],
		);
		assert.deepEqual(problemsOf([["\tpin: Pin", "\tpin: Pin!"]]), [
			"small.graphql:9: LikePinPayload.pin needs another fetch, so it must be nullable, got Pin!",
		]);
		for (const type of ["[User!]", "[User!]!", "Node!"]) {
			assert.deepEqual(
				problemsOf([["user(id: ID): User", `user(id: ID): ${type}`]]),
				[
					`small.graphql:2: Query.user needs another fetch, so it must be nullable, got ${type}`,
				],
			);
		}
		assert.deepEqual(
			problemsOf([["user(id: ID): User", "user(id: ID): [User]!"]]),
			[],
			"a list of nullable objects",
		);
	});

	test("a type with @object must implement Node and have an id", () => {
		assert.deepEqual(problemsOf([["type User implements Node", "type User"]]), [
			"small.graphql:16: User has @object, so it must implement Node",
		]);
		assert.deepEqual(
			problemsOf([["\tid: ID!\n\tdetails", "\tid: String!\n\tdetails"]]),
			[
				"small.graphql:24: Pin has @object, so it must have id: ID!",
				"small.graphql:25: Interface field Node.id expects type ID! but Pin.id is type String!.",
			],
		);
	});

	test("a Node must have @object", () => {
		assert.deepEqual(problemsOf([['@object(type: 1, table: "pins") ', ""]]), [
			"small.graphql:24: Pin implements Node, so it must have @object, whose type number is in its ids",
		]);
	});

	test("a root type cannot have @object", () => {
		assert.deepEqual(
			problemsOf([
				["type Query {", 'type Query @object(type: 9, table: "queries") {'],
			]),
			["small.graphql:1: Query is a root type and cannot have @object"],
		);
	});

	test("every member of a union must have @object", () => {
		assert.deepEqual(
			problemsOf([
				["scalar DateTime", "scalar DateTime union Found = Pin | Image"],
			]),
			[
				"small.graphql:34: Image is a member of Found, so it must have @object: the type of a value is read from its id",
			],
		);
	});

	test("subscriptions are not supported", () => {
		assert.deepEqual(
			problemsOf([
				["scalar DateTime", "scalar DateTime type Subscription { tick: Int }"],
			]),
			["small.graphql:14: subscriptions are not supported"],
		);
	});
});
