import assert from "node:assert/strict";
import { it } from "node:test";
import { MappingError } from "../../../src/ops/migrate/mappingError.ts";
import { openSource } from "../../../src/ops/migrate/sources/openSource.ts";
import { readValue } from "../../../src/ops/migrate/values.ts";

it("columns that stand for booleans, numbers and texts are read as those", () => {
	const read = (value: unknown, type: string) =>
		readValue("field", "column", { column: value }, type);
	for (const yes of [1, "1", "t", true, "Y"]) {
		assert.equal(read(yes, "Boolean"), true);
	}
	for (const no of [0, "0", "f", false, "N"]) {
		assert.equal(read(no, "Boolean"), false);
	}
	assert.equal(read("7", "Int"), 7);
	assert.equal(read("1.50", "Float"), 1.5);
	assert.equal(read(7n, "String"), "7");
	assert.equal(read(Buffer.from("é"), "String"), "é");
	assert.throws(() => read(Buffer.from([0xff]), "String"), MappingError);
});

it("a URL of a source with a bare % is refused with a sentence", async () => {
	for (const url of [
		"mysql://a:50%@h/d",
		"postgres://a%@h/d",
		"mysql://a@h/%",
	]) {
		await assert.rejects(openSource(url, "."), {
			code: "BAD_CONFIG",
			message: /a % that encodes nothing/,
		});
	}
});
