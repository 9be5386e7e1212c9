import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parse, validate } from "graphql";
import pinsApp from "../../../pins/app.ts";
import { type DemoLine, demoGraph } from "../../../pins/demo/graph.ts";
import { DEMO_USERNAME } from "../../../pins/demo/people.ts";
import { DEMO_QUERY } from "../../../pins/demo/query.ts";
import { readApp } from "../../../src/app/readApp.ts";
import { keyFields } from "../../../src/model/types.ts";

type ObjectLine = Extract<DemoLine, { readonly key: string }>;
type EdgeLine = Extract<DemoLine, { readonly edge: string }>;

const lines = [...demoGraph()];
const objects = lines.filter((line): line is ObjectLine => "key" in line);
const edges = lines.filter((line): line is EdgeLine => "edge" in line);
const byKey = new Map(objects.map((object) => [object.key, object]));
const demoKey = `demo:user:${DEMO_USERNAME}`;
const REFERENCES = ["owner", "board", "origin", "author", "pin"];

function of(type: string): readonly ObjectLine[] {
	return objects.filter((object) => object.type === type);
}

function edgesOf(name: string): readonly EdgeLine[] {
	return edges.filter((line) => line.edge === name);
}

describe("the demo graph", () => {
	test("is the same for the same seed and differs for another", () => {
		assert.deepEqual([...demoGraph()], lines);
		assert.notDeepEqual([...demoGraph(2)], lines);
	});

	test("has some hundreds of users and some thousands of pins", () => {
		assert.equal(of("User").length, 300);
		assert.ok(of("Board").length > 500);
		assert.ok(of("Pin").length > 3_000 && of("Pin").length < 5_000);
		assert.ok(of("Comment").length > 1_000);
		assert.ok(edgesOf("likePin").length > 3_000);
	});

	test("gives every key once, and before the lines that refer to it", () => {
		assert.equal(byKey.size, objects.length);
		const seen = new Set<unknown>();
		for (const line of lines) {
			const named =
				"key" in line
					? REFERENCES.map((field) => line.fields[field])
					: [line.from, line.to];
			for (const key of named) {
				if (key !== undefined) assert.ok(seen.has(key), `${key} is not there`);
			}
			if ("key" in line) seen.add(line.key);
		}
	});

	test("has only fields and edges of the schema", () => {
		const { model } = readApp(pinsApp);
		for (const { type, fields } of objects) {
			const object = model.objects.get(type);
			const known = new Set([
				...(object?.stored ?? []).map(({ field }) => field),
				...(object?.references ?? []).map(({ field }) => field),
				...(object ? keyFields(object) : []).map(({ field }) => field),
			]);
			for (const field of Object.keys(fields)) {
				assert.ok(known.has(field), `${type} has no field ${field}`);
			}
		}
		for (const { edge, from, to } of edges) {
			const mapping = model.mappings.get(edge);
			assert.equal(byKey.get(from)?.type, mapping?.from);
			assert.equal(byKey.get(to)?.type, mapping?.to);
			assert.equal(mapping?.inverse?.kind, "target");
		}
	});

	test("has each edge once, and no user follows themselves", () => {
		const spelled = edges.map((line) => JSON.stringify(line));
		assert.equal(new Set(spelled).size, edges.length);
		assert.deepEqual(
			edgesOf("followUser").filter(({ from, to }) => from === to),
			[],
		);
	});

	test("follows a power law: a few have more than a hundred followers, most have few", () => {
		const followers = Map.groupBy(edgesOf("followUser"), ({ to }) => to);
		const counts = [...byKey.values()]
			.filter(({ type }) => type === "User")
			.map(({ key }) => followers.get(key)?.length ?? 0)
			.toSorted((a, b) => b - a);
		assert.ok((counts[1] ?? 0) > 100, `second most: ${counts[1]}`);
		assert.ok((counts[150] ?? 0) < 15, `median: ${counts[150]}`);
	});

	test("gives the demo user boards, one of them secret, likes and more than a hundred followers", () => {
		const boards = of("Board").filter(({ fields }) => fields.owner === demoKey);
		assert.ok(boards.length >= 5);
		assert.equal(boards.filter(({ fields }) => fields.secret).length, 1);
		const count = (name: string, end: "from" | "to") =>
			edgesOf(name).filter((line) => line[end] === demoKey).length;
		assert.ok(count("followUser", "to") > 100);
		assert.ok(count("followUser", "from") > 20);
		assert.ok(count("likePin", "from") > 40);
	});

	test("has no edge from another user to a pin on a secret board", () => {
		const secret = new Set<unknown>(
			of("Board")
				.filter(({ fields }) => fields.secret)
				.map(({ key }) => key),
		);
		assert.ok(secret.size > 3, `${secret.size} secret boards`);
		const hidden = new Set<unknown>(
			of("Pin")
				.filter(({ fields }) => secret.has(fields.board))
				.map(({ key }) => key),
		);
		assert.ok(hidden.size > 10, `${hidden.size} hidden pins`);
		assert.deepEqual(
			edges.filter(
				({ from, to }) => hidden.has(to) || hidden.has(from) || secret.has(to),
			),
			[],
		);
		assert.deepEqual(
			objects.filter(
				({ fields }) => hidden.has(fields.origin) || hidden.has(fields.pin),
			),
			[],
		);
	});

	test("obeys the limits of the API and uses reserved host names only", () => {
		for (const { fields } of objects) {
			for (const [field, limit] of [
				["name", 100],
				["bio", 500],
				["description", 500],
				["details", 1_000],
				["text", 2_000],
			] as const) {
				const text = fields[field];
				if (text === undefined) continue;
				assert.ok(typeof text === "string");
				assert.ok(text.length <= limit && text === text.trim() && text !== "");
				assert.doesNotMatch(text, /[{}]|undefined/);
			}
		}
		const urls = JSON.stringify(lines).match(/[a-z]+:\/\/[^"]+/g) ?? [];
		assert.ok(urls.length > 5_000);
		assert.deepEqual(
			urls.filter(
				(url) => !/^https:\/\/example\.com\/[a-z0-9_./-]+$/.test(url),
			),
			[],
		);
		for (const { fields } of of("User")) {
			assert.match(String(fields.username), /^[a-z]+_[0-9]{2}$/);
		}
	});

	test("gives pins, boards, users and comments in the order of their dates", () => {
		for (const type of ["User", "Board", "Pin", "Comment"]) {
			const made = of(type).map(({ fields }) => String(fields.createdAt));
			assert.deepEqual(made, made.toSorted());
		}
	});

	test("has a first query that is valid", () => {
		assert.deepEqual(validate(readApp(pinsApp).schema, parse(DEMO_QUERY)), []);
	});
});
