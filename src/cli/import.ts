import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { readConfig } from "../config.ts";
import { CorkboardError } from "../errors.ts";
import { importLines } from "../ops/import.ts";
import type { Arguments, Usage } from "./arguments.ts";
import type { Io } from "./io.ts";
import { count, showProgress } from "./progress.ts";

export const usage: Usage = {
	about: "Reads a graph, a JSON object or edge a line, parents first.",
	operands: ["FILE|-"],
	options: { strict: { about: "stop at the first bad line" } },
	more: [
		'  {"type":"User","key":"u:7","fields":{"username":"pinner7"}}',
		'  {"edge":"followUser","from":"u:7","to":"u:9"}',
		"",
		"A second run of the same lines changes nothing, and one that was interrupted is",
		"gone on with by running it again. Bad lines are reported and left out (exit 1).",
	].join("\n"),
};

/** Bad lines are counted to the end and spelled out up to here. */
const SPELLED_BAD_LINES = 20;

export async function run(given: Arguments, io: Io): Promise<number> {
	const [file = "-"] = given.operands;
	const config = readConfig(io.env);
	const source = await openSource(file, io);
	const signal = io.interruption();
	await using corkboard = await io.open(config, "own");
	const progress = showProgress(io, "lines");
	let bad = 0;
	const imported = await importLines(corkboard.store, source.lines, {
		strict: given.options.strict !== undefined,
		signal,
		progress: (lines) => progress.show(lines, source.fraction()),
		badLine(line, reason) {
			if (++bad > SPELLED_BAD_LINES) return;
			progress.end();
			io.err(`line ${line}: ${reason}`);
		},
	});
	progress.end();
	source.close();
	if (bad > SPELLED_BAD_LINES) {
		io.err(`and ${count(bad - SPELLED_BAD_LINES)} bad lines more`);
	}
	io.out(
		`${count(imported.lines)} lines: ${count(imported.objects)} objects and ${count(imported.edges)} edges, ${count(imported.changed)} of them new or changed, ${count(imported.badLines)} bad lines`,
	);
	if (imported.interrupted) {
		io.err("interrupted: run it again to go on");
		return signal.reason === "SIGTERM" ? 143 : 130;
	}
	return imported.badLines === 0 ? 0 : 1;
}

interface Source {
	readonly lines: AsyncIterable<string>;
	/** How much of it was read, where its size is known. */
	fraction(): number | undefined;
	close(): void;
}

async function openSource(file: string, io: Io): Promise<Source> {
	if (file === "-") {
		const input = Readable.from(io.stdin);
		return {
			lines: createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }),
			fraction: () => undefined,
			close: () => input.destroy(),
		};
	}
	const size = await stat(file).then(
		(found) => found.size,
		(cause: NodeJS.ErrnoException) => {
			throw new CorkboardError(
				"BAD_DATA",
				`expected a file to import but got: ${file} (${cause.code})`,
				{ cause },
			);
		},
	);
	const input = createReadStream(file);
	return {
		lines: createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }),
		fraction: () => (size === 0 ? undefined : input.bytesRead / size),
		close: () => input.destroy(),
	};
}
