import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	type ListName,
	readExpectation,
} from "../../tools/compare/expected.ts";

describe("the graph expected from import lines", () => {
	const user = (key: string) => ({
		type: "User",
		key,
		fields: { username: key, name: key },
	});
	const texts = (lines: readonly unknown[]) =>
		lines.map((line) => JSON.stringify(line));

	it("has lists newest first, with a repeated edge at its first line", async () => {
		const follow = (from: string, to: string) => ({
			edge: "followUser",
			from,
			to,
		});
		const read = await readExpectation(
			texts([
				user("a"),
				user("b"),
				user("c"),
				follow("a", "b"),
				follow("a", "c"),
				follow("a", "b"),
				follow("c", "b"),
				{ type: "Interest", key: "i", fields: { slug: "x", name: "X" } },
			]),
		);
		const [a, b] = read.users;
		assert.ok(a && b);
		const keys = (name: ListName, of: typeof a) =>
			read.list(name, of).map(({ key }) => key);
		assert.deepEqual(keys("User.following", a), ["c", "b"]);
		assert.deepEqual(keys("User.followers", b), ["c", "a"]);
		assert.deepEqual(keys("User.followers", a), []);
		assert.deepEqual([...read.uncompared], [["Interest", 1]]);
		assert.equal(read.lines, 8);
	});

	it("rejects a bad line with its number", async () => {
		await assert.rejects(
			readExpectation(
				texts([user("a"), { edge: "followUser", from: "a", to: "b" }]),
			),
			/^Error: line 2: expected the key of a User of an earlier line but got: "b"$/,
		);
		await assert.rejects(readExpectation(["{"]), /^Error: line 1: /);
	});
});
