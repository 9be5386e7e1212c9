import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import {
	capacityTables,
	PAGE,
	pageWithTables,
} from "../../bench/capacity/main.ts";

describe("bench/results/capacity.md", () => {
	it("has the tables that bench/capacity/ works out (npm run bench -- capacity --write)", () => {
		const page = readFileSync(PAGE, "utf8");
		assert.equal(page, pageWithTables(page));
	});

	it("lists first what there is least of", () => {
		const tables = capacityTables();
		const rows = tables.slice(tables.indexOf("### What breaks first"));
		const times = [...rows.matchAll(/^\|[^|]*\|[^|]*\|[^|]*\| ([\d.,]+)/gm)]
			.map(([, text = ""]) => Number(text.replaceAll(",", "")))
			.filter((number) => !Number.isNaN(number));
		assert.ok(times.length >= 8);
		assert.deepEqual(
			times,
			times.toSorted((a, b) => a - b),
		);
	});
});
