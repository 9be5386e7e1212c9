import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isSlow } from "./runner/testFiles.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** A promise may move to another page, but not disappear. */
const LEAST_PROMISES = 300;

describe("a page of promises", () => {
	const pages = globSync("docs/**/*.md", { cwd: ROOT });
	const promises = pages.flatMap((page) =>
		promisesIn(read(page)).map((row) => ({ page, ...row })),
	);

	for (const page of new Set(promises.map(({ page }) => page))) {
		it(`${page} names an existing test for each promise`, () => {
			const own = promises.filter((row) => row.page === page);
			for (const { promise, heldBy } of own) {
				const [, file, title] = /^`(test\/\S+\.ts)` "(.*)"$/.exec(heldBy) ?? [];
				assert.ok(file && title, `${page}: ${promise}: ${heldBy}`);
				assert.ok(!isSlow(file), `${page}: npm test leaves out ${file}`);
				assert.ok(
					read(file).includes(title),
					`${page}: ${file} has no test with: ${title}`,
				);
			}
		});
	}

	it("is found, and no promise was lost with its page", () => {
		assert.ok(promises.length >= LEAST_PROMISES, String(promises.length));
	});
});

/** Rows of the tables whose last column is "held by". */
function promisesIn(text: string) {
	const tables = text.matchAll(
		/^\|.* held by \|\n\|[-|]+\|\n((?:\|.*\|\n)*)/gm,
	);
	return [...tables].flatMap(([, rows]) =>
		(rows as string)
			.trimEnd()
			.split("\n")
			.map((row) => {
				const cells = row.slice(2, -2).split(" | ");
				return { promise: cells[0], heldBy: cells.at(-1) as string };
			}),
	);
}
