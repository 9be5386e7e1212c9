import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
	foldedWords,
	matchesPrefix,
	prefixesOf,
	prefixQuery,
} from "../../src/model/prefixes.ts";
import { problemsOf } from "./smallModel.ts";

const PAGE = "(first: Int, after: String, last: Int, before: String)";

suite("words of names", () => {
	for (const [text, words] of [
		["Ada Lovelace", ["ada", "lovelace"]],
		["ada_made_up", ["ada_made_up"]],
		["Renée D'Angelo-Groß", ["renee", "d", "angelo", "gross"]],
		["GROẞ groß", ["gross", "gross"]],
		["ŁUKASZ Øystein Æsir", ["lukasz", "oystein", "aesir"]],
		["İrem IŞIK ışık", ["irem", "isik", "isik"]],
		["ΟΔΟΣ οδος", ["οδοσ", "οδοσ"]],
		["ﬁne ｗｉｄｅ", ["fine", "wide"]],
		["王小明", ["王小明"]],
		[" 💡 — ", []],
		["x".repeat(401), []],
	] as const) {
		test(`${JSON.stringify(text.slice(0, 30))} are folded`, () => {
			assert.deepEqual(foldedWords(text), words);
		});
	}
});

suite("lists by prefix", () => {
	test("are those of each beginning of the first four words, of ten letters at most, once each", () => {
		assert.deepEqual(
			[...prefixesOf(["Ada", "Adam, of e f g"])],
			["a", "ad", "ada", "adam", "o", "of", "e", "f"],
		);
		assert.deepEqual([...prefixesOf(["𝔸".repeat(12)])].at(-1), "a".repeat(10));
		assert.deepEqual([...prefixesOf(["", "—"])], []);
	});

	test("have all that matches on that of the longest word asked for", () => {
		assert.deepEqual(prefixQuery("@Ad"), {
			prefix: "ad",
			isWhole: true,
			text: "ad",
		});
		assert.deepEqual(prefixQuery(" Ada  LOV"), {
			prefix: "ada",
			isWhole: false,
			text: "ada lov",
		});
		assert.deepEqual(prefixQuery("abcdefghijkl"), {
			prefix: "abcdefghij",
			isWhole: false,
			text: "abcdefghijkl",
		});
		// The longest word has the shortest list, also while it is being typed.
		for (const [asked, prefix] of [
			["ana g", "ana"],
			["ana garcia", "garcia"],
			["j smith", "smith"],
			["o'brien", "brien"],
			["Maria de los Angeles Montgomery", "angeles"],
		] as const) {
			assert.equal(prefixQuery(asked)?.prefix, prefix, asked);
		}
		assert.equal(prefixQuery(" 💡"), null);
		// What matches is on the list that is read for it.
		const names = ["ada_lovelace", "Augusta Ada King-Noël of Ockham"];
		for (const asked of ["ad", "Ada_Love", "augusta", "ada k", "king noel o"]) {
			const query = prefixQuery(asked);
			assert.ok(query && matchesPrefix(names, query), asked);
			assert.ok(prefixesOf(names).has(query.prefix), asked);
		}
		for (const [name, all] of [
			["Sinéad O'Brien", ["obrien", "o'brien", "o’brien", "brien"]],
			["Sinead O’Brien", ["obrien", "O'BRIEN", "brien"]],
			["D´Arcy ’t Hooft", ["darcy", "arcy", "t hooft"]],
			["Soft\u00adHyphen", ["softhyphen", "hyphen", "soft\u00adhyphen"]],
			["Zero\u200bWidth", ["zerowidth", "width", "zero width"]],
			["می\u200cخواهم", ["میخواهم", "می\u200cخواهم"]],
		] as const) {
			for (const asked of all) {
				const query = prefixQuery(asked);
				assert.ok(query && matchesPrefix([name], query), asked);
				assert.ok(prefixesOf([name]).has(query.prefix), asked);
			}
		}
		for (const asked of ["lovelace", "da", "ockham", "ada noel"]) {
			const query = prefixQuery(asked);
			assert.ok(query && !matchesPrefix(names, query), asked);
		}
	});

	test("are declared on an internal field of Query, of texts that are stored", () => {
		const list = `@mapping(name: "prefixUser", table: "prefix_has_users")`;
		const added = (field: string) =>
			problemsOf([["user(id: ID): User", `user(id: ID): User\n${field}`]]);
		assert.deepEqual(
			added(`p${PAGE}: UserConnection ${list} @prefixes(of: ["username"])`),
			[
				"small.graphql:3: Query.p has @prefixes, so it has no page of its own: it must be in internal.graphql, and a field with a resolver reads it",
			],
		);
		assert.deepEqual(
			added(
				`p${PAGE}: UserConnection @mapping(name: "prefixUser", table: "prefix_has_users", order: POSITION) @prefixes(of: ["email", "x"])`,
			),
			[
				"small.graphql:3: Query.p has prefixes of email, so User must have email: String with @stored",
				"small.graphql:3: Query.p has prefixes of x, so User must have x: String with @stored",
				"small.graphql:3: Query.p has @prefixes, so nobody arranges its lists: its order must not be POSITION",
			],
		);
		assert.deepEqual(
			problemsOf([
				[
					"details: String @stored",
					'details: String @stored @prefixes(of: ["details"])',
				],
			]),
			[
				"small.graphql:26: Pin.details has @prefixes, so it must be a field of Query with @mapping",
			],
		);
	});
});
