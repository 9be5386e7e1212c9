import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { theModel } from "./helpers/model.ts";
import { withoutComments } from "./helpers/withoutComments.ts";

const SRC = join(import.meta.dirname, "../src");

/** Names of the SDL that mean something else in the engine, and what. */
const GENERAL_WORDS: Readonly<Record<string, string>> = {
	account: "the subject of a token of another issuer",
	comments: "a part of apps, which gives its types their names",
	createdAt: "when a job was made",
	created_at: "the same, in the tables of a queue",
	description: "a description in GraphQL or in a command's help",
	details: "the details of a CorkboardError",
	followers: "those who follow what has items of a feed",
	following: "a replica that follows its primary",
	image: "a MIME type",
	link: "link(2), and a hyperlink",
	name: "the name of anything",
	origin: "the origin of a URL, and the item that another one was made from",
	origin_id: "the same, in the tables of pools",
	owner: "the owner in a visibility policy, of a list, of a lease",
	reason: "why something failed or was refused",
	reports: "what something reports",
	secret: "the secret that signs tokens and cursors",
	section: "an element of a page, a part of the lock file",
	text: "text",
	username: "the user of a URL or of a connection",
	title: "the title of a page or of an element",
	user_id: "whose pool it is, in the tables of pools",
	users: "the users in a visibility policy",
};

/** The object types, mappings, lookups, tables, fields and stored keys of the SDL. */
function domainNames(): ReadonlySet<string> {
	const { model } = theModel();
	return new Set([
		...[...model.objects.values()].flatMap((type) => [
			type.name,
			type.table,
			...type.stored.flatMap(({ field, key }) => [field, key]),
			...type.references.flatMap(({ field, key }) => [field, key]),
			...type.lookups.flatMap(({ name, parts }) => [
				name,
				...parts.flatMap(({ field, key }) => [field, key]),
			]),
		]),
		...[...model.mappings.values()].flatMap(({ name, table, field }) => [
			name.replace(/\.inverse$/, ""),
			table,
			field,
		]),
	]);
}

/** What a file's code says of the domain, each as a sentence. */
function mentions(source: string, names: ReadonlySet<string>): string[] {
	const code = withoutComments(source);
	const words = new Set(
		[...code.matchAll(/[A-Za-z_$][\w$]*/g)].map(([word]) => word),
	);
	return [...words]
		.filter((word) => names.has(word))
		.flatMap((word) => {
			if (!Object.hasOwn(GENERAL_WORDS, word)) return [`names ${word}`];
			const read = new RegExp(
				String.raw`\b(?:data|content|next|stored|fields)(?:\?\.|\.|\[")${word}\b`,
			);
			const lookup = new RegExp(String.raw`\bname: "${word}"`);
			return [
				...(read.test(code) ? [`reads the stored field ${word}`] : []),
				...(lookup.test(code) ? [`reads the lookup ${word}`] : []),
			];
		});
}

describe("the engine", () => {
	const names = domainNames();

	it("names no object type, mapping, lookup or stored field of the SDL", () => {
		const found = globSync("**/*.{ts,tsx}", { cwd: SRC })
			.toSorted()
			.flatMap((file) =>
				mentions(readFileSync(join(SRC, file), "utf8"), names).map(
					(mention) => `src/${file} ${mention}`,
				),
			);
		assert.deepEqual(found, []);
	});

	it("is checked by names that are in the SDL, and excused only where it needs to be", () => {
		for (const name of [
			"User",
			"likePin",
			"board_id",
			"slug",
			"user_likes_pins",
		])
			assert.ok(names.has(name), name);
		for (const word of Object.keys(GENERAL_WORDS))
			assert.ok(names.has(word), `${word} is not in the SDL`);
	});

	it("is caught where it names the domain in code, and not where a comment does", () => {
		for (const [source, expected] of [
			['if (type === "User") return;', ["names User"]],
			["const { board_id } = data;", ["names board_id"]],
			["return data.secret === true;", ["reads the stored field secret"]],
			['return data["name"];', ["reads the stored field name"]],
			['const row = { name: "account", key };', ["reads the lookup account"]],
			["const { name, secret } = options;", []],
			["// A User owns a Board.\n/* slug */", []],
		] as const) {
			assert.deepEqual(mentions(source, names), expected, source);
		}
	});
});
