import { UsageError } from "../../../tools/namedProgram.ts";
import {
	choice,
	count,
	flag,
	type Given,
	number,
} from "../../../tools/programOptions.ts";
import type { SHARED, Trial, World } from "../world.ts";
import { attackWithDefects } from "./defects.ts";
import { attackMoves } from "./moveAttack.ts";
import type { LoadOptions } from "./moveFleet.ts";
import { attackOutages } from "./outages.ts";
import { defectLines, moveLines, outageLines } from "./report.ts";

const OPTIONS = {
	rounds: count("there and back", { standard: 2, least: 1 }),
	shards: count("how many move", { standard: 32, least: 1 }),
	stay: count(
		"shards beside them that stay; both 8 at least, where names are looked up",
		{ standard: 8, least: 0 },
	),
	wave: count("shards that switch together", { standard: 4, least: 1 }),
	graph: number(
		"a graph that is imported first; 1: 10,000 users, 2.1 million lines",
		{ standard: 0.02, least: 0 },
		"SCALE",
	),
	reads: number("reads a second", { standard: 150, least: 0.1 }),
	writes: number("writes a second", { standard: 50, least: 0.1 }),
	between: number(
		"load before and between moves",
		{ standard: 5_000, least: 1 },
		"MS",
	),
	servers: count("server processes", { standard: 3, least: 1 }),
	store: choice("where the topology is", ["zookeeper", "file"]),
	kills: count(
		"kill so many runners at random moments and resume their moves, over as many rounds as that takes",
		{ standard: 0, least: 0 },
	),
	stop: flag(
		"one server is paused (SIGSTOP) across each move; its requests may fail",
	),
	outages: flag(
		"instead: kill and restart each of the four MySQL servers once in each step, and ZooKeeper around the cut-over",
	),
	defects: count(
		"instead: make N moves differ in a row, in each of three ways; none may switch",
		{ standard: 0, least: 1, isUnsaid: true },
	),
};

/** Outbox entries for shards that nobody has would never be delivered. */
const LEAST_SHARDS = 8;

export const world: World<typeof OPTIONS> = {
	name: "move",
	about: `Runs three servers on a MySQL primary and its replica, reads and writes over HTTP at fixed rates, and moves
shards to another pair and back meanwhile. The driver's own list of acknowledged writes is the proof.
The last round goes there, back and there again, and ends there, with what was left dropped.`,
	options: OPTIONS,
	trials: (given) => [trialOf(given)],
};

function trialOf(given: Given<typeof OPTIONS & typeof SHARED>): Trial {
	const { shards, stay, wave, graph, reads, writes, servers, store } = given;
	const load: LoadOptions = {
		shards,
		stay,
		wave,
		graph,
		reads,
		writes,
		servers,
		store,
	};
	if (shards + stay < LEAST_SHARDS) {
		throw new UsageError(
			`--shards and --stay must be ${LEAST_SHARDS} together at least.`,
		);
	}
	if (given.outages) {
		return trial("outages", outageLines, (say) => attackOutages(load, say));
	}
	const { defects } = given;
	if (defects > 0) {
		return trial(`${defects} defects`, defectLines, (say) =>
			attackWithDefects(load, defects, say),
		);
	}
	const { rounds, between: betweenMs, kills, stop, seed } = given;
	const options = { ...load, rounds, betweenMs, kills, stop, seed };
	return trial(`seed ${seed}, ${rounds} rounds`, moveLines, (say) =>
		attackMoves(options, say),
	);
}

function trial<Report extends { readonly broken: readonly string[] }>(
	title: string,
	linesOf: (report: Report) => readonly string[],
	run: (say: (line: string) => void) => Promise<Report>,
): Trial {
	return {
		title,
		async run({ say }) {
			const report = await run(say);
			return { report, lines: linesOf(report), broken: report.broken };
		},
	};
}
