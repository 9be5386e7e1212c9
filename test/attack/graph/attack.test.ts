import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readProgramOptions } from "../../../tools/programOptions.ts";
import { SHARED } from "../world.ts";
import { world } from "./graphWorld.ts";
import { scheduleFaults } from "./schedule.ts";

const readOptions = (args: readonly string[]) =>
	readProgramOptions({ ...world.options, ...SHARED }, args);

describe("an attack", () => {
	it("has the same schedule of faults for the same seed, and another for another", () => {
		const schedule = (seed: number) => scheduleFaults(seed, 300_000, 3);
		assert.deepEqual(schedule(1), schedule(1));
		assert.notDeepEqual(schedule(1), schedule(2));
		const kinds = new Set(
			[1, 2, 3, 4, 5].flatMap(schedule).map(({ kind }) => kind),
		);
		assert.deepEqual([...kinds].toSorted(), [
			"caches",
			"freeze",
			"import",
			"kill",
			"links",
			"move",
			"pause",
			"restart",
			"topology",
			"verify",
		]);
	});

	it("is refused with a sentence for options that are not valid", () => {
		assert.equal(readOptions(["--seed", "7"]).seed, 7);
		assert.throws(() => readOptions(["--minutes", "soon"]), {
			message: "--minutes must be a number of at least 0.1, got soon.",
		});
		assert.throws(() => readOptions(["--servers", "1"]), {
			message: "--servers must be a number of at least 2, got 1.",
		});
	});
});
