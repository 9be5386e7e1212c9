import assert from "node:assert/strict";
import { suite, test } from "node:test";
import pinsApp from "../../pins/app.ts";
import { readApp } from "../../src/app/readApp.ts";
import { type Id, unpackId } from "../../src/id/ids.ts";
import { globalListId, normalizeKey } from "../../src/model/types.ts";
import { readSmall } from "./smallModel.ts";

suite("the model", () => {
	const { model } = readSmall();

	test("has each type with its stored fields, references and mappings", () => {
		assert.deepEqual(model.objects.get("Pin"), {
			name: "Pin",
			number: 1,
			table: "pins",
			stored: [
				{
					field: "details",
					key: "details",
					default: null,
					nullable: true,
					required: false,
					typesByPath: new Map([["details", "String"]]),
				},
				{
					field: "width",
					key: "width",
					default: 1,
					nullable: false,
					required: false,
					typesByPath: new Map([["width", "Int"]]),
				},
				{
					field: "createdAt",
					key: "created_at",
					default: "1970-01-01T00:00:00.000Z",
					nullable: false,
					required: false,
					typesByPath: new Map([["created_at", "DateTime"]]),
				},
				{
					field: "mood",
					key: "mood",
					default: null,
					nullable: true,
					required: false,
					typesByPath: new Map([["mood", "Mood"]]),
				},
				{
					field: "image",
					key: "image",
					default: null,
					nullable: true,
					required: false,
					typesByPath: new Map([
						["image", "Image"],
						["image.url", "String"],
						["image.alt", "String"],
					]),
				},
			],
			references: [{ field: "owner", key: "user_id", target: "User" }],
			lookups: [],
			mappings: [model.mappings.get("likePin.inverse")],
			derivedMappings: [model.mappings.get("ownPin")],
			globalMappings: [model.mappings.get("listPin")],
			prefixMappings: [],
		});
		assert.equal(model.objectsByNumber.get(1), model.objects.get("Pin"));
		assert.deepEqual([...model.objectsByNumber.keys()].toSorted(), [1, 3]);
	});

	test("has each mapping with both its ends", () => {
		assert.deepEqual(
			[...model.mappings.keys()],
			["listPin", "likePin", "ownPin", "likePin.inverse"],
		);
		assert.deepEqual(model.mappings.get("ownPin"), {
			name: "ownPin",
			table: "user_has_pins",
			from: "User",
			prefixKeys: null,
			to: "Pin",
			field: "pins",
			order: "POSITION",
			inverse: { kind: "reference", field: "owner", key: "user_id" },
		});
		assert.deepEqual(model.mappings.get("listPin"), {
			name: "listPin",
			table: "root_has_pins",
			from: null,
			prefixKeys: null,
			to: "Pin",
			field: "allPins",
			order: "NEWEST_FIRST",
			inverse: null,
		});
	});

	test("has each lookup, also that of a field with a resolver", () => {
		assert.deepEqual(
			[...model.lookups.values()],
			[
				{
					name: "username",
					type: "User",
					parts: [
						{
							field: "username",
							key: "username",
							isReference: false,
							default: null,
						},
					],
					fold: "CASE",
				},
				{
					name: "email",
					type: "User",
					parts: [
						{ field: "email", key: "email", isReference: false, default: null },
					],
					fold: "NONE",
				},
			],
		);
		assert.deepEqual(model.objects.get("User")?.lookups, [
			...model.lookups.values(),
		]);
	});

	test("has the source of every field", () => {
		assert.deepEqual(
			model.sources,
			new Map<string, unknown>([
				[
					"Query",
					new Map<string, unknown>([
						["user", { kind: "resolver" }],
						["allPins", { kind: "mapping", mapping: "listPin" }],
						["node", { kind: "resolver" }],
						["nodes", { kind: "resolver" }],
					]),
				],
				["Mutation", new Map([["likePin", { kind: "resolver" }]])],
				["LikePinPayload", new Map([["pin", { kind: "property" }]])],
				[
					"User",
					new Map<string, unknown>([
						["id", { kind: "id" }],
						["username", { kind: "stored", key: "username", default: "" }],
						["email", { kind: "resolver" }],
						["isViewer", { kind: "resolver" }],
						["likes", { kind: "mapping", mapping: "likePin" }],
						["pins", { kind: "mapping", mapping: "ownPin" }],
					]),
				],
				[
					"Pin",
					new Map<string, unknown>([
						["id", { kind: "id" }],
						["details", { kind: "stored", key: "details", default: null }],
						["width", { kind: "stored", key: "width", default: 1 }],
						[
							"createdAt",
							{
								kind: "stored",
								key: "created_at",
								default: "1970-01-01T00:00:00.000Z",
							},
						],
						["mood", { kind: "stored", key: "mood", default: null }],
						["image", { kind: "stored", key: "image", default: null }],
						["owner", { kind: "reference", key: "user_id", target: "User" }],
						["likedBy", { kind: "mapping", mapping: "likePin.inverse" }],
					]),
				],
				[
					"Image",
					new Map([
						["url", { kind: "property" }],
						["alt", { kind: "property" }],
					]),
				],
				[
					"PageInfo",
					new Map([
						["hasNextPage", { kind: "property" }],
						["hasPreviousPage", { kind: "property" }],
						["startCursor", { kind: "property" }],
						["endCursor", { kind: "property" }],
					]),
				],
				...["Pin", "User"].flatMap((name) => [
					[
						`${name}Connection`,
						new Map(
							["edges", "nodes", "pageInfo", "totalCount"].map((part) => [
								part,
								{ kind: "page", part },
							]),
						),
					] as const,
					[
						`${name}Edge`,
						new Map(
							["node", "cursor", "at"].map((part) => [
								part,
								{ kind: "edge", part },
							]),
						),
					] as const,
				]),
			]),
		);
	});

	test("is frozen, with everything in it", () => {
		const pin = model.objects.get("Pin");
		assert.ok(pin);
		assert.throws(
			() => Object.assign(model, { objects: new Map() }),
			TypeError,
		);
		assert.throws(() => Object.assign(pin, { table: "x" }), TypeError);
		assert.throws(() => (pin.stored as unknown[]).push("x"), TypeError);
		for (const map of [
			model.objects,
			model.mappings,
			model.sources.get("Pin"),
		]) {
			assert.throws(() => (map as Map<string, unknown>).clear(), TypeError);
			assert.throws(
				() => (map as Map<string, unknown>).set("x", "x"),
				TypeError,
			);
			assert.throws(
				() => (map as Map<string, unknown>).delete("Pin"),
				TypeError,
			);
		}
		assert.equal(model.objects.size, 2);
	});

	test("of schema/ has the published type numbers", () => {
		const own = readApp(pinsApp).model;
		assert.deepEqual(
			[...own.objects.values()]
				.map(({ name, number }) => `${name} ${number}`)
				.toSorted(),
			[
				"Board 2",
				"Comment 4",
				"Interest 5",
				"Pin 1",
				"Report 7",
				"Section 6",
				"User 3",
			],
		);
	});
});

suite("the owner id of a list of the whole graph", () => {
	test("is on shard 0, has the type of the nodes, and names no row", () => {
		const { model } = readSmall();
		const mapping = model.mappings.get("listPin");
		assert.ok(mapping);
		assert.deepEqual(unpackId(globalListId(model, mapping)), {
			shard: 0,
			type: 1,
			local: 0,
		});
		assert.equal(globalListId(model, mapping), "68719476736");
	});

	test("does not exist for a list that an object owns", () => {
		const { model } = readSmall();
		const mapping = model.mappings.get("likePin");
		assert.ok(mapping);
		assert.throws(
			() => globalListId(model, mapping),
			new TypeError("likePin is not a list of the whole graph."),
		);
	});
});

suite("normalizing a natural key", () => {
	const { lookups } = readSmall().model;
	const username = lookups.get("username");
	const email = lookups.get("email");
	assert.ok(username && email);

	test("lowers the case if the lookup says fold: CASE", () => {
		assert.equal(normalizeKey(username, "Ada_Made_Up"), "ada_made_up");
		assert.equal(normalizeKey(username, "ÄDA"), "äda");
	});

	test("keeps the key otherwise", () => {
		assert.equal(normalizeKey(email, "Ada@example.com"), "Ada@example.com");
	});
});

suite("the schema of a model", () => {
	test("resolves the type of a Node from its id", () => {
		const { schema } = readSmall();
		const node = schema.getType("Node");
		assert.ok(node && "resolveType" in node && node.resolveType);
		const typeOf = (id: string) =>
			Reflect.apply(node.resolveType as () => unknown, undefined, [
				{ id: id as Id },
			]);
		assert.equal(typeOf("68719476737"), "Pin");
		assert.equal(typeOf("206158430209"), "User");
		assert.equal(typeOf("1"), undefined);
	});
});
