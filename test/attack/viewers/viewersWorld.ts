import { count } from "../../../tools/programOptions.ts";
import type { World } from "../world.ts";
import { attackViewers } from "./attackViewers.ts";

const OPTIONS = {
	answers: count("how many answers are compared", {
		standard: 20_000,
		least: 1,
	}),
	seconds: count(
		"of writes and faults in each round; after each, nothing is written and nothing is wrong",
		{ standard: 30, least: 1 },
		"S",
	),
	servers: count("server processes that cache", { standard: 3, least: 2 }),
	defects: count(
		"rows of each table of each shard that are changed past the program after each round: caches are wrong then, and it has to be found",
		{ standard: 0, least: 0 },
	),
};

export const world: World<typeof OPTIONS> = {
	name: "viewers",
	about: `Compares what viewers get from a fleet with all its caches, under writes and faults and after them, with what a
process that keeps nothing reads of the same databases: profiles, pages, scrolls, likes, names, with blocks and secret boards.`,
	options: OPTIONS,
	trials: (given) => [
		{
			title: `seed ${given.seed}, ${given.answers} answers`,
			run: (context) => attackViewers(given, context),
		},
	],
};
