import { parseArgs } from "node:util";
import { numberOf, UsageError } from "../../tools/namedProgram.ts";

export interface DensityOptions {
	/** How many shards the one MySQL host has, for each fleet that is measured. */
	readonly shards: readonly number[];
	readonly scale: number;
	/** The length of one measurement of reads or writes. */
	readonly seconds: number;
	/** For which processes stand idle. */
	readonly idleSeconds: number;
	readonly rounds: number;
	/** Another checkout, which is measured beside this one. */
	readonly against: string | null;
	readonly out: string | null;
	readonly json: boolean;
}

export const usage = `usage: npm run bench -- density [options]

What more shards on a MySQL host cost: its CPU for processes that stand idle, import, verify, writes,
and Q1 to Q4 from MySQL and from shared caches, each on a fresh fleet with the settings of docs/how-to/install.md.

  --quick           some minutes: 8 and 32 shards, a small graph
  --shards LIST     even numbers, separated by commas (default 8,32,128,512; quick 8,32)
  --scale N         of the graph; 1: 10,000 users, 2.1 million lines (default 0.05; quick 0.005)
  --seconds N       of one measurement of reads or writes (default 4; quick 1)
  --idle N          seconds for which processes stand idle (default 20; quick 3)
  --rounds N        of reads and writes, whose median counts (default 3; quick 1)
  --against FOLDER  another checkout with its packages, on a fleet of its own after each of this one's
  --out FILE        where the results go as JSON
  --json            print the results as JSON instead of a table`;

export function readOptions(args: readonly string[]): DensityOptions {
	const { values } = parseArgs({
		args: [...args],
		options: {
			quick: { type: "boolean" },
			shards: { type: "string" },
			scale: { type: "string" },
			seconds: { type: "string" },
			idle: { type: "string" },
			rounds: { type: "string" },
			against: { type: "string" },
			out: { type: "string" },
			json: { type: "boolean" },
		},
	});
	const quick = values.quick === true;
	const text = values.shards ?? (quick ? "8,32" : "8,32,128,512");
	const shards = text.split(",").map(Number);
	if (!shards.every((count) => count >= 2 && count % 2 === 0)) {
		throw new UsageError(
			`--shards must be even numbers, separated by commas, got ${text}.`,
		);
	}
	return {
		shards,
		scale: numberOf("scale", values.scale, quick ? 0.005 : 0.05),
		seconds: numberOf("seconds", values.seconds, quick ? 1 : 4),
		idleSeconds: numberOf("idle", values.idle, quick ? 3 : 20),
		rounds: numberOf("rounds", values.rounds, quick ? 1 : 3, 1),
		against: values.against ?? null,
		out: values.out ?? null,
		json: values.json === true,
	};
}
