import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import {
	countRequests,
	type GuardTable,
	type WriteTable,
} from "../../bench/guard/count.ts";
import { compareCounts, readLimits } from "../../bench/guard/limits.ts";

const HOW =
	"A change that needs more has to say why; npm run bench -- guard --accept takes the counts as the maxima.";

describe("what one request takes", () => {
	let counted: GuardTable;
	let writes: WriteTable;
	before(async () => {
		({ requests: counted, writes } = await countRequests());
	});

	it("is at most what bench/guard/limits.json allows, in statements, cache commands, cursors, promises and bytes", async () => {
		const { above } = compareCounts(readLimits(), { ...counted, ...writes });
		const dependsOnTime = (line: string) =>
			/ (cacheCommands|promises|bytes), /.test(line);
		assert.deepEqual(
			above.filter((line) => !dependsOnTime(line)),
			[],
			HOW,
		);
		if (above.length === 0) return;
		// When keys are ready for a command, and hot code is compiled, depends on
		// the machine. What a change added is there again.
		const again = await countRequests();
		const still = compareCounts(readLimits(), {
			...again.requests,
			...again.writes,
		}).above;
		const countOf = (line: string) => line.replace(/\d+ (?=\w+, )/, "");
		const before = new Set(above.map(countOf));
		assert.deepEqual(
			still.filter((line) => before.has(countOf(line))),
			[],
			HOW,
		);
	});

	it("is no statement where memcached and Redis have everything", () => {
		for (const [row, { statements }] of Object.entries(counted)) {
			if (row.endsWith("shared")) assert.equal(statements, 0, row);
		}
		assert.ok((counted["q1 shared"]?.cacheCommands ?? 0) > 0);
	});

	it("is less for writes that come together: they share a COMMIT and the commands to Redis", () => {
		for (const write of ["createPin", "likePin"]) {
			const alone = writes[`${write} alone`];
			const together = writes[`${write} together`];
			assert.ok(alone !== undefined && together !== undefined);
			assert.equal(alone.commits, 1, write);
			// All eight, or those that a busy process was late with in another.
			assert.ok(together.commits <= 2 / 8, `${write}: ${together.commits}`);
			assert.ok(together.statements < alone.statements, write);
			assert.ok(together.cacheCommands < alone.cacheCommands / 2, write);
		}
	});

	it("is counted: a request that finds nothing in a cache reads, fills caches and spells cursors", () => {
		const { "q2 cold": cold, "q2 known": hot } = counted;
		assert.ok(cold !== undefined && hot !== undefined);
		assert.ok(cold.statements >= 3, `${cold.statements} statements`);
		assert.ok(cold.cacheCommands >= 3, `${cold.cacheCommands} commands`);
		assert.ok(cold.cursors >= 25, `${cold.cursors} cursors`);
		assert.ok(cold.promises > hot.promises);
		assert.ok(cold.bytes > hot.bytes && hot.bytes > 1_000);
	});
});

describe("the comparison with the maxima", () => {
	const row = {
		statements: 2,
		cacheCommands: 4,
		cursors: 26,
		promises: 100,
		bytes: 100_000,
	};

	it("finds one statement more", () => {
		const { above } = compareCounts(
			{ q: row },
			{ q: { ...row, statements: 3 } },
		);
		assert.deepEqual(above, ["q: 3 statements, expected at most 2"]);
	});

	it("finds a fifth more promises and bytes, and ignores a hundredth", () => {
		const more = { ...row, promises: 120, bytes: 120_000 };
		assert.equal(compareCounts({ q: row }, { q: more }).above.length, 2);
		const same = { ...row, promises: 101, bytes: 101_000 };
		assert.deepEqual(compareCounts({ q: row }, { q: same }), {
			above: [],
			below: [],
		});
	});

	it("reports what became less, and a row without maxima", () => {
		const less = { ...row, statements: 1 };
		assert.deepEqual(compareCounts({ q: row }, { q: less }).below, [
			"q: 1 statements, the maximum is 2",
		]);
		assert.deepEqual(compareCounts({}, { q: row }).above, ["q has no maxima"]);
	});
});
