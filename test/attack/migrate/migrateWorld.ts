import { readFileSync } from "node:fs";
import { choice, count, text } from "../../../tools/programOptions.ts";
import type { World } from "../world.ts";
import { attackMigrate } from "./attackMigrate.ts";
import { madeGraph } from "./madeGraph.ts";

const OPTIONS = {
	from: choice("the old database", ["mysql", "postgres"]),
	to: choice("where it is brought to; of a MySQL the primary is killed too", [
		"embedded",
		"mysql",
	]),
	graph: text(
		"lines of an import that the old database is made of (default: a graph of --users)",
		"FILE",
	),
	users: count("users of the graph that is made, with five pins each", {
		standard: 500,
		least: 10,
	}),
	kills: count("how often the runner is killed", { standard: 10, least: 1 }),
	outages: count("how often each server is killed", { standard: 1, least: 0 }),
	life: count(
		"the longest life of a runner",
		{ standard: 6_000, least: 500 },
		"MS",
	),
	open: count(
		"how long a transaction of the old application is open at least",
		{ standard: 10_000, least: 0 },
		"MS",
	),
	writes: count("writes of the old application a second", {
		standard: 200,
		least: 1,
	}),
};

export const world: World<typeof OPTIONS> = {
	name: "migrate",
	about: `Fills an old MySQL or PostgreSQL, goes on writing to it with rows and transactions of the kinds that get lost, kills
migrate run --follow and the servers again and again, finishes the migration, and compares both sides by itself.`,
	options: OPTIONS,
	trials({ graph, users, writes, ...given }) {
		const { from, to, seed } = given;
		return [
			{
				title: `${from} to ${to}, seed ${seed}`,
				async run({ say, signal }) {
					const result = await attackMigrate({
						...given,
						lines:
							graph === null
								? madeGraph(users)
								: readFileSync(graph, "utf8").trim().split("\n"),
						writesPerSecond: writes,
						say,
						signal,
					});
					return {
						report: result,
						lines: [JSON.stringify(result, null, "\t")],
						broken: result.findings,
					};
				},
			},
		];
	},
};
