import { appendFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { Progress } from "../progress.ts";
import { describeMachine } from "../results.ts";
import { CAN_PIN } from "../servers/cores.ts";
import { AgentProcess } from "./agentProcess.ts";
import type { Cell } from "./cell.ts";
import { installPeers } from "./installPeers.ts";
import type { LoadContext } from "./loads/load.ts";
import { loadOf } from "./loads/loads.ts";
import type { LoadName } from "./loads/names.ts";
import type { Options } from "./options.ts";
import type { QueueResults } from "./report.ts";
import { writeResults } from "./results.ts";
import { Servers } from "./servers.ts";
import { infoOf, type SystemName } from "./systems.ts";

/** Measures in rounds, system after system in each, until all is done, the time is over, or it is stopped. */
export async function runQueueBench(
	options: Options,
	progress: Progress,
	signal: AbortSignal,
): Promise<QueueResults> {
	const cells: Cell[] = [];
	const notes: string[] = [];
	let ended: string | null = null;
	const summarize = () => {
		const results: QueueResults = {
			at: new Date().toISOString(),
			machine: describeMachine(CAN_PIN),
			options,
			cells,
			notes,
			ended,
		};
		writeResults(results, options.out);
		return results;
	};
	if (options.systems.some((name) => infoOf(name).isPeer)) {
		await installPeers((text) => progress.say(text), signal);
	}
	await using servers = new Servers(options.flush);
	try {
		for (const { load, variant, round, system } of plan(options)) {
			if (signal.aborted) break;
			if (progress.minutes > options.minutes) {
				notes.push(`No time was left for ${load} from round ${round + 1} on.`);
				break;
			}
			const cell = await measure(
				{ load, variant, round, system },
				{ options, servers, signal, progress },
			);
			if (signal.aborted) break;
			cells.push(cell);
			appendFileSync(
				join(options.out, "cells.jsonl"),
				`${JSON.stringify(cell)}\n`,
			);
			progress.say(lineOf(cell));
			summarize();
		}
	} finally {
		if (signal.aborted) ended = String((signal.reason as Error).message);
	}
	return summarize();
}

interface Planned {
	readonly load: LoadName;
	readonly variant: string;
	readonly round: number;
	readonly system: SystemName;
}

/** Every other round backwards: what a system leaves to the next one is not always the same's. */
function* plan({ loads, systems, rounds }: Options): Generator<Planned> {
	for (let round = 0; round < rounds; round++) {
		for (const load of loads) {
			const { variants, once = false, systems: measured } = loadOf(load);
			if (once && round > 0) continue;
			const some = systems.filter((name) => measured.includes(name));
			for (const variant of variants) {
				for (const system of round % 2 === 0 ? some : some.toReversed()) {
					yield { load, variant, round, system };
				}
			}
		}
	}
}

async function measure(
	planned: Planned,
	{
		options,
		servers,
		signal,
		progress,
	}: {
		readonly options: Options;
		readonly servers: Servers;
		readonly signal: AbortSignal;
		readonly progress: Progress;
	},
): Promise<Cell> {
	const { load, variant, system } = planned;
	await using stack = new AsyncDisposableStack();
	const context: LoadContext = {
		system,
		servers,
		options,
		signal,
		say: (text) => progress.say(text),
		agents: async (...roles) => {
			const agents = await Promise.all(
				roles.map((role) => AgentProcess.start(system, role)),
			);
			for (const agent of agents) stack.use(agent);
			return agents as never;
		},
	};
	try {
		const values = await loadOf(load).run(context, variant);
		return { ...planned, values, loadAverage: loadavg()[0] ?? 0 };
	} catch (error) {
		// The other systems do not depend on it.
		const text = error instanceof Error ? error.message : String(error);
		return {
			...planned,
			values: {},
			error: text,
			loadAverage: loadavg()[0] ?? 0,
		};
	}
}

function lineOf({ load, variant, round, system, values, error }: Cell): string {
	const shown = Object.entries(values).map(
		([name, value]) => `${name} ${Number(value.toPrecision(3))}`,
	);
	return [
		`${load}${variant === "" ? "" : ` ${variant}`} ${round + 1}`.padEnd(12),
		system.padEnd(18),
		error === undefined ? shown.join("  ") : `failed: ${error.slice(0, 300)}`,
	].join(" ");
}
