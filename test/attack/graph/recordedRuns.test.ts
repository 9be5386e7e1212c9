import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readProgramOptions } from "../../../tools/programOptions.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { SHARED } from "../world.ts";
import { runsOf, world } from "./graphWorld.ts";
import { readRecordedRun, recordedRuns } from "./recordedRuns.ts";
import { describeFault } from "./schedule.ts";

const readOptions = (args: readonly string[]) =>
	readProgramOptions({ ...world.options, ...SHARED }, args);

const RUN = {
	seed: 1,
	minutes: 0.1,
	servers: 2,
	clients: 3,
	version: "this one",
	found: "nothing",
	faults: [
		{
			kind: "links",
			at: 1_000,
			ms: 50,
			services: ["redis"],
			sides: [1],
			disturbance: { kind: "hold", direction: "to" },
		},
		{ kind: "freeze", at: 2_000, ms: 500, server: 0, isBusy: true },
		{ kind: "restart", at: 2_000, ms: 0, service: "memcached" },
		{
			kind: "move",
			at: 2_500,
			ms: 0,
			list: "shards",
			first: 1,
			count: 2,
			end: "reverse",
			kills: [{ afterStep: "fenced", ms: 20 }],
		},
		{ kind: "verify", at: 3_000, ms: 0 },
	],
};

function reading(run: unknown) {
	return () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "run.json");
		writeFileSync(file, JSON.stringify(run));
		return readRecordedRun(file);
	};
}

const withFault = (at: number, change: object) => ({
	...RUN,
	faults: RUN.faults.map((fault, n) =>
		n === at ? { ...fault, ...change } : fault,
	),
});

describe("a recorded run", () => {
	it("is carried out as it was recorded, with its faults, seed and fleet, whatever a seed gives today", () => {
		const known = readOptions(["--known", "--violations", "2"]);
		const runs = runsOf(known);
		assert.ok(runs.length >= 3);
		assert.deepEqual(
			runs.map(({ seed, minutes, servers, clients, faults }) => ({
				seed,
				minutes,
				servers,
				clients,
				faults,
			})),
			[...recordedRuns().values()].map(
				({ version: _, found: __, ...run }) => run,
			),
		);
		for (const { faults = [], violations } of runs) {
			assert.ok(faults.length > 5);
			assert.equal(violations, 2);
			for (const fault of faults) assert.ok(describeFault(fault));
		}
		const [own] = runsOf(readOptions(["--seed", "7"]));
		assert.deepEqual([own?.seed, own?.faults], [7, undefined]);
	});

	it("is a file that a failed run has written, and is refused with a sentence if the driver would do something else", () => {
		assert.deepEqual(reading(RUN)(), RUN);
		for (const [run, message] of [
			[{ ...RUN, seed: "1" }, /expected numbers seed/],
			[{ ...RUN, found: undefined }, /expected texts version and found/],
			[{ ...RUN, faults: {} }, /expected a list faults/],
			[withFault(0, { sides: [2] }), /faults\[0\]: expected services, sides/],
			[withFault(0, { services: ["mysql2"] }), /faults\[0\]: expected serv/],
			[withFault(0, { disturbance: { kind: "x" } }), /faults\[0\]: expected/],
			[withFault(1, { server: 2 }), /faults\[1\]: expected a server below 2/],
			[withFault(1, { at: 500 }), /faults\[1\]: expected faults in the order/],
			[withFault(2, { service: "disk" }), /faults\[2\]: expected a service/],
			[withFault(3, { list: "feeds" }), /faults\[3\]: expected a list, an end/],
			[withFault(4, { ms: undefined }), /faults\[4\]: expected numbers/],
			[withFault(4, { kind: "rain" }), /faults\[4\]: unknown kind "rain"/],
		] as const) {
			assert.throws(reading(run), { message });
		}
		assert.throws(() => runsOf(readOptions(["--known", "--schedule", "x"])), {
			message: "--known and --schedule exclude each other.",
		});
	});
});
