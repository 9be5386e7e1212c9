/** `npm run attack -- move`: shards move to another pair and back under load and faults; every acknowledged write has to be there. */
import { parseArgs } from "node:util";
import { countOf, numberOf, UsageError } from "../../../tools/namedProgram.ts";
import { attackWithDefects } from "./defects.ts";
import { attackMoves } from "./moveAttack.ts";
import { attackOutages } from "./outages.ts";
import { defectLines, moveLines, outageLines } from "./report.ts";

export const usage = `Usage: npm run attack -- move [options]

Runs three servers on a MySQL primary and its replica, reads and writes over HTTP at fixed rates, and moves
shards to another pair and back meanwhile. The driver's own list of acknowledged writes is the proof.
The last round goes there, back and there again, and ends there, with what was left dropped.

  --rounds N      there and back (default 2)
  --shards N      how many move (default 32)
  --stay N        shards beside them that stay (default 8); both 8 at least, where names are looked up
  --wave N        shards that go over together (default 4)
  --graph SCALE   a graph that is imported first; 1: 10,000 users, 2.1 million lines (default 0.02)
  --reads N       reads a second (default 150)
  --writes N      writes a second (default 50)
  --between MS    load before and between moves (default 5000)
  --servers N     server processes (default 3)
  --kills N       kill so many runners at random moments and resume their moves, over as many rounds as that takes (default 0)
  --stop          one server is paused (SIGSTOP) across each move; its requests may fail
  --outages       instead: kill and restart each of the four MySQL servers once in each step, and ZooKeeper around the cut-over
  --defects N     instead: make N moves differ in a row, in each of three ways; none may go over
  --store NAME    where the topology is: file or zookeeper (default zookeeper)
  --json          print the report as JSON
  --help          print this

It exits with 0 if every move ended, no request failed and no acknowledged write is lost, else with 1.`;

/** Outbox entries for shards that nobody has would never be delivered. */
const LEAST_SHARDS = 8;

export async function run(args: readonly string[]): Promise<number> {
	const { values } = parseArgs({
		args: [...args],
		options: {
			rounds: { type: "string" },
			shards: { type: "string" },
			stay: { type: "string" },
			wave: { type: "string" },
			graph: { type: "string" },
			reads: { type: "string" },
			writes: { type: "string" },
			between: { type: "string" },
			servers: { type: "string" },
			kills: { type: "string" },
			stop: { type: "boolean", default: false },
			outages: { type: "boolean", default: false },
			defects: { type: "string" },
			store: { type: "string", default: "zookeeper" },
			json: { type: "boolean", default: false },
		},
	});
	const { store } = values;
	if (store !== "file" && store !== "zookeeper") {
		throw new UsageError(`--store must be file or zookeeper, got ${store}.`);
	}
	const options = {
		shards: countOf("shards", values.shards, 32, 1),
		stay: countOf("stay", values.stay, 8, 0),
		wave: countOf("wave", values.wave, 4, 1),
		graph: numberOf("graph", values.graph, 0.02, 0),
		reads: numberOf("reads", values.reads, 150, 0.1),
		writes: numberOf("writes", values.writes, 50, 0.1),
		servers: countOf("servers", values.servers, 3, 1),
		store,
	} as const;
	if (options.shards + options.stay < LEAST_SHARDS) {
		throw new UsageError(
			`--shards and --stay must be ${LEAST_SHARDS} together at least.`,
		);
	}
	const say = console.error;
	const print = <Report extends { readonly broken: readonly string[] }>(
		report: Report,
		lines: (report: Report) => readonly string[],
	) => {
		console.log(
			values.json ? JSON.stringify(report) : lines(report).join("\n"),
		);
		return report.broken.length > 0 ? 1 : 0;
	};
	if (values.outages) {
		return print(await attackOutages(options, say), outageLines);
	}
	const defects = countOf("defects", values.defects, 0, 1);
	if (defects > 0) {
		return print(await attackWithDefects(options, defects, say), defectLines);
	}
	const report = await attackMoves(
		{
			...options,
			rounds: countOf("rounds", values.rounds, 2, 1),
			betweenMs: numberOf("between", values.between, 5_000, 1),
			kills: countOf("kills", values.kills, 0, 0),
			stop: values.stop,
		},
		say,
	);
	return print(report, moveLines);
}
