/** `npm run attack -- migrate`: an old database that goes on being written to is brought over by a runner that is killed again and again. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { countOf } from "../../../tools/namedProgram.ts";
import { attackMigrate } from "./attackMigrate.ts";
import { madeGraph } from "./madeGraph.ts";

export const usage = `Usage: npm run attack -- migrate [options]

Fills an old MySQL or PostgreSQL, goes on writing to it with rows and transactions of the kinds that get lost, kills
migrate run --follow again and again, finishes the migration, and compares both sides.

  --from mysql|postgres  the old database (default mysql)
  --graph FILE           lines of an import that it is made of (default: a graph of 500 users)
  --kills N              how often the runner is killed (default 10)
  --writes N             writes of the old application a second (default 200)
  --seed N               the random seed (default 1)
  --help                 print this

It exits with 0 if nothing was lost, else with 1. It needs Linux.`;

export async function run(args: readonly string[]): Promise<number> {
	const { values } = parseArgs({
		args: [...args],
		options: {
			from: { type: "string", default: "mysql" },
			graph: { type: "string" },
			kills: { type: "string" },
			writes: { type: "string" },
			seed: { type: "string" },
		},
	});
	const { from, graph } = values;
	if (from !== "mysql" && from !== "postgres") {
		throw new Error(`--from must be mysql or postgres, got ${from}.`);
	}
	const result = await attackMigrate({
		from,
		lines:
			graph === undefined
				? madeGraph(500)
				: readFileSync(graph, "utf8").trim().split("\n"),
		seed: countOf("seed", values.seed, 1, 0),
		kills: countOf("kills", values.kills, 10, 1),
		writesPerSecond: countOf("writes", values.writes, 200, 1),
		say: (text) => console.log(text),
	});
	console.log(JSON.stringify(result, null, "\t"));
	return result.findings.length === 0 ? 0 : 1;
}
