import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import {
	RESERVED_KEYS,
	RESERVED_TABLES,
} from "../../src/model/reservedNames.ts";
import { openEmbedded } from "../helpers/embedded.ts";
import { problemsOf, RESOLVED } from "./smallModel.ts";

suite("names in the model", () => {
	test("a table must belong to one type or mapping", () => {
		assert.deepEqual(problemsOf([['"root_has_pins"', '"pins"']]), [
			"small.graphql:24: the table pins of Pin is already that of Query.allPins",
		]);
		assert.deepEqual(problemsOf([['"user_has_pins"', '"user_likes_pins"']]), [
			"small.graphql:22: the table user_likes_pins of User.pins is already that of User.likes",
		]);
	});

	test("a table's name must be safe in SQL and must not be SQLite's own", () => {
		for (const name of ["Users; DROP", "1users", "sqlite_users", ""]) {
			assert.deepEqual(problemsOf([['"users"', JSON.stringify(name)]]), [
				`small.graphql:16: the table of User must match ^(?!sqlite_)[a-z][a-z0-9_]{0,47}$, got ${JSON.stringify(name)}`,
			]);
		}
	});

	test("a table's name must not be that of a table or index that every shard has", async () => {
		for (const name of [
			"lists",
			"lookups",
			"outbox",
			"outbox_due",
			"renumberings",
		]) {
			assert.deepEqual(problemsOf([['"users"', JSON.stringify(name)]]), [
				`small.graphql:16: the table ${name} of User is reserved: choose another name`,
			]);
		}
		await using graph = await openEmbedded();
		const { model } = graph.store;
		const own = new Set(
			[...model.objects.values(), ...model.mappings.values()].map(
				({ table }) => table,
			),
		);
		const others = globSync("**/*.sqlite", { cwd: graph.folder }).flatMap(
			(file) => {
				using database = new DatabaseSync(join(graph.folder, file));
				return database
					.prepare("SELECT name FROM sqlite_master")
					.all()
					.map(({ name }) => String(name))
					.filter((name) => !own.has(name) && !name.startsWith("sqlite_"));
			},
		);
		assert.deepEqual(
			[...new Set(others)].toSorted(),
			[...RESERVED_TABLES].toSorted(),
		);
	});

	test("a key that the program stores in an object is reserved", async () => {
		await using graph = await openEmbedded();
		const id = await graph.writes.create({
			type: "User",
			data: { username: "ada" },
			idempotency: { scope: "test", key: "1", request: {} },
		});
		await graph.writes.remove(id);
		const [text] = await graph.storage.read("objects", [id]);
		assert.ok(typeof text === "string");
		const keys = Object.keys(JSON.parse(text) as object);
		assert.ok(keys.length > 3, keys.join());
		assert.deepEqual(
			keys.filter(
				(key) =>
					key !== "username" && !RESERVED_KEYS.some((each) => each === key),
			),
			[],
		);
	});

	test("a type number must belong to one type", () => {
		assert.deepEqual(problemsOf([["type: 3", "type: 1"]]), [
			"small.graphql:24: the type number 1 of Pin is already that of User",
		]);
	});

	test("a type number must fit into ten bits and must not be 0", () => {
		for (const number of [-1, 0, 1024]) {
			assert.deepEqual(problemsOf([["type: 3", `type: ${number}`]]), [
				`small.graphql:16: the type number of User must be from 1 to 1023, got ${number}`,
			]);
		}
		assert.deepEqual(problemsOf([["type: 3", "type: 1023"]]), []);
	});

	test("a mapping's name must belong to one mapping", () => {
		assert.deepEqual(problemsOf([['name: "ownPin"', 'name: "listPin"']]), [
			"small.graphql:22: the mapping listPin of User.pins is already that of Query.allPins",
		]);
	});

	test("a mapping's name must be one word, with or without .inverse", () => {
		for (const name of ["own:pin", "OwnPin", "own.pin", ".inverse"]) {
			assert.equal(
				problemsOf([['name: "ownPin"', `name: "${name}"`]])[0],
				`small.graphql:22: the mapping of User.pins must match ^[a-z][A-Za-z0-9]{0,47}(\\.inverse)?$, got "${name}"`,
			);
		}
	});

	test("a lookup's name must belong to one lookup", () => {
		assert.deepEqual(problemsOf([['name: "email"', 'name: "username"']]), [
			"small.graphql:19: the lookup username of User.email is already that of User.username",
		]);
	});

	test("a lookup's name must be one word that the program does not use itself", () => {
		assert.deepEqual(problemsOf([['name: "email"', 'name: "e-mail"']]), [
			'small.graphql:19: the lookup of User.email must match ^[a-z][A-Za-z0-9]{0,47}$, got "e-mail"',
		]);
		for (const name of ["idempotency", "import"]) {
			assert.deepEqual(problemsOf([['name: "email"', `name: "${name}"`]]), [
				`small.graphql:19: the lookup ${name} of User.email is reserved: choose another name`,
			]);
		}
	});

	test("a key of the stored JSON must belong to one field of its type", () => {
		assert.deepEqual(problemsOf([["created_at", "details"]]), [
			"small.graphql:28: the key details of Pin.createdAt is already that of Pin.details",
		]);
		assert.deepEqual(problemsOf([['"user_id"', '"details"']]), [
			"small.graphql:31: the key details of Pin.owner is already that of Pin.details",
		]);
		assert.deepEqual(
			problemsOf([["created_at", "username"]]),
			[],
			"another type's key",
		);
	});

	test("a lookup with a resolver is stored under its field's name, which no other field may use", () => {
		assert.deepEqual(
			problemsOf(
				[
					["\tmood: Mood @stored", '\tslug: String @lookup(name: "slug")'],
					["image: Image @stored", 'image: Image @stored(key: "slug")'],
				],
				new Set([...RESOLVED, "Pin.slug"]),
			),
			[
				"small.graphql:30: the key slug of Pin.image is already that of Pin.slug",
			],
		);
	});

	test("keys that the program uses and keys of every JavaScript object are reserved", () => {
		for (const key of [...RESERVED_KEYS, "toString"]) {
			assert.deepEqual(problemsOf([["created_at", key]]), [
				`small.graphql:28: the key ${key} of Pin.createdAt is reserved: choose another with @stored(key:) or @reference(key:)`,
			]);
		}
		assert.deepEqual(problemsOf([["\tmood: Mood", "\tactive: Mood"]]), [
			"small.graphql:29: the key active of Pin.active is reserved: choose another with @stored(key:) or @reference(key:)",
		]);
	});

	test("what clients send has no name of every JavaScript object", () => {
		const refused = (line: number, path: string, name: string) => [
			`small.graphql:${line}: ${path} cannot be named ${name}, which every JavaScript object has: choose another name`,
		];
		assert.deepEqual(
			problemsOf([["mood: Mood @stored", 'toString: Mood @stored(key: "m")']]),
			refused(29, "Pin.toString", "toString"),
		);
		assert.deepEqual(
			problemsOf([["scalar DateTime", "input Car { constructor: ID }"]])[0],
			refused(14, "Car.constructor", "constructor")[0],
		);
		assert.deepEqual(
			problemsOf([["user(id: ID)", "user(valueOf: ID)"]]),
			refused(2, "Query.user(valueOf:)", "valueOf"),
		);
		assert.deepEqual(
			problemsOf([
				["owner: User", "toString: User"],
				['inverse: "owner"', 'inverse: "toString"'],
			]),
			[],
			"what only the server gives may have one",
		);
	});

	test("a key must be one word", () => {
		assert.deepEqual(problemsOf([["created_at", "created at"]]), [
			'small.graphql:28: the key of Pin.createdAt must match ^[a-z][A-Za-z0-9_]{0,63}$, got "created at"',
		]);
	});
});
