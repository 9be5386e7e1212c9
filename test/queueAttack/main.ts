/** `npm run attack:queue`: workers, hosts and Redis are killed and stopped; every acknowledged job has to run. */
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { attackQueue } from "./attackQueue.ts";

const USAGE = `Usage: npm run attack:queue -- [options]

Runs workers and producers of jobs on two MySQL servers and a Redis, kills and stops all of them at random,
and compares what ran with what was acknowledged. Hours last seconds, so that rotation runs too.

  --seed N       the first random seed (default 1); the same seed gives the same schedule of faults
  --seeds N      so many runs, with seeds that follow each other (default 1)
  --seconds S    how long each run is attacked (default 60)
  --keep FOLDER  what a failed run leaves behind (default: a new temporary folder)
  --json         print each report as JSON
  --help         print this

It exits with 0 if no promise was broken, else with 1. It needs Linux.`;

const print = (line: string) => void process.stdout.write(`${line}\n`);
const warn = (line: string) => void process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
	const { values } = parseArgs({
		options: {
			seed: { type: "string", default: "1" },
			seeds: { type: "string", default: "1" },
			seconds: { type: "string", default: "60" },
			keep: { type: "string" },
			json: { type: "boolean", default: false },
			help: { type: "boolean", default: false },
		},
	});
	if (values.help) {
		print(USAGE);
		return 0;
	}
	const whole = (name: "seed" | "seeds" | "seconds", least: number) => {
		const value = Number(values[name]);
		if (Number.isInteger(value) && value >= least) return value;
		throw new Error(
			`--${name} must be a whole number of at least ${least}, got ${values[name]}.`,
		);
	};
	const first = whole("seed", 0);
	const seconds = whole("seconds", 5);
	const seeds = whole("seeds", 1);
	let broken = 0;
	for (let seed = first; seed < first + seeds; seed++) {
		// Only a name: a failed run makes the folder, so that a clean run leaves nothing behind.
		const keep =
			values.keep ??
			join(tmpdir(), `corkboard-queue-attack-seed-${seed}-${randomUUID()}`);
		warn(`seed ${seed}, ${seconds} s`);
		const report = await attackQueue({ seed, seconds, keep }, warn);
		if (values.json) print(JSON.stringify(report));
		else print(JSON.stringify(report, null, "\t"));
		if (report.violations.length > 0) warn(`evidence is in ${keep}`);
		broken += report.violations.length;
	}
	return broken === 0 ? 0 : 1;
}

try {
	process.exitCode = await main();
} catch (error) {
	warn(
		`attack:queue: ${error instanceof Error ? (error.stack ?? error) : error}`,
	);
	process.exitCode = 1;
}
