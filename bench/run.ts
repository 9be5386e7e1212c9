import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Cell } from "./cell.ts";
import { checkAnswers } from "./checkAnswers.ts";
import type { Options, SectionName } from "./options.ts";
import type { Progress } from "./progress.ts";
import { writeResults } from "./report/writeResults.ts";
import { describeMachine, type Results } from "./results.ts";
import { coldRound } from "./sections/cold.ts";
import { commitDurably } from "./sections/commits.ts";
import { hotBoardRound } from "./sections/hotBoard.ts";
import { measureImports } from "./sections/imports.ts";
import { missesRound } from "./sections/misses.ts";
import { mixRound } from "./sections/mix.ts";
import { pagesRound } from "./sections/pages.ts";
import { Reads } from "./sections/reads.ts";
import { measureSizes } from "./sections/sizes.ts";
import { Writes } from "./sections/writes.ts";
import { CAN_PIN } from "./servers/cores.ts";
import { STORES } from "./servers/corkboard.ts";
import type { VariantName } from "./variants.ts";
import { createWorld, type World } from "./world.ts";

/** Rows of the sections that compare fewer of them. */
const HOT_ROWS: readonly VariantName[] = [
	"text",
	"known",
	"get",
	"executed",
	"mercurius",
	"postgraphile",
];
const MANY_ROWS: readonly VariantName[] = [
	"text",
	"known",
	"mercurius",
	"postgraphile",
];
const COLD_ROWS: readonly VariantName[] = [
	"known",
	"mercurius",
	"postgraphile",
];
/** A cache that misses has a server of its own, and no other section. */
const MISS_ROWS: readonly VariantName[] = [
	"missed",
	"mysql",
	"mercurius",
	"postgraphile",
	"byHand",
];
const PAGE_ROWS: readonly VariantName[] = ["known", "mysql", "mercurius"];
const WRITE_ROWS: readonly VariantName[] = [
	"text",
	"sqlite",
	"drizzle",
	"drizzlePromises",
	"mercurius",
];
const DURABLE_ROWS: readonly VariantName[] = [
	"text",
	"drizzle",
	"drizzlePromises",
	"mercurius",
];
const HOT_BOARD_ROWS: readonly VariantName[] = [
	"known",
	"sqlite",
	"drizzle",
	"mercurius",
];
const MIX_ROWS: readonly VariantName[] = ["text", "drizzle"];

/** They read as another row does, or are only there to miss. */
const READS_AS_ANOTHER: ReadonlySet<VariantName> = new Set([
	"missed",
	"drizzlePromises",
]);

/** Kept for each of the sections that empty the caches. */
const EMPTYING_MINUTES = 1.5;

/** Runs the benchmark until its time is over, it is stopped, or all rounds are done. */
export async function runBench(
	options: Options,
	progress: Progress,
	signal: AbortSignal,
): Promise<Results> {
	const cells: Cell[] = [];
	const facts: Record<string, number> = {};
	const notes: string[] = [];
	let ended: string | null = null;
	let graph: Record<string, number> = {};
	const keep = (cell: Cell) => {
		cells.push(cell);
		appendFileSync(
			join(options.out, "cells.jsonl"),
			`${JSON.stringify(cell)}\n`,
		);
		progress.cell(cell);
	};
	const summarize = (): Results => {
		const { minutes, warmMinutes, seconds, scale, seed, shards } = options;
		const results: Results = {
			at: new Date().toISOString(),
			machine: describeMachine(CAN_PIN),
			options: {
				minutes,
				warmMinutes,
				seconds,
				scale,
				seed,
				shards,
				graph: options.graph,
			},
			graph,
			cells,
			facts,
			notes,
			ended,
		};
		writeResults(results, options.out);
		return results;
	};
	try {
		await using world = await createWorld(
			options,
			(text) => progress.say(text),
			signal,
		);
		graph = sizes(world);
		for (const [store, seconds] of world.imports) {
			facts[`import of the graph, ${STORES[store]}, lines/s`] =
				world.lines / seconds;
		}
		try {
			await measureAll(world, progress, signal, { keep, facts, notes });
		} finally {
			// Before the servers are stopped: that takes longer than some wait after Ctrl-C.
			if (signal.aborted) ended = String((signal.reason as Error).message);
			summarize();
		}
	} catch (error) {
		if (!signal.aborted) {
			summarize();
			throw error;
		}
		ended = String((signal.reason as Error).message);
	}
	return summarize();
}

/** Where measurements go as they are made. */
interface Kept {
	readonly keep: (cell: Cell) => void;
	readonly facts: Record<string, number>;
	readonly notes: string[];
}

async function measureAll(
	world: World,
	progress: Progress,
	signal: AbortSignal,
	{ keep, facts, notes }: Kept,
): Promise<void> {
	const { options } = world;
	const { variants, sections } = options;
	progress.say("starting the servers, and comparing their answers");
	const bytes = await checkAnswers(world, variants, signal);
	progress.say("all answers are equal");
	const reads = new Reads(world, bytes);
	if (options.warmMinutes > 0) {
		progress.say(`warming up for ${options.warmMinutes} minutes`);
		await reads.warm(variants, options.warmMinutes, signal);
	}
	const has = (name: SectionName) => sections.includes(name);
	const isOver = () => progress.minutes > options.minutes;
	const each = async (of: AsyncIterable<Cell>) => {
		for await (const cell of of) keep(cell);
	};
	const readRound = async (round: number, until?: () => boolean) => {
		for (const [section, rows] of [
			["reads", variants.filter((name) => !READS_AS_ANOTHER.has(name))],
			["hot", among(HOT_ROWS, variants)],
		] as const) {
			if (has(section) && rows.length > 0) {
				await each(reads.round(section, round, rows, signal, until));
			}
		}
	};
	// One round of everything first: a run that is ended early has some of each.
	await readRound(0);
	const writes = new Writes(world);
	const readSizes = async () => {
		if (world.databases.fleet === null) return;
		Object.assign(facts, await measureSizes(world));
	};
	const take = async (
		extras: Partial<Record<SectionName, () => Promise<void>>>,
	) => {
		for (const [section, run] of Object.entries(extras)) {
			if (!has(section as SectionName)) continue;
			if (isOver()) {
				notes.push(`No time was left for ${section}.`);
				continue;
			}
			try {
				await run();
			} catch (error) {
				if (signal.aborted) throw error;
				// The other sections do not depend on it.
				notes.push(
					`${section} could not be measured: ${(error as Error).message}`,
				);
			}
		}
	};
	await take({
		many: () =>
			each(reads.round("many", 0, among(MANY_ROWS, variants), signal)),
		pages: () => each(pagesRound(world, 0, among(PAGE_ROWS, variants), signal)),
		misses: () =>
			each(missesRound(world, reads, 0, among(MISS_ROWS, variants), signal)),
		writes: () =>
			each(writes.round("writes", 0, among(WRITE_ROWS, variants), signal)),
		durable: async () => {
			await using _ = await commitDurably(world);
			await each(
				writes.round("durable", 0, among(DURABLE_ROWS, variants), signal),
			);
		},
		hotBoard: () =>
			each(hotBoardRound(world, 0, among(HOT_BOARD_ROWS, variants), signal)),
		mix: () => each(mixRound(world, 0, among(MIX_ROWS, variants), signal)),
	});
	await readSizes();
	const emptying = (["cold", "import"] as const).filter(has);
	const roundsEnd = options.minutes - emptying.length * EMPTYING_MINUTES;
	const isRoundOver = () => progress.minutes > roundsEnd;
	for (let round = 1; round < options.rounds && !isRoundOver(); round++) {
		await readRound(round, isRoundOver);
	}
	// Last: they empty the caches that the rounds need warm.
	await take({
		cold: () =>
			each(coldRound(world, reads, 0, among(COLD_ROWS, variants), signal)),
		import: async () => {
			if (world.databases.fleet === null) return;
			progress.say("importing with and without caches");
			Object.assign(facts, await measureImports(world, signal));
		},
	});
	for (const note of notes) progress.say(note);
}

function among(
	wanted: readonly VariantName[],
	chosen: readonly VariantName[],
): readonly VariantName[] {
	return wanted.filter((name) => chosen.includes(name));
}

function sizes({ graph, lines }: World): Record<string, number> {
	return {
		users: graph.users.length,
		boards: graph.boards.length,
		pins: graph.pins.length,
		likes: graph.likes.length,
		follows: graph.follows.length,
		lines,
	};
}
