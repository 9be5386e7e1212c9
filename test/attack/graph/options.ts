import { parseArgs } from "node:util";
import { countOf, numberOf, UsageError } from "../../../tools/namedProgram.ts";

export interface Options {
	readonly seed: number;
	readonly minutes: number;
	readonly servers: number;
	readonly clients: number;
	/** Where the logs and the schedule of a failed run go; a new temporary folder if null. */
	readonly keep: string | null;
	readonly isJson: boolean;
	/** Whether to repeat all recorded runs instead. */
	readonly isKnown: boolean;
	/** A file with a recorded run to repeat instead; null for none. */
	readonly schedule: string | null;
	/** How many violations end the run. */
	readonly violations: number;
}

export const USAGE = `Usage: npm run attack -- [graph] [options]

Attacks a fleet of real servers with faults and random clients, and compares all that it shows with a model.

  --seed N         the random seed; the same seed gives the same schedule of faults (default: random)
  --minutes M      how long the attack lasts (default 1)
  --servers N      server processes (default 3)
  --clients N      clients (default 14)
  --violations N   end after so many violations (default 1)
  --keep FOLDER    copy the servers' logs and the schedule of a failed run there (default: a new temporary folder)
  --schedule FILE  repeat the faults of a failed run instead, from the run.json that it kept
  --known          repeat the faults of all runs in test/attack/graph/recorded/ instead
  --json           print the report as JSON
  --help           print this

It exits with 0 if no promise was broken, else with 1. It needs Linux.`;

/** A UsageError for a command line that is not valid. */
export function readOptions(args: readonly string[]): Options {
	const { values } = parseArgs({
		args: [...args],
		options: {
			seed: { type: "string" },
			minutes: { type: "string" },
			servers: { type: "string" },
			clients: { type: "string" },
			violations: { type: "string" },
			keep: { type: "string" },
			schedule: { type: "string" },
			known: { type: "boolean", default: false },
			json: { type: "boolean", default: false },
		},
	});
	if (values.known && values.schedule !== undefined) {
		throw new UsageError("--known and --schedule exclude each other.");
	}
	const random = Math.floor(Math.random() * 1_000_000);
	return {
		seed: countOf("seed", values.seed, random, 0),
		minutes: numberOf("minutes", values.minutes, 1, 0.1),
		servers: countOf("servers", values.servers, 3, 2),
		clients: countOf("clients", values.clients, 14, 1),
		violations: countOf("violations", values.violations, 1, 1),
		keep: values.keep ?? null,
		isJson: values.json,
		isKnown: values.known,
		schedule: values.schedule ?? null,
	};
}
