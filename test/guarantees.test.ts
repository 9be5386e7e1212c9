import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

describe("a page of promises", () => {
	for (const [page, atLeast] of [
		["docs/guarantees.md", 25],
		["docs/consistency.md", 30],
	] as const) {
		it(`${page} names an existing test for each promise`, () => {
			const promises = promisesIn(read(page));
			assert.ok(promises.length >= atLeast, String(promises.length));
			for (const { promise, heldBy } of promises) {
				const [, file, title] = /^`(test\/\S+\.ts)` "(.*)"$/.exec(heldBy) ?? [];
				assert.ok(file && title, `${page}: ${promise}: ${heldBy}`);
				assert.ok(
					read(file).includes(title),
					`${page}: ${file} has no test with: ${title}`,
				);
			}
		});
	}
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
