import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Cell } from "./cell.ts";
import { checkAnswers } from "./checkAnswers.ts";
import type { Options, SectionName } from "./options.ts";
import type { Progress } from "./progress.ts";
import { writeResults } from "./report/writeResults.ts";
import { describeMachine, type Results } from "./results.ts";
import { Reads } from "./sections/reads.ts";
import { CAN_PIN } from "./servers/cores.ts";
import type { VariantName } from "./variants.ts";
import { createWorld, type World } from "./world.ts";

/** Rows of the sections that compare fewer of them. */
const HOT_ROWS: readonly VariantName[] = [
	"text",
	"known",
	"get",
	"mercurius",
	"postgraphile",
];
const MANY_ROWS: readonly VariantName[] = [
	"text",
	"known",
	"mercurius",
	"postgraphile",
];

/** Runs the benchmark until its time is over, it is stopped, or all rounds are done. */
export async function runBench(
	options: Options,
	progress: Progress,
	signal: AbortSignal,
): Promise<Results> {
	const cells: Cell[] = [];
	const facts: Record<string, number> = {};
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
		await measureAll(world, progress, signal, keep);
	} catch (error) {
		if (!signal.aborted) {
			summarize();
			throw error;
		}
		ended = String((signal.reason as Error).message);
	}
	return summarize();
}

async function measureAll(
	world: World,
	progress: Progress,
	signal: AbortSignal,
	keep: (cell: Cell) => void,
): Promise<void> {
	const { options } = world;
	const { variants, sections } = options;
	progress.say("starting the servers, and comparing their answers");
	const bytes = await checkAnswers(world, variants);
	progress.say("all answers are equal");
	const reads = new Reads(world, bytes);
	if (options.warmMinutes > 0) {
		progress.say(`warming up for ${options.warmMinutes} minutes`);
		await reads.warm(variants, options.warmMinutes, signal);
	}
	const has = (name: SectionName) => sections.includes(name);
	const isOver = () => progress.minutes > options.minutes;
	const readRound = async (round: number) => {
		for (const [section, rows] of [
			["reads", variants],
			["hot", among(HOT_ROWS, variants)],
		] as const) {
			if (!has(section) || rows.length === 0) continue;
			for await (const cell of reads.round(section, round, rows, signal)) {
				keep(cell);
			}
		}
	};
	await readRound(0);
	if (has("many")) {
		const rows = among(MANY_ROWS, variants);
		for await (const cell of reads.round("many", 0, rows, signal)) keep(cell);
	}
	for (let round = 1; round < options.rounds && !isOver(); round++) {
		await readRound(round);
	}
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
