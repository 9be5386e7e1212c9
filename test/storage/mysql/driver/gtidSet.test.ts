import assert from "node:assert/strict";
import { test } from "node:test";
import { GtidSet } from "../../../../src/storage/mysql/driver/gtidSet.ts";

const A = "aaaaaaaa-0000-0000-0000-000000000001";
const B = "bbbbbbbb-0000-0000-0000-000000000002";

test("a set of GTIDs is printed as it was read, with tags, case and line breaks aside", () => {
	const printed = `${A}:1-5:7,${B}:3`;
	assert.equal(
		new GtidSet(`${A.toUpperCase()}:1-5:7,\n${B}:3`).toString(),
		printed,
	);
	assert.equal(
		new GtidSet(`${A}:1-2:tag_a:4-6`).toString(),
		`${A}:1-2,${A}:tag_a:4-6`,
	);
	assert.equal(new GtidSet("").toString(), "");
	assert.equal(new GtidSet(printed).size, 7);
});

test("a set of GTIDs joins what touches, in whatever order it is added", () => {
	const set = new GtidSet();
	for (const number of [5, 1, 3, 9, 2, 4, 2]) set.add(`${A}:${number}`);
	assert.equal(set.toString(), `${A}:1-5:9`);
	assert.equal(new GtidSet(`${A}:4-8:1-5:20`).toString(), `${A}:1-8:20`);
	set.add(`${A}:tag:1`);
	assert.ok(set.has(`${A}:tag:1`));
	assert.ok(!set.has(`${A}:tag:2`));
});

test("a set of GTIDs contains another if it has all of it", () => {
	const set = new GtidSet(`${A}:1-5:8-9,${B}:1`);
	const contains = (text: string) => set.contains(new GtidSet(text));
	assert.ok(contains(""));
	assert.ok(contains(`${A}:2-4:8`));
	assert.ok(!contains(`${A}:5-8`));
	assert.ok(!contains(`${A}:tag:1`));
	assert.ok(!new GtidSet().contains(set));
});

test("a transaction follows the one that its server gave the number before", () => {
	const set = new GtidSet(`${A}:1-5:8`);
	assert.ok(set.hasPredecessorOf(`${A}:6`));
	assert.ok(set.hasPredecessorOf(`${A}:9`));
	assert.ok(!set.hasPredecessorOf(`${A}:8`));
	assert.ok(set.hasPredecessorOf(`${B}:1`));
	assert.ok(!set.hasPredecessorOf(`${B}:2`));
	assert.throws(() => set.add(`${A}:9223372036854775806`), RangeError);
});

test("two sets of GTIDs share what is in both", () => {
	const shared = (one: string, other: string) =>
		new GtidSet(one).intersection(new GtidSet(other)).toString();
	assert.equal(
		shared(`${A}:1-5:8-12,${B}:3`, `${A}:4-9:11,${B}:4`),
		`${A}:4-5:8-9:11`,
	);
	assert.equal(shared(`${A}:1-5`, ""), "");
	assert.equal(shared(`${A}:tag:1-5,${A}:7`, `${A}:1-7`), `${A}:7`);
	assert.equal(
		new GtidSet(`${A}:1-5,${B}:3`)
			.ofSourcesIn(new GtidSet(`${B}:9`))
			.toString(),
		`${B}:3`,
	);
});
