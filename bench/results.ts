import { availableParallelism, cpus } from "node:os";
import type { Cell } from "./cell.ts";
import type { Options } from "./options.ts";

/** All of a run, as `results.json` has it. */
export interface Results {
	readonly at: string;
	readonly machine: {
		readonly cores: number;
		readonly model: string;
		readonly node: string;
		readonly pinned: boolean;
	};
	readonly options: Pick<
		Options,
		| "minutes"
		| "warmMinutes"
		| "seconds"
		| "scale"
		| "seed"
		| "shards"
		| "graph"
	>;
	readonly graph: Readonly<Record<string, number>>;
	/** Servers and versions, by name. */
	readonly cells: readonly Cell[];
	/** What was measured otherwise: seconds, lines, ratios, by name. */
	readonly facts: Readonly<Record<string, number>>;
	/** Sections that could not be measured, and why. */
	readonly notes: readonly string[];
	/** Why the run ended early; null if it did not. */
	readonly ended: string | null;
}

export function describeMachine(pinned: boolean): Results["machine"] {
	return {
		cores: availableParallelism(),
		model: cpus()[0]?.model ?? "unknown",
		node: process.version,
		pinned,
	};
}
