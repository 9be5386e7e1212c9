import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reportMissingTables } from "../../src/server/reportMissingTables.ts";
import { until } from "../helpers/until.ts";

/** The log lines for what a storage says about its tables at each call. */
function reported(answers: readonly (readonly string[] | Error)[]) {
	const lines: unknown[] = [];
	let calls = 0;
	const check = reportMissingTables(
		{
			async missingTables() {
				const answer = answers[calls++];
				if (answer === undefined || answer instanceof Error) throw answer;
				return answer;
			},
		},
		{ error: (...line: unknown[]) => void lines.push(line) },
		1,
	);
	return { lines, check, calls: () => calls };
}

describe("the check of tables at the start", () => {
	it("says nothing where nothing is missing, and asks once", async () => {
		const { lines, check, calls } = reported([[]]);
		using _ = check;
		await new Promise((resolve) => setTimeout(resolve, 30));
		assert.equal(calls(), 1);
		assert.deepEqual(lines, []);
	});

	it("is made again until all hosts answered, and then counts what is missing and names the first tables", async () => {
		const down = new Error("a host does not answer");
		const tables = Array.from({ length: 25 }, (_, n) => `db0000${n}.pins`);
		const { lines, check, calls } = reported([down, down, tables]);
		using _ = check;
		await until("the report", () => lines.length > 0);
		assert.equal(calls(), 3);
		assert.deepEqual(lines, [
			[
				{
					missing: 25,
					tables: tables.slice(0, 20),
					create: "npm run -s corkboard -- init",
				},
				"tables missing",
			],
		]);
	});

	it("ends with the server", async () => {
		const { lines, check, calls } = reported([]);
		await until("a second try", () => calls() >= 2);
		check[Symbol.dispose]();
		const before = calls();
		await new Promise((resolve) => setTimeout(resolve, 30));
		assert.ok(calls() <= before + 1);
		assert.deepEqual(lines, []);
	});
});
