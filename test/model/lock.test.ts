import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import pinsApp from "../../pins/app.ts";
import { readApp } from "../../src/app/readApp.ts";
import { compareLocks } from "../../src/model/lock/compareLocks.ts";
import {
	compareLock,
	EMPTY_LOCK,
	type Lock,
	parseLock,
	printLock,
} from "../../src/model/lock/lock.ts";
import { COPIES } from "../update.ts";
import { type Change, RESOLVED, readSmall } from "./smallModel.ts";

const PAGE = "(first: Int, after: String, last: Int, before: String)";
const SHIPPED = compareLock(EMPTY_LOCK, readSmall().model).next;

/** The same without `likePin.inverse`, the e-mail address and the details. */
const RETIRED: Lock = {
	types: {
		...SHIPPED.types,
		Pin: withoutKey("Pin", "details"),
		User: withoutKey("User", "email"),
	},
	mappings: {
		...SHIPPED.mappings,
		"likePin.inverse": {
			table: "pin_liked_by_users",
			from: "Pin",
			to: "User",
			order: "NEWEST_FIRST",
			retired: true,
		},
	},
	lookups: {
		...SHIPPED.lookups,
		email: { type: "User", key: "email", fold: "NONE", retired: true },
	},
};

function withoutKey(name: string, key: string) {
	const type = SHIPPED.types[name];
	assert.ok(type);
	return { ...type, keys: { ...type.keys, [key]: "retired" } };
}

function afterChange(
	changes: readonly Change[],
	resolved: ReadonlySet<string> = RESOLVED,
	lock: Lock = SHIPPED,
) {
	const { additions, breaks } = compareLock(
		lock,
		readSmall(changes, resolved).model,
	);
	return { additions, breaks };
}

suite("schema/model.lock.json", () => {
	const comparison = compareLock(
		parseLock(readFileSync(COPIES.lock, "utf8")),
		readApp(pinsApp).model,
	);

	test("accepts the SDL", () => {
		assert.deepEqual(comparison.breaks, []);
	});

	test("has everything that is in the SDL (if not: npm run update)", () => {
		assert.deepEqual(comparison.additions, []);
	});
});

suite("the lock", () => {
	test("refuses a list that comes to be grouped", () => {
		const changes: readonly Change[] = [
			[
				"mood: Mood @stored",
				'mood: Mood @stored\n\torigin: Pin @reference(key: "origin_id")',
			],
			[", order: POSITION)", ', groupBy: "origin")'],
		];
		const { breaks } = afterChange(changes);
		assert.ok(
			breaks.includes(
				"the groupBy of the mapping ownPin must stay none, got origin_id",
			),
			breaks.join(),
		);
		const grouped = compareLock(EMPTY_LOCK, readSmall(changes).model).next;
		assert.deepEqual(afterChange(changes, RESOLVED, grouped), {
			additions: [],
			breaks: [],
		});
		assert.ok(
			compareLock(
				grouped,
				readSmall(changes.slice(0, 1)).model,
			).breaks.includes(
				"the groupBy of the mapping ownPin must stay origin_id, got none",
			),
		);
	});

	test("refuses a list that comes to be ordered by a field, or by another one", () => {
		const ordered = (orderBy: string): readonly Change[] => [
			["\tat: DateTime!\n}\ntype UserConnection", "}\ntype UserConnection"],
			[", order: POSITION)", `, order: LOWEST_FIRST, orderBy: "${orderBy}")`],
		];
		assert.deepEqual(afterChange(ordered("width")).breaks, [
			"the order of the mapping ownPin must stay POSITION, got LOWEST_FIRST",
			"the orderBy of the mapping ownPin must stay none, got width",
		]);
		const shipped = compareLock(
			EMPTY_LOCK,
			readSmall(ordered("width")).model,
		).next;
		assert.deepEqual(afterChange(ordered("width"), RESOLVED, shipped), {
			additions: [],
			breaks: [],
		});
		assert.deepEqual(
			afterChange(ordered("createdAt"), RESOLVED, shipped).breaks,
			["the orderBy of the mapping ownPin must stay width, got created_at"],
		);
	});

	test("takes a list in order of time that comes to be arranged, and no other change of order", () => {
		const shippedWith = (
			name: "likePin" | "ownPin",
			order: "NEWEST_FIRST" | "OLDEST_FIRST" | "POSITION",
		) => ({
			...SHIPPED,
			mappings: {
				...SHIPPED.mappings,
				[name]: {
					...(SHIPPED.mappings[name] as Lock["mappings"][string]),
					order,
				},
			},
		});
		const model = readSmall().model;
		const arranged = compareLock(shippedWith("ownPin", "NEWEST_FIRST"), model);
		assert.deepEqual(arranged.breaks, []);
		assert.deepEqual(arranged.additions, [
			"the order POSITION of the mapping ownPin",
		]);
		assert.equal(arranged.next.mappings.ownPin?.order, "POSITION");
		for (const [name, order] of [
			["ownPin", "OLDEST_FIRST"],
			["likePin", "POSITION"],
			["likePin", "OLDEST_FIRST"],
		] as const) {
			assert.match(
				compareLock(shippedWith(name, order), model).breaks.join(),
				/^the order of the mapping \w+ must stay \w+, got \w+$/,
			);
		}
	});

	test("contains every type, key, mapping and lookup of a model", () => {
		assert.deepEqual(SHIPPED, {
			types: {
				User: {
					number: 3,
					table: "users",
					keys: { username: "String", email: "String" },
				},
				Pin: {
					number: 1,
					table: "pins",
					keys: {
						details: "String",
						width: "Int",
						created_at: "DateTime",
						mood: "Mood",
						image: "Image",
						"image.url": "String",
						"image.alt": "String",
						user_id: "id of User",
					},
				},
			},
			mappings: {
				listPin: {
					table: "root_has_pins",
					from: null,
					to: "Pin",
					order: "NEWEST_FIRST",
				},
				likePin: {
					table: "user_likes_pins",
					from: "User",
					to: "Pin",
					order: "NEWEST_FIRST",
				},
				ownPin: {
					table: "user_has_pins",
					from: "User",
					to: "Pin",
					order: "POSITION",
				},
				"likePin.inverse": {
					table: "pin_liked_by_users",
					from: "Pin",
					to: "User",
					order: "NEWEST_FIRST",
				},
			},
			lookups: {
				username: { type: "User", key: "username", fold: "CASE" },
				email: { type: "User", key: "email", fold: "NONE" },
			},
		});
	});

	test("accepts the model that it was made from", () => {
		assert.deepEqual(afterChange([]), { additions: [], breaks: [] });
	});

	test("is unchanged by printing and parsing", () => {
		assert.deepEqual(parseLock(printLock(SHIPPED)), SHIPPED);
	});

	test("adds what is new", () => {
		const { model } = readSmall(
			[
				[
					"\tmood: Mood @stored",
					"\tmood: Mood @stored\n\tlink: String @stored",
				],
				[
					"\tisViewer: Boolean",
					`\tisViewer: Boolean\n\tarchive${PAGE}: PinConnection @mapping(name: "archivePin", table: "user_archived_pins")\n\tphone: String @lookup(name: "phone")`,
				],
			],
			new Set([...RESOLVED, "User.phone"]),
		);
		const { additions, breaks, next } = compareLock(SHIPPED, model);
		assert.deepEqual(breaks, []);
		assert.deepEqual(additions, [
			"the mapping archivePin",
			"the lookup phone",
			"the key phone of User",
			"the key link of Pin",
		]);
		assert.equal(next.types.Pin?.keys.link, "String");
		assert.equal(next.types.User?.keys.phone, "String");
		assert.equal(next.mappings.archivePin?.table, "user_archived_pins");
		assert.deepEqual(next.lookups.phone, {
			type: "User",
			key: "phone",
			fold: "NONE",
		});
		assert.deepEqual(compareLock(next, model).additions, []);
	});

	test("refuses a changed type number and a reused one", () => {
		assert.deepEqual(afterChange([["type: 3", "type: 7"]]), {
			additions: [],
			breaks: ["the number of the type User must stay 3, got 7"],
		});
		assert.deepEqual(
			afterChange([
				["type: 3", "type: 7"],
				["type: 1", "type: 3"],
			]).breaks,
			[
				"the number of the type User must stay 3, got 7",
				"the number of the type Pin must stay 1, got 3",
				"the number 3 of Pin is taken by User",
			],
		);
	});

	test("refuses a changed table of a type or a mapping", () => {
		assert.deepEqual(
			afterChange([
				['"users"', '"people"'],
				['"user_has_pins"', '"user_pins"'],
			]).breaks,
			[
				"the table of the type User must stay users, got people",
				"the table of the mapping ownPin must stay user_has_pins, got user_pins",
			],
		);
	});

	test("refuses a changed order of a mapping", () => {
		assert.deepEqual(
			afterChange([["order: POSITION", "order: NEWEST_FIRST"]]).breaks,
			["the order of the mapping ownPin must stay POSITION, got NEWEST_FIRST"],
		);
	});

	test("refuses a mapping name that is reused for other edges", () => {
		assert.deepEqual(
			afterChange([
				[`allPins${PAGE}: PinConnection`, `allPins${PAGE}: UserConnection`],
			]).breaks,
			["the to of the mapping listPin must stay Pin, got User"],
		);
	});

	test("refuses a changed fold or type of a lookup", () => {
		assert.deepEqual(afterChange([["fold: CASE", "fold: NONE"]]).breaks, [
			"the fold of the lookup username must stay CASE, got NONE",
		]);
	});

	test("refuses other parts of a key of several, in another order or more", () => {
		const withKey = (of: string): Change => [
			'@object(type: 1, table: "pins") {',
			`@object(type: 1, table: "pins") @lookup(name: "place", of: [${of}]) {`,
		];
		const shipped = withKey('"owner", "width"');
		const { next } = compareLock(EMPTY_LOCK, readSmall([shipped]).model);
		assert.deepEqual(next.lookups.place, {
			type: "Pin",
			key: "user_id width",
			fold: "NONE",
		});
		assert.deepEqual(afterChange([shipped]).additions, ["the lookup place"]);
		assert.deepEqual(afterChange([shipped], RESOLVED, next).breaks, []);
		for (const [of, got] of [
			['"width", "owner"', "width user_id"],
			['"owner", "width", "createdAt"', "user_id width created_at"],
		] as const) {
			assert.deepEqual(afterChange([withKey(of)], RESOLVED, next).breaks, [
				`the key of the lookup place must stay user_id width, got ${got}`,
			]);
		}
	});

	test("refuses a renamed key, because stored rows have the old one", () => {
		assert.deepEqual(afterChange([["created_at", "made_at"]]), {
			additions: ["the key made_at of Pin"],
			breaks: [
				'the key created_at of Pin was removed, which loses what rows store there: if that is intended, make it "retired" in the lock; if its field was renamed, name the key with @stored(key:)',
			],
		});
	});

	test("refuses a renamed part of a stored value", () => {
		assert.deepEqual(afterChange([["\talt: String", "\ttext: String"]]), {
			additions: ["the key image.text of Pin"],
			breaks: [
				'the key image.alt of Pin was removed, which loses what rows store there: if that is intended, make it "retired" in the lock; if its field was renamed, name the key with @stored(key:)',
			],
		});
	});

	test("accepts a renamed field that keeps its key", () => {
		assert.deepEqual(
			afterChange([
				["details: String @stored", 'text: String @stored(key: "details")'],
			]),
			{ additions: [], breaks: [] },
		);
	});

	test("refuses a changed type of a key, but accepts a changed nullability", () => {
		assert.deepEqual(
			afterChange([
				["width: Int! @stored(default: 1)", "width: String @stored"],
			]).breaks,
			["the key width of Pin must stay Int, got String"],
		);
		assert.deepEqual(
			afterChange([["width: Int! @stored(default: 1)", "width: Int @stored"]]),
			{ additions: [], breaks: [] },
		);
	});

	test("refuses a removed name until the lock marks it as retired", () => {
		const changes: Change[] = [
			[', inverse: "likedBy"', ""],
			[', inverse: "likes"', ""],
			[
				`\tlikedBy${PAGE}: UserConnection @mapping(name: "likePin.inverse", table: "pin_liked_by_users")\n`,
				"",
			],
			['\temail: String @lookup(name: "email")\n', ""],
			["\tdetails: String @stored\n", ""],
		];
		const resolved = new Set(
			[...RESOLVED].filter((path) => path !== "User.email"),
		);
		assert.deepEqual(afterChange(changes, resolved).breaks, [
			'the mapping likePin.inverse was removed: if that is intended, give it "retired": true in the lock',
			'the lookup email was removed: if that is intended, give it "retired": true in the lock',
			'the key email of User was removed, which loses what rows store there: if that is intended, make it "retired" in the lock; if its field was renamed, name the key with @stored(key:)',
			'the key details of Pin was removed, which loses what rows store there: if that is intended, make it "retired" in the lock; if its field was renamed, name the key with @stored(key:)',
		]);
		assert.deepEqual(afterChange(changes, resolved, RETIRED), {
			additions: [],
			breaks: [],
		});
	});

	test("keeps a retired name and refuses its reuse", () => {
		const { next } = compareLock(RETIRED, readSmall().model);
		assert.equal(next.types.Pin?.keys.details, "retired");
		assert.equal(next.mappings["likePin.inverse"]?.retired, true);
		assert.deepEqual(afterChange([], RESOLVED, RETIRED).breaks, [
			"the mapping likePin.inverse is retired and cannot be used again",
			"the lookup email is retired and cannot be used again",
			"the key email of User is retired and cannot be used again",
			"the key details of Pin is retired and cannot be used again",
		]);
	});

	test("refuses the number and the tables of a retired type", () => {
		const lock: Lock = {
			...SHIPPED,
			types: {
				...SHIPPED.types,
				Story: { number: 9, table: "stories", retired: true, keys: {} },
			},
		};
		assert.deepEqual(afterChange([], RESOLVED, lock).breaks, []);
		assert.deepEqual(
			afterChange(
				[
					[
						"type Image {",
						'type Tale implements Node @object(type: 9, table: "stories") { id: ID! }\ntype Image {',
					],
				],
				RESOLVED,
				lock,
			),
			{
				additions: ["the type Tale"],
				breaks: [
					"the number 9 of Tale is taken by Story",
					"the table stories of Tale is taken by Story",
				],
			},
		);
	});

	test("of a program says beside that of a fleet which is newer, and what contradicts", () => {
		const nothing = { additions: [], unknown: [], contradictions: [] };
		const { union, ...first } = compareLocks(SHIPPED, null);
		assert.ok(first.additions.includes("the type Pin"));
		assert.deepEqual({ ...first, additions: [] }, nothing);
		assert.deepEqual(union, SHIPPED);
		assert.deepEqual(compareLocks(SHIPPED, SHIPPED), {
			...nothing,
			union: SHIPPED,
		});
		const next: Lock = {
			...SHIPPED,
			types: { ...SHIPPED.types, Pin: withoutKey("Pin", "details") },
		};
		const retired = "that the key details of the type Pin is retired";
		for (const [own, fleet, newer] of [
			[next, SHIPPED, { additions: [retired] }],
			[SHIPPED, next, { unknown: [retired] }],
			[SHIPPED, EMPTY_LOCK, { additions: first.additions }],
			[EMPTY_LOCK, SHIPPED, { unknown: first.additions }],
		] as const) {
			const { union: both, ...difference } = compareLocks(own, fleet);
			assert.deepEqual(difference, { ...nothing, ...newer });
			assert.equal(
				printLock(both),
				printLock(own === next || fleet === next ? next : SHIPPED),
			);
		}
		const { Pin, ...types } = SHIPPED.types;
		assert.ok(Pin);
		const moved = {
			...SHIPPED,
			types: { ...types, Pin: { ...Pin, number: 77 } },
		};
		assert.deepEqual(compareLocks(moved, SHIPPED).contradictions, [
			`the number of the type Pin is ${Pin.number} in the fleet, and 77 here`,
		]);
		const taken = { ...SHIPPED, types: { ...types, Tale: Pin } };
		assert.deepEqual(compareLocks(taken, SHIPPED).contradictions, [
			`the number ${Pin.number} is of Pin in the fleet, and of Tale here`,
			`the table ${Pin.table} is of Pin in the fleet, and of Tale here`,
		]);
	});

	test("parseLock refuses text that is not a lock file", () => {
		assert.throws(() => parseLock("{"), {
			code: "BAD_MODEL",
			message: /^The lock file is not JSON: Expected property name/,
		});
		for (const text of [
			"null",
			'{"types": {}}',
			'{"types": [], "mappings": {}, "lookups": {}}',
			'{"types": {"Pin": {"number": 1}}, "mappings": {}, "lookups": {}}',
			'{"types": {}, "mappings": {"likePin": 1}, "lookups": {}}',
		]) {
			assert.throws(() => parseLock(text), {
				code: "BAD_MODEL",
				message: /^The lock file must have types/,
			});
		}
	});
});
