import assert from "node:assert/strict";
import { test } from "node:test";
import { describeSql } from "../../src/storage/sqlText.ts";

test("a statement is shown on one line, with long lists of placeholders and equal parts counted", () => {
	const part = (n: number) =>
		`(SELECT ${n} AS part,\n\t\tto_id FROM \`db0000${n}\`.pins WHERE from_id IN (?, ?, ?, ?, ?))`;
	assert.equal(
		describeSql([1, 2, 3].map(part).join("\nUNION ALL\n"), []).text,
		"(SELECT 1 AS part, to_id FROM `db00001`.pins WHERE from_id IN (? × 5)) /* × 3 */",
	);
	assert.equal(
		describeSql(`INSERT INTO t VALUES ${"(?, ?), ".repeat(9)}(?, ?)`, []).text,
		"INSERT INTO t VALUES (?, ?) × 10",
	);
	assert.equal(
		describeSql("SELECT a FROM t WHERE b = ? UNION ALL SELECT c FROM t", [])
			.text,
		"SELECT a FROM t WHERE b = ? UNION ALL SELECT c FROM t",
	);
});

test("numbers that are spelled out are shown as placeholders, but not those of names and of parts", () => {
	assert.equal(
		describeSql(
			"SELECT 1 AS part, data FROM `db00012`.pins WHERE local_id IN (1, 22, 3, 4) AND to_id = 206158430209 LIMIT 26",
			[],
		).text,
		"SELECT 1 AS part, data FROM `db00012`.pins WHERE local_id IN (? × 4) AND to_id = ? LIMIT ?",
	);
	assert.equal(
		describeSql("VALUES ROW(0, 206158430209), ROW(1, 206158430210)", []).text,
		"VALUES ROW(?, ?), ROW(?, ?)",
	);
});

test("of parameters only the kinds are shown, neighbors of one kind together", () => {
	const { parameters } = describeSql("?", [
		7n,
		"241294492511762325",
		12,
		"a secret",
		null,
		'{"name":"hidden"}',
		"[1,2,3]",
		"[not JSON",
		Buffer.from("x"),
	]);
	assert.deepEqual(parameters, [
		"id × 2",
		"number",
		"text",
		"null",
		"JSON object",
		"JSON array of 3",
		"JSON array of ?",
		"bytes",
	]);
});

test("a long statement and many kinds of parameters are cut off", () => {
	const { text, parameters } = describeSql(
		"x".repeat(5_000),
		Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? "a" : 1)),
	);
	assert.equal(text.length, 2_002);
	assert.equal(parameters.at(-1), "… 40 more");
	assert.equal(parameters.length, 21);
});
