import { Readable } from "node:stream";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import type { ProcessContext } from "../../src/cli/commandContext.ts";
import { main } from "../../src/cli/main.ts";
import { NODE_ENVIRONMENT } from "./program.ts";

export interface Ran {
	readonly code: number;
	readonly out: string;
	readonly err: string;
}

/** One command line, in this process. What it asks for that is not given here is an error. */
export async function command(
	args: readonly string[],
	given: Partial<ProcessContext> = {},
): Promise<Ran> {
	let out = "";
	let err = "";
	const code = await main(args, {
		stdin: Readable.from([]),
		isTerminal: false,
		isOutputTerminal: false,
		stdout: (text) => {
			out += `${text}\n`;
		},
		print: async (text) => {
			out += `${text}\n`;
		},
		stderr: (text) => {
			err += `${text}\n`;
		},
		stderrRaw: (text) => {
			err += text;
		},
		interruptSignal: () => new AbortController().signal,
		exitWithin: () => {},
		open: async () => {
			throw new Error("nothing is to be opened here");
		},
		...given,
		// For the guard of a move, which is a process of its own.
		env: { ...NODE_ENVIRONMENT, ...given.env },
	});
	return { code, out, err };
}

/**
 * As `runProgram`, but in this process, which spares half a second of CPU. What
 * depends on a process of its own (signals, locks, its exit) needs that one.
 */
export async function runHere(
	args: readonly string[],
	{
		env = {},
		input = "",
	}: {
		readonly env?: Readonly<Record<string, string>>;
		readonly input?: string;
	} = {},
): Promise<Ran & { readonly signal: null }> {
	const ran = await command(args, {
		env,
		stdin: Readable.from([input]),
		open: openCorkboard,
	});
	return { ...ran, signal: null };
}
