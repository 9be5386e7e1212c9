import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { problemsOf, readSmall } from "./smallModel.ts";

suite("inverses", () => {
	test("the mapping without .inverse is the source of the one with it", () => {
		const { mappings } = readSmall().model;
		assert.deepEqual(mappings.get("likePin")?.inverse, {
			kind: "target",
			mapping: "likePin.inverse",
		});
		assert.deepEqual(mappings.get("likePin.inverse")?.inverse, {
			kind: "source",
			mapping: "likePin",
		});
	});

	test("a reference is the source of the mapping that names it as its inverse", () => {
		assert.deepEqual(readSmall().model.mappings.get("ownPin")?.inverse, {
			kind: "reference",
			field: "owner",
			key: "user_id",
		});
	});

	test("a mapping may have no inverse", () => {
		const { model } = readSmall([
			[', inverse: "likedBy"', ""],
			[', inverse: "likes"', ""],
			['"likePin.inverse"', '"likedPin"'],
		]);
		assert.equal(model.mappings.get("likePin")?.inverse, null);
		assert.equal(model.mappings.get("likedPin")?.inverse, null);
	});

	test("an inverse must be a field of the type that the edges lead to", () => {
		assert.deepEqual(problemsOf([['inverse: "owner"', 'inverse: "nope"']]), [
			"small.graphql:22: the inverse of User.pins must be a field of Pin, got nope",
		]);
	});

	test("an inverse must be a mapping or a reference", () => {
		assert.deepEqual(problemsOf([['inverse: "owner"', 'inverse: "details"']]), [
			"small.graphql:22: the inverse of User.pins must have @mapping or @reference, got Pin.details, which has neither",
		]);
	});

	test("an inverse reference must lead back to the list's owner", () => {
		assert.deepEqual(problemsOf([["owner: User @ref", "owner: Pin @ref"]]), [
			"small.graphql:22: the inverse of User.pins must lead back to User, got Pin.owner, which is a reference to Pin",
		]);
	});

	test("an inverse mapping must lead back to the list's owner", () => {
		assert.deepEqual(
			problemsOf([
				[
					'likedBy(first: Int, after: String, last: Int, before: String): UserConnection @mapping(name: "likePin.inverse"',
					'likedBy(first: Int, after: String, last: Int, before: String): PinConnection @mapping(name: "likePin.inverse"',
				],
			]),
			[
				"small.graphql:21: the inverse of User.likes must lead back to User, got Pin.likedBy, which leads to Pin",
				"small.graphql:32: the inverse of Pin.likedBy must be a field of Pin, got likes",
			],
		);
	});

	test("an inverse mapping must name the field that names it", () => {
		assert.deepEqual(problemsOf([['inverse: "likes"', 'inverse: "pins"']]), [
			"small.graphql:21: the inverse of User.likes must name that field, got Pin.likedBy, whose inverse is pins",
			"small.graphql:32: the inverse of Pin.likedBy must name that field, got User.pins, whose inverse is owner",
		]);
		assert.deepEqual(problemsOf([[', inverse: "likes"', ""]]), [
			"small.graphql:21: the inverse of User.likes must name that field, got Pin.likedBy, whose inverse is none",
			"small.graphql:32: the mapping likePin.inverse of Pin.likedBy has the name of an inverse, so it must have an inverse",
		]);
	});

	test("one of two inverse mappings must have the other's name with .inverse", () => {
		assert.deepEqual(problemsOf([['"likePin.inverse"', '"likedPin"']]), [
			"small.graphql:21: the mappings User.likes and Pin.likedBy hold one fact, so one must be named X and the other X.inverse, got likePin and likedPin",
		]);
		assert.deepEqual(
			problemsOf([['name: "likePin",', 'name: "other.inverse",']]),
			[
				"small.graphql:21: the mappings User.likes and Pin.likedBy hold one fact, so one must be named X and the other X.inverse, got other.inverse and likePin.inverse",
			],
		);
	});

	test("a mapping derived from a reference must not end with .inverse", () => {
		assert.deepEqual(
			problemsOf([['name: "ownPin"', 'name: "ownPin.inverse"']]),
			[
				"small.graphql:22: the mapping ownPin.inverse of User.pins is derived from the reference Pin.owner, so its name must not end with .inverse",
			],
		);
	});

	test("a list of the whole graph cannot have an inverse", () => {
		assert.deepEqual(
			problemsOf([['"root_has_pins"', '"root_has_pins", inverse: "owner"']]),
			[
				"small.graphql:3: Query.allPins is a list of the whole graph, which cannot have an inverse, got owner",
			],
		);
	});

	const ORIGIN = [
		"mood: Mood @stored",
		'mood: Mood @stored\n\torigin: Pin @reference(key: "origin_id")',
	] as const;
	const groupedBy = (groupBy: string): readonly [string, string] => [
		'inverse: "owner", order: POSITION',
		`inverse: "owner", groupBy: "${groupBy}"`,
	];

	test("a list that follows a reference may be grouped by another one", () => {
		const { mappings } = readSmall([ORIGIN, groupedBy("origin")]).model;
		assert.deepEqual(mappings.get("ownPin")?.groupedBy, {
			field: "origin",
			key: "origin_id",
		});
		assert.equal(mappings.get("likePin")?.groupedBy, undefined);
	});

	test("a list is grouped by a reference of its objects, and has no other order", () => {
		assert.deepEqual(problemsOf([groupedBy("details")]), [
			"small.graphql:22: User.pins must be grouped by a reference of Pin, got details",
		]);
		assert.deepEqual(
			problemsOf([
				ORIGIN,
				["order: POSITION)", 'order: POSITION, groupBy: "origin")'],
			]),
			[
				"small.graphql:22: User.pins is grouped by origin, which decides its order, so it must not have another one, got POSITION",
			],
		);
	});

	const NO_TIME = [
		"node: Pin\n\tcursor: String!\n\tat: DateTime!",
		"node: Pin\n\tcursor: String!",
	] as const;
	const orderedBy = (
		orderBy: string,
		order = "LOWEST_FIRST",
	): readonly [string, string] => [
		"order: POSITION)",
		`order: ${order}, orderBy: "${orderBy}")`,
	];

	test("a list that follows a reference may be ordered by a stored DateTime or Int of its objects", () => {
		assert.deepEqual(
			readSmall([NO_TIME, orderedBy("createdAt")]).model.mappings.get("ownPin")
				?.orderedBy,
			{
				field: "createdAt",
				key: "created_at",
				default: "1970-01-01T00:00:00.000Z",
				type: "DateTime",
			},
		);
		const { mappings } = readSmall([
			NO_TIME,
			orderedBy("width", "HIGHEST_FIRST"),
		]).model;
		assert.deepEqual(mappings.get("ownPin")?.orderedBy, {
			field: "width",
			key: "width",
			default: 1,
			type: "Int",
		});
		assert.equal(mappings.get("likePin")?.orderedBy, undefined);
	});

	test("a list is ordered by a stored DateTime or Int alone, and says which end comes first", () => {
		const path = "small.graphql:22: User.pins";
		for (const [orderBy, got] of [
			["details", "details: String"],
			["mood", "mood: Mood"],
			["owner", "owner: User"],
			["id", "id: ID!"],
			["nothing", "nothing"],
		] as const) {
			assert.deepEqual(problemsOf([orderedBy(orderBy)]), [
				`${path} must be ordered by a field of Pin with @stored, of the type DateTime or Int, got ${got}`,
			]);
		}
		for (const order of ["NEWEST_FIRST", "OLDEST_FIRST", "POSITION"]) {
			assert.deepEqual(problemsOf([orderedBy("width", order)]), [
				`${path} is ordered by width, so its order must be LOWEST_FIRST or HIGHEST_FIRST, got ${order}`,
			]);
		}
		assert.deepEqual(
			problemsOf([["order: POSITION)", "order: HIGHEST_FIRST)"]]),
			[`${path} has the order HIGHEST_FIRST, so it must have orderBy`],
		);
		assert.deepEqual(
			problemsOf([
				ORIGIN,
				[
					"order: POSITION)",
					'order: LOWEST_FIRST, orderBy: "width", groupBy: "origin")',
				],
			]).at(-1),
			`${path} is grouped by origin, which decides its order, so it must not have orderBy`,
		);
	});

	test("only a list that follows a reference is ordered by a field", () => {
		const ordered = 'order: LOWEST_FIRST, orderBy: "width")';
		for (const [change, path] of [
			[
				[', inverse: "likedBy")', `, inverse: "likedBy", ${ordered}`],
				"small.graphql:21: User.likes",
			],
			[
				['table: "root_has_pins")', `table: "root_has_pins", ${ordered}`],
				"small.graphql:3: Query.allPins",
			],
		] as const) {
			assert.deepEqual(problemsOf([change]), [
				`${path} is ordered by width, so its inverse must be a reference: other edges do not follow their objects`,
			]);
		}
	});

	test("a list that is ordered by a field may begin at a value of it, and no other list may", () => {
		const startAt = (type: string): readonly [string, string] => [
			'before: String): PinConnection @mapping(name: "ownPin"',
			`before: String, startAt: ${type}): PinConnection @mapping(name: "ownPin"`,
		];
		assert.deepEqual(
			problemsOf([NO_TIME, orderedBy("width"), startAt("Int")]),
			[],
		);
		assert.deepEqual(
			problemsOf([NO_TIME, orderedBy("width"), startAt("DateTime")]),
			[
				"small.graphql:22: the argument startAt of User.pins must be of the type of width, Int, got DateTime",
			],
		);
		const [problem] = problemsOf([startAt("Int")]);
		assert.match(String(problem), /User\.pins must take \(first: Int, after/);
	});

	test("a list that is ordered by a field has edges without a time", () => {
		assert.deepEqual(problemsOf([orderedBy("width")]), [
			"small.graphql:22: User.pins has orderBy, so its edges do not keep when they were created: PinEdge must not have at; a list may have edges of a type of its own, with edges",
		]);
	});

	test("only a list that follows a reference is grouped", () => {
		for (const change of [
			[', inverse: "likedBy")', ', inverse: "likedBy", groupBy: "owner")'],
			['table: "root_has_pins")', 'table: "root_has_pins", groupBy: "owner")'],
		] as const) {
			const [problem, ...others] = problemsOf([change]);
			assert.match(
				String(problem),
				/is grouped, so its inverse must be a reference$/,
			);
			assert.deepEqual(others, []);
		}
	});
});
