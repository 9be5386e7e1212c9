/** `npm run attack -- move`: all shards move to another pair and back under load; every acknowledged write has to be there. */
import { parseArgs } from "node:util";
import { countOf, numberOf, UsageError } from "../../../tools/namedProgram.ts";
import { attackMoves, type Report } from "./moveAttack.ts";

export const usage = `Usage: npm run attack -- move [options]

Runs three servers on a MySQL primary and its replica, reads and writes over HTTP at fixed rates, and moves
all shards to another pair and back meanwhile. The driver's own list of acknowledged writes is the proof.
The last of several rounds ends over there, with what was left dropped.

  --rounds N      there and back (default 2)
  --shards N      (default 32)
  --wave N        shards that go over together (default 16)
  --graph SCALE   a graph that is imported first; 1: 10,000 users, 2.1 million lines (default 0.02)
  --reads N       reads a second (default 150)
  --writes N      writes a second (default 50)
  --between MS    load before and between moves (default 5000)
  --servers N     server processes (default 3)
  --kills N       kill the runner so often in each move, at random moments, and resume it (default 0)
  --stop          one server stands still (SIGSTOP) across each move; its requests may fail
  --store NAME    where the topology is: file or zookeeper (default zookeeper)
  --json          print the report as JSON
  --help          print this

It exits with 0 if every move ended, no request failed and no acknowledged write is lost, else with 1.`;

export async function run(args: readonly string[]): Promise<number> {
	const { values } = parseArgs({
		args: [...args],
		options: {
			rounds: { type: "string" },
			shards: { type: "string" },
			wave: { type: "string" },
			graph: { type: "string" },
			reads: { type: "string" },
			writes: { type: "string" },
			between: { type: "string" },
			servers: { type: "string" },
			kills: { type: "string" },
			stop: { type: "boolean", default: false },
			store: { type: "string", default: "zookeeper" },
			json: { type: "boolean", default: false },
		},
	});
	const { store } = values;
	if (store !== "file" && store !== "zookeeper") {
		throw new UsageError(`--store must be file or zookeeper, got ${store}.`);
	}
	const report = await attackMoves(
		{
			rounds: countOf("rounds", values.rounds, 2, 1),
			shards: countOf("shards", values.shards, 32, 1),
			wave: countOf("wave", values.wave, 16, 1),
			graph: numberOf("graph", values.graph, 0.02, 0),
			reads: numberOf("reads", values.reads, 150, 0.1),
			writes: numberOf("writes", values.writes, 50, 0.1),
			betweenMs: numberOf("between", values.between, 5_000, 1),
			servers: countOf("servers", values.servers, 3, 1),
			kills: countOf("kills", values.kills, 0, 0),
			stop: values.stop,
			store,
		},
		console.error,
	);
	console.log(values.json ? JSON.stringify(report) : summary(report));
	return report.isBroken ? 1 : 0;
}

function summary(report: Report): string {
	const pauses = report.ways.flatMap((way) => way.pauses);
	return [
		...report.ways.map(
			({ way, code, kills, seconds, pauses, slowestWriteMs, readP99Ms }) =>
				`${way}: exit ${code} after ${seconds.toFixed(1)} s, the runner killed ${kills} times; pauses ${pauses.map(Math.round).join(", ") || "none"} ms; the slowest write ${Math.round(slowestWriteMs)} ms, p99 of reads ${Math.round(readP99Ms)} ms`,
		),
		`longest pause ${Math.round(Math.max(0, ...pauses))} ms; before the moves: the slowest write ${Math.round(report.calmSlowestWriteMs)} ms, p99 of reads ${Math.round(report.calmReadP99Ms)} ms`,
		`${report.reads} reads, ${report.writes} writes: ${report.failed} failed, ${report.refused} more were refused at once for load`,
		`${report.acknowledged} acknowledged: ${report.lost.length} lost, ${report.repeated.length} ids twice; verify ended with ${report.verified}`,
		...report.failures,
		...report.ways.flatMap(({ error }) => error ?? []),
	].join("\n");
}
