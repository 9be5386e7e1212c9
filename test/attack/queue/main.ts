/** `npm run attack -- queue`: workers, hosts and Redis are killed and stopped; every acknowledged job has to run. */
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { countOf } from "../../../tools/namedProgram.ts";
import { attackQueue } from "./attackQueue.ts";

export const usage = `Usage: npm run attack -- queue [options]

Runs workers and producers of jobs on two MySQL servers and a Redis, kills and stops all of them at random,
and compares what ran with what was acknowledged. Hours last seconds, so that rotation runs too.

  --seed N       the first random seed (default 1); the same seed gives the same schedule of faults
  --seeds N      so many runs, with seeds that follow each other (default 1)
  --seconds S    how long each run is attacked (default 60)
  --keep FOLDER  what a failed run leaves behind (default: a new temporary folder)
  --json         print each report as JSON
  --help         print this

It exits with 0 if no promise was broken, else with 1. It needs Linux.`;

export async function run(args: readonly string[]): Promise<number> {
	const { values } = parseArgs({
		args: [...args],
		options: {
			seed: { type: "string" },
			seeds: { type: "string" },
			seconds: { type: "string" },
			keep: { type: "string" },
			json: { type: "boolean", default: false },
		},
	});
	const first = countOf("seed", values.seed, 1, 0);
	const seconds = countOf("seconds", values.seconds, 60, 5);
	const seeds = countOf("seeds", values.seeds, 1, 1);
	let broken = 0;
	for (let seed = first; seed < first + seeds; seed++) {
		// Only a name: a failed run makes the folder, so that a clean run leaves nothing behind.
		const keep =
			values.keep ??
			join(tmpdir(), `corkboard-queue-attack-seed-${seed}-${randomUUID()}`);
		console.error(`seed ${seed}, ${seconds} s`);
		const report = await attackQueue({ seed, seconds, keep }, console.error);
		console.log(JSON.stringify(report, null, values.json ? "" : "\t"));
		if (report.violations.length > 0) console.error(`evidence is in ${keep}`);
		broken += report.violations.length;
	}
	return broken === 0 ? 0 : 1;
}
