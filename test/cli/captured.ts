import { Readable } from "node:stream";
import type { Io } from "../../src/cli/io.ts";
import { main } from "../../src/cli/main.ts";

export interface Ran {
	readonly code: number;
	readonly out: string;
	readonly err: string;
}

/** One command line, in this process. What it asks for that is not given here is an error. */
export async function command(
	args: readonly string[],
	given: Partial<Io> = {},
): Promise<Ran> {
	let out = "";
	let err = "";
	const code = await main(args, {
		env: {},
		stdin: Readable.from([]),
		watched: false,
		out: (text) => {
			out += `${text}\n`;
		},
		err: (text) => {
			err += `${text}\n`;
		},
		errRaw: (text) => {
			err += text;
		},
		interruption: () => new AbortController().signal,
		open: async () => {
			throw new Error("nothing is to be opened here");
		},
		...given,
	});
	return { code, out, err };
}
