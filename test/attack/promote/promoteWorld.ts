import { UsageError } from "../../../tools/namedProgram.ts";
import {
	choice,
	count,
	flag,
	type Given,
	number,
} from "../../../tools/programOptions.ts";
import type { Outcome, SHARED, Trial, World } from "../world.ts";
import { attackDead, DEATHS, isBroken } from "./deadAttack.ts";
import { attackNames } from "./namesAttack.ts";
import { attackOpening } from "./openingAttack.ts";
import { attackPromotions, type Options as Load } from "./promoteAttack.ts";
import {
	namesLines,
	openingLines,
	promotionLines,
	storeLines,
} from "./report.ts";
import { attackStore } from "./storeAttack.ts";

const OPTIONS = {
	rounds: count("promotions", { standard: 20, least: 1 }),
	reads: number("reads a second", { standard: 300, least: 0.1 }),
	writes: number("writes a second", { standard: 100, least: 0.1 }),
	scale: number(
		"both rates times this: a slow machine needs less",
		{ standard: 1, least: 0.001 },
		"F",
	),
	between: number(
		"load before, between and after promotions",
		{ standard: 1_000, least: 1 },
		"MS",
	),
	servers: count("server processes", { standard: 3, least: 1 }),
	store: choice("where the topology is", ["zookeeper", "file"]),
	stop: flag(
		"one server is paused (SIGSTOP) across each promotion; its requests may fail",
	),
	open: count(
		"no promotions: N shards of a second pair are opened, and new users read everywhere",
		{ standard: 0, least: 1, isUnsaid: true },
	),
	dead: flag(
		`each round kills, stops or cuts off the primary of a new pair, whose replica is held back,
                  while a server sleeps: what hosts promote --dead states as lost has to be what is lost`,
	),
	salvage: flag(
		"with --dead: the old primary is back, and salvage, killed once, brings back what it alone had",
	),
	names: flag(
		`each round leads the one name of a pair to the other server: with old connections left, cut, or led
                  to the old server first, or without the last writes, until hosts accept-loss takes the loss`,
	),
	storeFaults: flag(
		`no promotions: three ZooKeeper servers are stopped and killed, each and all until every session
                  has expired, and 50 publishers are killed`,
	),
};

/** Publishers that are killed. */
const KILLS = 50;

export const world: World<typeof OPTIONS> = {
	name: "promote",
	about: `Runs three servers on a MySQL primary and its replica, reads and writes over HTTP at fixed rates,
and promotes back and forth meanwhile. The driver's own list of acknowledged writes is the proof.`,
	options: OPTIONS,
	trials: trialsOf,
};

function trialsOf(
	given: Given<typeof OPTIONS & typeof SHARED>,
): readonly Trial[] {
	const { scale, servers, rounds, store, stop, seed } = given;
	const load: Load = {
		reads: given.reads * scale,
		writes: given.writes * scale,
		betweenMs: given.between,
		servers,
		rounds,
		store,
		stop,
	};
	if (given.salvage && !given.dead) {
		throw new UsageError("--salvage needs --dead.");
	}
	if (given.open > 0) return [openingTrial(load, given.open)];
	if (given.storeFaults) return [storeTrial(load)];
	if (given.names) return [namesTrial(load, seed)];
	if (given.dead) {
		return Array.from({ length: rounds }, (_, round) =>
			deadTrial(load, round, given.salvage),
		);
	}
	return [promotionTrial(load)];
}

function promotionTrial(load: Load): Trial {
	return {
		title: `${load.rounds} promotions`,
		async run({ say }): Promise<Outcome> {
			const report = await attackPromotions(load, say);
			const lines = promotionLines(report);
			return { report, lines, broken: brokenIn(report, "a promotion") };
		},
	};
}

function openingTrial(load: Load, opened: number): Trial {
	return {
		title: `${opened} shards are opened`,
		async run({ say }): Promise<Outcome> {
			const report = await attackOpening({ ...load, opened }, say);
			const lines = openingLines(report);
			return { report, lines, broken: brokenIn(report, "the opening") };
		},
	};
}

function storeTrial(load: Load): Trial {
	return {
		title: "three ZooKeeper servers",
		async run({ say }): Promise<Outcome> {
			const report = await attackStore({ ...load, kills: KILLS }, say);
			const lines = storeLines(report);
			return { report, lines, broken: brokenIn(report, "the store") };
		},
	};
}

function namesTrial(load: Load, seed: number): Trial {
	return {
		title: `seed ${seed}, ${load.rounds} flips of a name`,
		async run({ say }): Promise<Outcome> {
			const rounds = await attackNames({ ...load, seed }, say);
			return {
				report: rounds,
				lines: namesLines(rounds),
				broken: rounds.flatMap(({ broken }) => broken),
			};
		},
	};
}

function deadTrial(load: Load, round: number, salvages: boolean): Trial {
	const death = DEATHS[round % DEATHS.length] ?? "kill";
	const isEven = Math.floor(round / DEATHS.length) % 2 === 0;
	const when = isEven ? "before repair" : "after repair";
	const salvage = salvages ? when : "never";
	return {
		title: `round ${round + 1} of ${load.rounds}: ${death}`,
		async run({ say }): Promise<Outcome> {
			const report = await attackDead(death, { ...load, salvage }, say);
			return {
				report,
				lines: [JSON.stringify(report)],
				broken: isBroken(report) ? [`round ${round + 1}: ${death}`] : [],
			};
		},
	};
}

/** Its lines say what it was. */
function brokenIn(
	{ isBroken }: { readonly isBroken: boolean },
	what: string,
): readonly string[] {
	return isBroken ? [`${what} did not keep what is promised`] : [];
}
