import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

const ROOT = join(import.meta.dirname, "..");

describe("docs/guarantees.md", () => {
	it("names for each promise a test that there is", () => {
		const text = readFileSync(join(ROOT, "docs/guarantees.md"), "utf8");
		const rows = [...text.matchAll(/^\| (?!promise|---)(.*) \| (.*) \|$/gm)];
		assert.ok(rows.length >= 25, String(rows.length));
		for (const [, promise, held] of rows) {
			const [, file, title] =
				/^`(test\/\S+\.test\.ts)` "(.*)"$/.exec(held as string) ?? [];
			assert.ok(file && title, `${promise}: ${held}`);
			assert.ok(
				readFileSync(join(ROOT, file), "utf8").includes(title),
				`${file} has no test with: ${title}`,
			);
		}
	});
});
